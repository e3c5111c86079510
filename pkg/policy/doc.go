// Package policy decides what a model may do: which commands may run, which files may be read and written, which
// addresses may be called.
//
// It owns the decision and the words in which a model is told of it. It never runs anything and is no wall: a command
// that hides what it does gets past it and meets the sandbox (package sandbox). What it gives is a readable answer before
// anything happens, and a stop for what a sandbox cannot judge, such as deleting the workspace. Commands are parsed as
// the shell parses them, so that words in comments, quotes and arguments of other commands are not mistaken for commands.
//
// A Policy may be used by several goroutines at once. docs/policy.md has the rules.
package policy
