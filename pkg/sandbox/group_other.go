//go:build !unix

package sandbox

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func endGroup(p *os.Process) { p.Kill() }

func groupAlive(*os.Process) bool { return false }

func awaitGroup(*os.Process, <-chan struct{}) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
