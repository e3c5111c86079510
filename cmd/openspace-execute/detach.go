package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/cli"
)

// maxLog is the size above which the log of detached processes begins anew; the one before is kept.
const maxLog = 4 << 20

// detach starts this program once more, so that it goes on when this one has ended: in a session of its own, with nothing of our input and output, which whoever reads
// our output would otherwise wait for. What it says is in $OPENSPACE_HOME/log/learn.jsonl.
func detach(args []string, env *cli.Env) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Join(env.Settings.Home(), "log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, "learn.jsonl")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = env.Dir, env.Environ, log, log
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	return cmd.Process.Release()
}
