//go:build race

package sandbox_test

// raced says that the race detector is in the test program: it needs more memory than small limits leave to the launcher.
const raced = true
