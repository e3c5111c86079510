package evolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// Checker runs the checks of a skill: files, by slash path, in dir, a copy that may be written to.
type Checker func(ctx context.Context, dir string, files []string) (Checked, error)

// Checked is what came of checks.
type Checked struct {
	Passed bool
	Output string // of the one that failed
}

// Limits of a check.
const (
	checkTime   = 60 * time.Second
	checkOutput = 16 << 10 // bytes that are looked at
	checkMemory = 1 << 30
	checkFiles  = 64 << 20 // bytes of one file that it writes
	checkCount  = 128      // processes
)

// Sandboxed returns a Checker that runs checks confined to their copy, one after the other, until one fails. The program must have called
// sandbox.Main first. Path is the PATH of the checks, home the folder of the user, which is closed to them.
func Sandboxed(level sandbox.Level, path, home string) Checker {
	return func(ctx context.Context, dir string, files []string) (Checked, error) {
		for _, file := range files {
			out, why, err := runCheck(ctx, level, dir, file, path, home)
			if err != nil {
				return Checked{}, fmt.Errorf("run the check %s: %w", file, err)
			}
			if why != "" {
				return Checked{Output: file + " " + why + "\n" + out}, nil
			}
		}
		return Checked{Passed: true}, nil
	}
}

// runCheck runs one check. Why says why it failed.
func runCheck(ctx context.Context, level sandbox.Level, dir, file, path, home string) (out, why string, err error) {
	aside, err := os.MkdirTemp(filepath.Dir(dir), "check-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(aside)
	output, err := os.OpenFile(filepath.Join(aside, "output"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", "", err
	}
	defer output.Close()
	tmp := filepath.Join(aside, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return "", "", err
	}
	argv := []string{filepath.Join(dir, filepath.FromSlash(file))}
	if info, err := os.Stat(argv[0]); err == nil && info.Mode()&0o111 == 0 {
		argv = []string{"/bin/sh", argv[0]}
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	p, err := sandbox.Start(limited, sandbox.Spec{
		Argv: argv, Dir: dir, Environ: []string{"PATH=" + path, "LANG=C.UTF-8", "HOME=" + tmp, "TMPDIR=" + tmp, "SKILL_DIR=" + dir},
		Write: []string{dir, tmp}, Home: home, Limits: sandbox.Limits{Memory: checkMemory, Processes: checkCount, FileSize: checkFiles}, Level: level,
		Stdout: output, Stderr: output,
	})
	if err != nil {
		return "", "", err
	}
	exit := p.Exit()
	p.Stop()
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	switch {
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		why = fmt.Sprintf("did not end within %s", checkTime)
	case exit.Limit != "":
		why = "needs too much: " + exit.Limit
	case exit.Code != 0:
		why = fmt.Sprintf("ended with status %d", exit.Code)
	}
	text, err := io.ReadAll(io.NewSectionReader(output, 0, checkOutput))
	return string(text), why, err
}
