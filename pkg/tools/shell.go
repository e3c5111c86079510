package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	firstLook  = 300 * time.Millisecond // how long a background command is awaited, so that it can fail at once
	quiet      = 20 * time.Millisecond  // without output, after which a command that left processes is taken as told
	maxQuiet   = time.Second            // for that, whatever comes
	longScript = 32 << 10               // bytes of a script from which on it is given as a file
)

type shellArgs struct {
	Command    string  `json:"command"`
	Timeout    float64 `json:"timeout"`
	Background bool    `json:"background"`
	Raw        bool    `json:"raw"`
}

// shellTools returns the tools that run commands.
func shellTools(e *Env) []Tool {
	return []Tool{runShell(e), shellAgent(e), jobTool(e)}
}

func runShell(e *Env) Tool {
	limits := e.Limits.filled()
	return &builtin[shellArgs]{env: e, spec: Spec{
		Name:    "run_shell",
		Aliases: []string{"bash", "shell", "run_command", "execute_command", "terminal"},
		Description: "Run a bash script in the workspace, each time in a new shell without input. Only the workspace and /tmp can be written, the home " +
			"is closed.",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"command":{"type":"string","minLength":1},`+
			`"timeout":{"type":"number","exclusiveMinimum":0,"description":"seconds (%.0f)"},`+
			`"background":{"type":"boolean"},`+
			`"raw":{"type":"boolean","description":"keep colour codes and progress bars"}},`+
			`"required":["command"],"additionalProperties":false}`, limits.Time.Seconds())),
		Backend: "shell", Quiet: []string{"raw"},
	}, synonyms: map[string]string{"cmd": "command", "script": "command", "code": "command", "timeout_seconds": "timeout"}, run: e.runShell}
}

type agentArgs struct {
	Task string `json:"task"`
}

// shellAgent answers to a name that older skills use: there it was an agent of its own that got a goal.
func shellAgent(e *Env) Tool {
	return &builtin[agentArgs]{env: e, spec: Spec{
		Name: "shell_agent", Hidden: true, Backend: "shell",
		Description: "An older name: use run_shell.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"task":{"type":"string"}},"additionalProperties":true}`),
	}, run: func(context.Context, agentArgs) Result {
		return failed(wire.NotFound, "Nothing was run: there is no shell_agent here. Do the steps of this task yourself: "+
			"call run_shell with the commands, look at the output, mend what fails, and go on.")
	}}
}

// runShell judges, runs and reports a command.
func (e *Env) runShell(ctx context.Context, args shellArgs) Result {
	e.ready()
	if strings.TrimSpace(args.Command) == "" {
		return failed(wire.Invalid, "run_shell was not run: command is empty")
	}
	if strings.ContainsRune(args.Command, 0) {
		return failed(wire.Invalid, "run_shell was not run: command has a NUL byte in it")
	}
	if asked, ok := jobCommand(args.Command); ok {
		return e.job(ctx, asked)
	}
	if v := e.Policy.Shell(args.Command); v.Decision != policy.Allow {
		return e.denied(args, v)
	}
	j, err := e.start(ctx, args)
	if err != nil {
		return e.notStarted(ctx, args, err)
	}
	return e.await(ctx, j, args)
}

// denied tells the model what is not allowed, and what to do instead. Nobody can be asked while a task runs.
func (e *Env) denied(args shellArgs, v policy.Verdict) Result {
	text := "Not run: " + v.Reason
	if v.Decision == policy.Ask {
		text = "Not run, because the user would have to agree and cannot be asked in this run: " + v.Reason
	}
	if v.Command != "" && v.Command != args.Command {
		text += fmt.Sprintf(" (in: %s)", v.Command)
	}
	r := Result{Content: text, Error: text, Code: Denied}
	r.Shell = &ShellResult{Command: args.Command, Dir: e.Workspace, ExitCode: 126, Denied: true}
	return r
}

// notStarted is the result when no command came about.
func (e *Env) notStarted(ctx context.Context, args shellArgs, err error) Result {
	code := wire.Internal
	switch {
	case ctx.Err() != nil:
		code = wire.Canceled
	case errors.Is(err, sandbox.ErrUnconfined):
		code = wire.Code(Denied)
	}
	r := failed(code, "the command was not run: %v", err)
	r.Shell = &ShellResult{Command: args.Command, Dir: e.Workspace, ExitCode: 126, Denied: errors.Is(err, sandbox.ErrUnconfined)}
	return r
}

// start starts a command and the reading of its outputs.
func (e *Env) start(ctx context.Context, args shellArgs) (*job, error) {
	s, err := e.prepare()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, err := s.next()
	if err != nil {
		return nil, err
	}
	argv := []string{s.shell, "-c", args.Command}
	if len(args.Command) > longScript {
		file := filepath.Join(s.dir, fmt.Sprintf("script-%d", id))
		if err := os.WriteFile(file, []byte(args.Command), 0o600); err != nil {
			return nil, fmt.Errorf("write the script to a file: %w", err)
		}
		argv = []string{s.shell, file}
	}
	j := &job{id: id, command: args.Command, started: time.Now()}
	return j, e.launch(j, s, argv, args.Raw)
}

// launch connects a job with a process.
func (e *Env) launch(j *job, s *shellState, argv []string, raw bool) error {
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outWrite.Close()
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		outRead.Close()
		return err
	}
	defer errWrite.Close()
	spec := e.spec(s, argv)
	spec.Stdout, spec.Stderr = outWrite, errWrite
	p, err := sandbox.Start(s.life, spec)
	if err != nil {
		outRead.Close()
		errRead.Close()
		return err
	}
	if e.Confined != nil {
		s.told.Do(func() { e.Confined(p.Report) })
	}
	j.process = p
	j.stdout, j.stderr = e.collector(j, "stdout", raw), e.collector(j, "stderr", raw)
	for _, c := range []struct {
		to   *collector
		from *os.File
	}{{j.stdout, outRead}, {j.stderr, errRead}} {
		j.reading.Go(func() {
			c.to.readFrom(c.from)
			c.from.Close()
		})
	}
	return nil
}

// collector returns what takes one output of a job.
func (e *Env) collector(j *job, name string, raw bool) *collector {
	c := &collector{mask: e.Mask, raw: raw, half: e.Limits.Shell / 2}
	if e.OutputDir != "" {
		c.path = filepath.Join(e.OutputDir, fmt.Sprintf("command-%d-%s.txt", j.id, name))
	}
	c.full = func() {
		j.tooMuch.Store(true)
		j.process.Stop()
	}
	return c
}

// await waits for a command as long as it may take, and reports.
func (e *Env) await(ctx context.Context, j *job, args shellArgs) Result {
	limit := e.Limits.Time
	if args.Timeout > 0 {
		limit = time.Duration(min(args.Timeout, e.Limits.MaxTime.Seconds()) * float64(time.Second))
	}
	limit = min(limit, e.Limits.MaxTime)
	if args.Background {
		limit = firstLook
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-j.process.Exited():
		j.settle()
	case <-ctx.Done():
		j.process.Stop()
		j.reading.Wait()
		r := e.outcome(j, args)
		r.Error, r.Code = "the command was ended because the task was interrupted", string(wire.Canceled)
		return r
	case <-timer.C:
		if !args.Background {
			j.late = limit
			j.process.Stop()
			j.reading.Wait()
		}
	}
	return e.outcome(j, args)
}

// outcome is the result of a command: what it wrote, how it ended, and what of it goes on.
func (e *Env) outcome(j *job, args shellArgs) Result {
	room := e.Limits.Shell
	stderr, leftErr := j.stderr.text(room / 3)
	stdout, leftOut := j.stdout.text(room - len(stderr))
	r := Result{LeftOut: leftOut + leftErr, FullPath: j.stdout.fullPath()}
	if r.FullPath == "" {
		r.FullPath = j.stderr.fullPath()
	}
	r.Shell = &ShellResult{Command: args.Command, Dir: e.Workspace, Stdout: stdout, Stderr: stderr, TimedOut: j.late > 0}
	end := e.ending(j, &r)
	r.Content = both(stdout, stderr) + end
	return r
}

// both puts the two outputs together as a model reads them.
func both(stdout, stderr string) string {
	line := func(s string) string {
		if s != "" && !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		return s
	}
	if stderr == "" {
		return line(stdout)
	}
	return line(stdout) + "[stderr]\n" + line(stderr)
}

// ending fills in how the command ended and returns the lines that tell it.
func (e *Env) ending(j *job, r *Result) string {
	if !j.over() {
		e.keep(j)
		r.Shell.Job = j.handle()
		return fmt.Sprintf("[goes on in the background as %s%s]", j.handle(), howToSee(j.handle()))
	}
	exit := j.process.Exit()
	r.Shell.ExitCode = exit.Code
	text := fmt.Sprintf("[exit %d%s]", exit.Code, signalName(exit.Code))
	switch {
	case j.late > 0:
		r.Error, r.Code = fmt.Sprintf("timed out after %s; the command and all that it started were ended%s", j.late, e.longer(j.late)), TimedOut
	case j.tooMuch.Load():
		r.Error, r.Code = fmt.Sprintf("ended because it wrote more than %d MiB", maxKept>>20), Exited
	case exit.Limit != "":
		r.Error, r.Code = fmt.Sprintf("ended because it went over its limit of %s", exit.Limit), Exited
	case exit.Code != 0:
		r.Error, r.Code = fmt.Sprintf("exit status %d", exit.Code), Exited
	}
	if r.Error != "" && !strings.HasPrefix(r.Error, "exit status") {
		text = "[" + r.Error + "]\n" + text
	}
	if exit.Left && !j.ended() {
		e.keep(j)
		r.Shell.Job = j.handle()
		text += fmt.Sprintf("\n[processes that it started go on as %s%s]", j.handle(), howToSee(j.handle()))
	}
	return text + e.hint(exit.Code, r.Shell)
}

// longer says how long a command may be given, to a model that gave less.
func (e *Env) longer(limit time.Duration) string {
	if limit >= e.Limits.MaxTime {
		return ""
	}
	return fmt.Sprintf(" (timeout may be up to %.0f)", e.Limits.MaxTime.Seconds())
}

// signalName names the signal that a status stands for.
func signalName(code int) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	return ": " + syscall.Signal(code-128).String()
}

// hint explains a refusal that comes from the sandbox and not from the files.
func (e *Env) hint(code int, s *ShellResult) string {
	if code == 0 || e.Sandbox == sandbox.Off {
		return ""
	}
	text := s.Stdout + s.Stderr
	for _, sign := range []string{"ermission denied", "peration not permitted", "ead-only file system", "EACCES", "EPERM"} {
		if strings.Contains(text, sign) {
			return "\n[commands run in a sandbox: they write only to the workspace and /tmp, and read these, programs and declared folders]"
		}
	}
	return ""
}
