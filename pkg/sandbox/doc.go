// Package sandbox runs a command so that it, and all that it starts, can change only what it was given and can be
// ended as a whole.
//
// It owns how a command is started, confined, watched and ended; it knows nothing of what the command means, which is
// the business of package policy. On Linux the own binary is started again as a small launcher (Main), which confines
// itself by namespaces, Landlock, a system call filter and limits, and then runs the command as its child. Elsewhere
// a command only gets a process group of its own, and the Report says what is missing.
//
// Guarantees: standard input is /dev/null; no process outlives Stop, or the end of the process that called Start,
// where process namespaces can be made; Start refuses under Strict what it cannot confine. docs/sandbox.md has the whole.
package sandbox
