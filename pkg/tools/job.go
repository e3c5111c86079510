package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// job is a command that was started. It is kept when it, or what it started, goes on after its call.
type job struct {
	id             int
	command        string
	started        time.Time
	process        *sandbox.Process
	stdout, stderr *collector
	reading        sync.WaitGroup
	late           time.Duration // the limit that it went over
	tooMuch        atomic.Bool
}

func (j *job) handle() string { return fmt.Sprintf("job-%d", j.id) }

// over tells whether the command itself has ended.
func (j *job) over() bool { return isClosed(j.process.Exited()) }

// ended tells whether nothing of it is left.
func (j *job) ended() bool { return isClosed(j.process.Ended()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// settle waits until what the command wrote has been read: to the end when nothing of it is left, else until nothing
// more comes for a moment, for what it left may hold its outputs as long as it likes.
func (j *job) settle() {
	done := make(chan struct{})
	go func() {
		j.reading.Wait()
		close(done)
	}()
	seen := j.seen()
	for start := time.Now(); time.Since(start) < maxQuiet; {
		select {
		case <-done:
			return
		case <-time.After(quiet):
		}
		now := j.seen()
		if now == seen && j.process.Exit().Left {
			return
		}
		seen = now
	}
}

// seen returns how much was read so far.
func (j *job) seen() int64 {
	var n int64
	for _, c := range []*collector{j.stdout, j.stderr} {
		c.mu.Lock()
		n += c.seen
		c.mu.Unlock()
	}
	return n
}

// next counts a command, if one more may be started.
func (s *shellState) next() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, j := range s.jobs {
		if !j.ended() {
			running++
		}
	}
	if running >= maxJobs {
		return 0, fmt.Errorf("%d jobs run in the background: stop one with the command job stop ID first", running)
	}
	s.count++
	return s.count, nil
}

// keep lists a job. When the task is over meanwhile, it ends.
func (e *Env) keep(j *job) {
	s := &e.shell
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go j.process.Stop()
		return
	}
	s.jobs = append(s.jobs, j)
}

type jobArgs struct {
	Action string  `json:"action"`
	Job    string  `json:"job"`
	Wait   float64 `json:"wait"`
}

// howToSee tells a model what it can do with a job. It is said when there is one, and not with every request.
func howToSee(handle string) string {
	return fmt.Sprintf("; commands for it: job output %s [SECONDS TO WAIT], job stop %s, job list", handle, handle)
}

// jobCommand reads a command about jobs, which run_shell takes in the place of a script: job list, job output job-1 30, job stop job-1.
func jobCommand(command string) (args jobArgs, ok bool) {
	words := strings.Fields(command)
	if len(words) < 2 || len(words) > 4 || words[0] != "job" || !slices.Contains(jobActions, words[1]) {
		return args, false
	}
	args.Action = words[1]
	if len(words) > 2 {
		args.Job = words[2]
	}
	if len(words) > 3 {
		seconds, err := strconv.ParseFloat(words[3], 64)
		if err != nil {
			return args, false
		}
		args.Wait = min(max(seconds, 0), maxWait)
	}
	return args, true
}

var jobActions = []string{"list", "output", "stop"}

// maxWait is how long a job's end is awaited at most, in seconds.
const maxWait = 300

// jobTool answers to the tool that looks after jobs as it is known elsewhere; models are told the commands that do the same.
func jobTool(e *Env) Tool {
	return &builtin[jobArgs]{env: e, spec: Spec{
		Name:        "job",
		Aliases:     []string{"jobs"},
		Hidden:      true,
		Description: "Look after background jobs of run_shell: list them, get the output since the last look, stop one.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["list","output","stop"]},` +
			`"job":{"type":"string","description":"such as job-1"},` +
			`"wait":{"type":"number","minimum":0,"maximum":300,"description":"seconds to wait for the end before output (0)"}},` +
			`"required":["action"],"additionalProperties":false}`),
		Backend: "shell",
	}, synonyms: map[string]string{"id": "job", "job_id": "job", "handle": "job", "timeout": "wait"}, run: e.job}
}

func (e *Env) job(ctx context.Context, args jobArgs) Result {
	e.shell.mu.Lock()
	jobs := slices.Clone(e.shell.jobs)
	e.shell.mu.Unlock()
	if args.Action == "list" {
		return Result{Content: listJobs(jobs)}
	}
	i := slices.IndexFunc(jobs, func(j *job) bool {
		return j.handle() == args.Job || fmt.Sprint(j.id) == args.Job || args.Job == "" && len(jobs) == 1
	})
	if i < 0 {
		return failed(wire.NotFound, "there is no job %q. %s", args.Job, listJobs(jobs))
	}
	j := jobs[i]
	switch args.Action {
	case "stop":
		j.process.Stop()
		j.reading.Wait()
	case "output":
		j.wait(ctx, time.Duration(args.Wait*float64(time.Second)))
	default:
		return failed(wire.Invalid, "unknown action %q: it is one of list, output, stop", args.Action)
	}
	return e.look(j)
}

// wait waits for the end of a job.
func (j *job) wait(ctx context.Context, most time.Duration) {
	select {
	case <-j.process.Ended():
		j.reading.Wait()
		return
	default:
	}
	if most <= 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-j.process.Ended():
		j.reading.Wait()
	case <-timer.C:
	case <-ctx.Done():
	}
}

// look returns what a job wrote since the last look, and how it is.
func (e *Env) look(j *job) Result {
	room := e.Limits.Shell
	stderr := j.stderr.newText(room / 3)
	stdout := j.stdout.newText(room - len(stderr))
	r := Result{Shell: &ShellResult{Command: j.command, Dir: e.Workspace, Stdout: stdout, Stderr: stderr, Job: j.handle()}, FullPath: j.stdout.fullPath()}
	if j.over() {
		r.Shell.ExitCode = j.process.Exit().Code
	}
	r.Content = both(stdout, stderr) + "[" + j.state() + "]"
	return r
}

// state tells in one line how a job is.
func (j *job) state() string {
	switch {
	case !j.over():
		return j.handle() + " runs"
	case !j.ended():
		return fmt.Sprintf("%s: the command is over (exit %d), what it started goes on", j.handle(), j.process.Exit().Code)
	}
	code := j.process.Exit().Code
	return fmt.Sprintf("%s is over (exit %d%s)", j.handle(), code, signalName(code))
}

func listJobs(jobs []*job) string {
	if len(jobs) == 0 {
		return "There are no background jobs."
	}
	var b strings.Builder
	for _, j := range jobs {
		command, _ := cut(oneLine(j.command), 100)
		fmt.Fprintf(&b, "%s: %s\n", j.state(), command)
	}
	return strings.TrimRight(b.String(), "\n")
}
