// Package lifeline lets a process know that the one which started it is gone, however that ended.
//
// The starter keeps one end of a pipe that nobody writes to, and hands the other on. The kernel closes the end of a process that
// is gone, also of one that was killed, and the other side reads that. A variable, OPENSPACE_LIFELINE, tells the number of the
// file and which pipe it must be: another file of that number, such as in a process that got the variable by chance, is left
// alone. The side that watches hands on neither the file nor the variable, so that what it starts has a life of its own.
//
// It owns the pipe and the variable. What a process does when its starter is gone is the business of pkg/cli, and how children
// are run that of pkg/pipe. Where files cannot be handed on (Windows) nothing is watched.
package lifeline
