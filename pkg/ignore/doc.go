// Package ignore reads ignore files in the syntax of .gitignore and says what they leave out.
//
// It owns the patterns, their order, negation and what is meant for folders only. It reads no files and walks no
// folders. A Set is not changed once it is made, so that several goroutines may use it.
package ignore
