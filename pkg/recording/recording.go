package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// The files of a recording.
const (
	MetadataFile      = "metadata.json"
	ConversationsFile = "conversations.jsonl"
	TrajectoryFile    = "traj.jsonl"
	ActionsFile       = "agent_actions.jsonl"
	SummaryFile       = "summary.json"
	PendingFile       = "pending.json"
	FilesDir          = "files"
)

// Recording is the recording of a task that runs. Its methods report what could not be written, and go on
// working.
type Recording struct {
	dir  string
	mask func(string) string

	mu      sync.Mutex
	closed  bool
	meta    Metadata
	extra   map[string]json.RawMessage
	lines   map[string]*os.File
	summary Summary
	backend map[string]int
	files   int
	pending bool
}

var errClosed = errors.New("the recording is closed")

// Create begins the recording of a task in a new folder below dir, which is made when it is missing. Any id
// will do.
func Create(dir, taskID string, meta Meta) (*Recording, error) {
	path, err := makeFolder(dir, taskID)
	if err != nil {
		return nil, fmt.Errorf("record task %q: %w", taskID, err)
	}
	mask := meta.Mask
	if mask == nil {
		mask = func(s string) string { return s }
	}
	r := &Recording{
		dir: path, mask: mask, extra: map[string]json.RawMessage{}, lines: map[string]*os.File{}, backend: map[string]int{},
		meta: Metadata{
			Schema: Schema, TaskID: mask(taskID), TaskName: mask(taskID), Instruction: mask(meta.Instruction), StartTime: now(),
			Version: meta.Version, Model: meta.Model, WorkspaceDir: meta.WorkspaceDir, Backends: append([]string{}, meta.Backends...),
		},
	}
	r.summary = newSummary(r.meta)
	if err := r.writeMetadata(); err != nil {
		return nil, fmt.Errorf("record task %q: %w", taskID, err)
	}
	return r, nil
}

// now is the time as recordings have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Dir returns the folder, as an absolute path when the one given to Create was.
func (r *Recording) Dir() string { return r.dir }

// FilesDir returns the folder for whole outputs and other files that belong to the recording. It is made when
// it is missing.
func (r *Recording) FilesDir() (string, error) {
	dir := filepath.Join(r.dir, FilesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	return dir, nil
}

// Set puts a value that JSON can encode into the metadata: one of its own keys, or any other. A task that
// goes on with another model or chooses skills says so with it.
func (r *Recording) Set(key string, value any) error {
	raw, err := r.encode(value)
	if err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("record %s: %w", key, errClosed)
	}
	r.extra[key] = raw
	return r.writeMetadata()
}

// encode returns a value as JSON with its texts masked.
func (r *Recording) encode(value any) (json.RawMessage, error) {
	raw, err := jsonl.Marshal(value)
	if err != nil {
		return nil, err
	}
	return maskJSON(raw, r.mask)
}

// writeMetadata replaces metadata.json. The lock is held, or nobody else has the recording yet.
func (r *Recording) writeMetadata() error {
	raw, err := jsonl.Marshal(r.meta)
	if err != nil {
		return err
	}
	if len(r.extra) > 0 {
		all := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		maps.Copy(all, r.extra)
		if raw, err = jsonl.Marshal(all); err != nil {
			return err
		}
	}
	return r.replace(MetadataFile, raw)
}

// replace writes a whole file. It is not synced: what a task did is worth less than the time that a sync
// takes, and a lost recording breaks nothing.
func (r *Recording) replace(name string, raw []byte) error {
	return atomicfile.Write(filepath.Join(r.dir, name), append(raw, '\n'), 0o600, atomicfile.NoSync())
}

// line appends one line to a file by a single write. The lock is held.
func (r *Recording) line(name string, v any) error {
	if r.closed {
		return fmt.Errorf("record %s: %w", name, errClosed)
	}
	raw, err := jsonl.Marshal(v)
	if err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	f := r.lines[name]
	if f == nil {
		f, err = os.OpenFile(filepath.Join(r.dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		r.lines[name] = f
	}
	if _, err := f.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Setup records the beginning of a conversation.
func (r *Recording) Setup(s Setup) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Type, s.Timestamp = TypeSetup, now()
	messages, problem := r.messages(s.Messages)
	s.Messages, s.Tools = messages, slices.Clone(s.Tools)
	for i := range s.Tools {
		s.Tools[i].Description = cutText(s.Tools[i].Description, maxDescription)
	}
	if s.Tools == nil {
		s.Tools = []Tool{}
	}
	return errors.Join(problem, r.line(ConversationsFile, s), r.offered(s.Tools))
}

// offered puts the tools of the first conversation that has some into the metadata, unless the caller has
// said which they were.
func (r *Recording) offered(tools []Tool) error {
	const key = "retrieved_tools"
	if _, said := r.extra[key]; said || len(tools) == 0 {
		return nil
	}
	list := make([]map[string]string, len(tools))
	for i, t := range tools {
		list[i] = map[string]string{"name": t.Name, "backend": t.Backend}
		if t.Server != "" {
			list[i]["server_name"] = t.Server
		}
		if t.Backend != "" && !slices.Contains(r.meta.Backends, t.Backend) {
			r.meta.Backends = append(r.meta.Backends, t.Backend)
		}
	}
	raw, err := r.encode(map[string]any{"instruction": cutText(r.meta.Instruction, maxInstruction), "count": len(tools), "tools": list})
	if err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	r.extra[key] = raw
	return r.writeMetadata()
}

// Iteration records a call of a model and the messages that are new since the one before.
func (r *Recording) Iteration(it Iteration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	it.Type, it.Timestamp = TypeIteration, now()
	it.Response.Error = r.mask(it.Response.Error)
	messages, problem := r.messages(it.Messages)
	it.Messages = messages
	return errors.Join(problem, r.line(ConversationsFile, it), r.settle())
}

// Pending records an iteration whose calls are about to run, so that a process that is killed leaves what it
// was doing. Iteration takes its place.
func (r *Recording) Pending(it Iteration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("record %s: %w", PendingFile, errClosed)
	}
	it.Type, it.Timestamp, it.Messages = TypeIteration, now(), r.brief(it.Messages)
	raw, err := jsonl.Marshal(it)
	if err != nil {
		return fmt.Errorf("record %s: %w", PendingFile, err)
	}
	r.pending = true
	return r.replace(PendingFile, raw)
}

// settle takes the pending iteration away.
func (r *Recording) settle() error {
	if !r.pending {
		return nil
	}
	r.pending = false
	if err := os.Remove(filepath.Join(r.dir, PendingFile)); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Step records a call of a tool.
func (r *Recording) Step(s Step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var problem error
	if s.Parameters != nil {
		s.Parameters, problem = r.parameters(s.Parameters)
	}
	s.Step, s.Timestamp = r.summary.Trajectory.TotalSteps+1, now()
	s.Command = cutText(r.mask(s.Command), maxCommand)
	res := &s.Result
	for _, text := range []*string{&res.Stdout, &res.Stderr, &res.Output, &res.Error} {
		*text = shorten(r.mask(*text), maxResult)
	}
	if err := r.line(TrajectoryFile, s); err != nil {
		return errors.Join(problem, err)
	}
	r.summary.addStep(s)
	r.backend[s.Backend]++
	return problem
}

// Action records a run of an agent.
func (r *Recording) Action(a Action) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.Step, a.Timestamp = r.summary.Actions.Total+1, now()
	a.CorrelationID = "action_" + strconv.Itoa(a.Step) + "_" + a.Timestamp.Format("20060102T150405.000")
	a.Input.Instruction = shorten(r.mask(a.Input.Instruction), maxResult)
	a.Reasoning.Response = shorten(r.mask(a.Reasoning.Response), maxResult)
	a.Output.Error = r.mask(a.Output.Error)
	if a.Reasoning.Tools == nil {
		a.Reasoning.Tools = []ActionTool{}
	}
	if err := r.line(ActionsFile, a); err != nil {
		return err
	}
	r.summary.addAction(a)
	return nil
}

// Close ends the recording with how the task ended. Later calls do nothing.
func (r *Recording) Close(o Outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.meta.EndTime = now()
	r.meta.TotalSteps, r.meta.BackendCounts = r.summary.Trajectory.TotalSteps, r.backend
	r.summary.EndTime = r.meta.EndTime
	outcome, err := r.encode(o)
	if err == nil {
		r.extra["execution_outcome"] = outcome
		err = r.writeMetadata()
	}
	raw, problem := jsonl.Marshal(r.summary)
	if problem == nil {
		problem = r.replace(SummaryFile, raw)
	}
	err = errors.Join(err, problem, r.settle())
	for _, f := range r.lines {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("end recording %q: %w", r.dir, err)
	}
	return nil
}
