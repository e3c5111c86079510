package task

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Suite is what all tasks of a process share. It is not changed while tasks run.
type Suite struct {
	Home    string // $OPENSPACE_HOME: workspaces and recordings are made below it
	Version string // of the program, for recordings

	// Model opens the model of one task; an empty name is the default one. What stands in places differs from machine to machine and from run to
	// run, so that a replay must not see it.
	Model func(name string, places []llm.Place) (llm.Model, error)

	Finder    *Finder // nil: no skills
	Commands  Commands
	Store     *store.Store // what earlier tasks say of skills; nil: nothing is asked or written
	Policy    safety.Policy
	MaxSkills int // shown to the agent at most; 0: 2

	Environ      []string // of the process; what commands get of it is chosen by name
	PassEnv      []string
	WriteDirs    []string      // beside the workspace
	ReadDirs     []string      // such as skill roots
	Rules        *policy.Rules // of the user, for commands; nil: none
	UserHome     string        // closed to tasks
	Sandbox      sandbox.Level
	AllowPrivate bool
	Mask         *tools.Mask // secrets of the process

	Record bool // keep a recording of each task

	// Repeatable leaves out what depends on earlier tasks, so that a recorded run can be replayed. Replaying: no real model answers, so
	// that nothing is to be learnt from the run.
	Repeatable, Replaying bool

	// Learn is called between a task's answer and its result. It returns the skills that it made or mended; nil: nothing is learnt.
	Learn func(ctx context.Context, l Learning) (Learnt, error)
}

// Learning is what can be learnt from.
type Learning struct {
	Task       wire.Task
	TaskID     string // of the recording
	Result     wire.Result
	Skills     []agent.Skill // that were chosen
	Asked      []string
	Model      llm.Model
	Recording  *recording.Recording // nil: none is kept
	CaptureDir string               // where a new skill is to go; empty: the default
	GuidedWell bool                 // the phase with the skills was enough
	Outcomes   []*agent.Outcome     // of the phases
	EmitStep   func(kind, message string)
}

// Learnt is what came of it.
type Learnt struct {
	Skills  []wire.Skill
	Waiting []string // changes that wait for somebody's yes, for whoever reads the result
	Usage   llm.Usage
	Later   bool // another process will learn from the recording, and count
}

// The statuses of a task.
const (
	success    = "success"
	incomplete = "incomplete"
	failed     = "error"
	canceled   = "canceled"
)

// The names of phases.
const (
	phaseSelect = "select"
	phaseGuided = "with_skills"
	phaseAnew   = "without_skills"
	phasePlain  = "plain"
	phaseLearn  = "learn"
)

// validID tells whether an id may name a task: it becomes the name of a folder.
func validID(id string) bool {
	for i, c := range []byte(id) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// NewID returns the id of a new task.
func NewID() string {
	var b [6]byte
	rand.Read(b[:])
	return "task_" + hex.EncodeToString(b[:])
}

// Check says what is wrong with a task before anything is begun.
func Check(t wire.Task) error {
	switch {
	case strings.TrimSpace(t.Task) == "":
		return wire.Errorf(wire.Usage, "the task is empty")
	case t.TaskID != "" && !validID(t.TaskID):
		return wire.Errorf(wire.Invalid, "task id %.80q: want letters, digits, '.', '_' and '-', at most 128, the first a letter or digit", t.TaskID)
	case t.MaxIterations < 0 || t.MaxTokens < 0 || t.MaxCost < 0 || t.TimeoutMS < 0:
		return wire.Errorf(wire.Invalid, "a limit is below zero")
	case t.SearchScope != "" && !slices.Contains(Scopes(), t.SearchScope):
		return wire.Errorf(wire.Invalid, "unknown search scope %q: want %s", t.SearchScope, strings.Join(Scopes(), ", "))
	}
	return nil
}

// Where skills are looked for.
const (
	ScopeLocal = "local"
	ScopeAll   = "all" // the registry, too
	ScopeNone  = "none"
)

// Scopes lists them, the default first.
func Scopes() []string { return []string{ScopeLocal, ScopeAll, ScopeNone} }

// run is one task.
type run struct {
	t     wire.Task
	s     *Suite
	id    string
	start time.Time
	emit  func(wire.Record)

	ws       *workspace
	rec      *recording.Recording
	recordID string
	model    *growing // nil: it could not be opened
	finder   *Finder
	giveBack func() // ends a finder of this task alone
	env      *tools.Env

	skills     []agent.Skill // shown to the agent before the task
	guided     []string      // their ids, when the phase with them says something about them
	asked      []string      // ids of what the agent asked for
	guidedWell bool
	found      sync.Mutex
	folders    map[string]string // of what was shown, by id
	versions   map[string]string // the store's ids of these, once they are recorded

	mu       sync.Mutex
	steps    int
	total    llm.Usage
	warnings []string

	iterations int
	outcomes   []*agent.Outcome
	phases     []wire.Phase
	imports    []wire.Import
	status     string
	response   string
	warning    string
	err        error
	answered   time.Duration
	files      []wire.FileChange
	evolved    []wire.Skill
	ending     recording.Outcome
}

// Run does a task and returns its result. Events are handed to emit one at a time, the answer among them; the result is not. The error of a task
// that failed is in its result.
func Run(ctx context.Context, t wire.Task, s *Suite, emit func(wire.Record)) (res wire.Result) {
	r := &run{t: t, s: s, start: time.Now(), id: t.TaskID, status: failed, folders: map[string]string{}, versions: map[string]string{}}
	var one sync.Mutex
	r.emit = func(rec wire.Record) {
		one.Lock()
		defer one.Unlock()
		emit(rec)
	}
	if r.id == "" {
		r.id = NewID()
	}
	r.recordID = r.id
	defer func() {
		if v := recover(); v != nil {
			r.status, r.err = failed, wire.Errorf(wire.Internal, "internal fault: %v", v)
			r.warn("the fault happened here: " + oneLine(string(debug.Stack()), 4000))
		}
		r.close()
		res = r.result()
	}()
	r.work(ctx)
	return res
}

// work is the whole task.
func (r *run) work(ctx context.Context) {
	whole := ctx
	if r.t.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, r.start.Add(r.limit()), errTime)
		defer cancel()
	}
	if err := r.prepare(ctx); err != nil {
		r.fail(ctx, err)
		return
	}
	r.perform(ctx)
	r.answer()
	r.outcome()
	r.register(context.WithoutCancel(whole))
	if !r.learn(ctx) {
		r.count(context.WithoutCancel(whole))
	}
}

var errTime = errors.New("the time limit of the task")

// longestTask bounds a limit on time, so that reckoning with it cannot go wrong.
const longestTask = 365 * 24 * time.Hour

func (r *run) limit() time.Duration {
	return time.Duration(min(r.t.TimeoutMS, longestTask.Milliseconds())) * time.Millisecond
}

// fail ends a task before or between its phases.
func (r *run) fail(ctx context.Context, err error) {
	switch {
	case errors.Is(context.Cause(ctx), errTime):
		r.status, r.warning = incomplete, fmt.Sprintf("reached the time limit of %s", r.limit())
	case ctx.Err() != nil:
		r.status, r.err = canceled, wire.Errorf(wire.Canceled, "%w", context.Cause(ctx))
	default:
		r.status, r.err = failed, err
	}
	r.answer()
	r.outcome()
}

// prepare makes everything ready for the model. The search goes on beside the rest.
func (r *run) prepare(ctx context.Context) error {
	if err := Check(r.t); err != nil {
		return err
	}
	found := make(chan found, 1)
	if r.s.Finder != nil && r.t.SearchScope != ScopeNone {
		r.finder, r.giveBack = r.s.Finder.With(r.t.SkillDirs)
	}
	go func() { found <- r.find(ctx) }()
	var err error
	dir := r.t.WorkspaceDir
	if dir == "" {
		dir = r.t.Workspace
	}
	if r.ws, err = openWorkspace(dir, filepath.Join(r.s.Home, "workspaces"), r.id); err != nil {
		<-found
		return err
	}
	everything, err := r.ws.tooWide(r.s.UserHome)
	if err != nil {
		<-found
		return err
	}
	r.ws.remember()
	r.record()
	r.step("start", "", r.ws.dir)
	if everything != "" {
		r.warn(everything)
	}
	return r.choose(ctx, <-found)
}

// record begins the recording. Without one the task goes on.
func (r *run) record() {
	if !r.s.Record {
		return
	}
	var err error
	r.rec, err = recording.Create(filepath.Join(r.s.Home, "recordings"), r.id, recording.Meta{
		Instruction: r.t.Task, WorkspaceDir: r.ws.dir, Version: r.s.Version, Mask: r.s.Mask.Text,
	})
	if err != nil {
		r.warn(fmt.Sprintf("nothing is recorded: %v", err))
		return
	}
	r.recordID = filepath.Base(r.rec.Dir())
}

// close gives back what the task held, and ends what it started.
func (r *run) close() {
	if r.env != nil {
		r.env.Close()
	}
	if r.giveBack != nil {
		r.giveBack()
	}
	r.end()
	if r.ws != nil {
		r.ws.close()
	}
}
