package evolve

import (
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/store"
)

// Run is what is known of a finished run of a task.
type Run struct {
	TaskID string
	Task   string // as it was put
	Dir    string // of the recording; "" when there is none

	Workspace string // where it worked; "": nothing is known of it

	Status  string // as the run itself saw it: success, incomplete, error, canceled
	Answer  string
	Figures store.RunFigures

	Offered []Offered // skills, in the order in which they were offered
	// Fellback: the work was begun again without skills.
	Fellback bool
	Said     []Said // the conversation, in order
	Steps    []Step // calls of tools, in order
	Ended    time.Time
	// Again: a run that was only counted is judged nevertheless. Its counters stay.
	Again bool
}

// Offered is a skill that a run could use.
type Offered struct {
	ID, Name, Dir string
	// Late: it was found in the middle of the run.
	Late bool
}

// Said is one message of a run.
type Said struct {
	Phase     int // 1; 2 after a fallback
	Iteration int // 0: before the first answer
	llm.Message
}

// Step is one call of a tool.
type Step struct {
	Phase                 int
	Backend, Server, Tool string
	Command               string // what it did, in short
	Script                string // of a shell: the whole of what it ran, secrets hidden
	OK                    bool
	Error                 string // one line
	// Exit: the tool worked, but what it ran ended with a status that is not 0, or what was asked of it was wrong or not allowed.
	Exit bool
	MS   int64
}

// Key names the tool in the store: backend:tool, or backend:server:tool.
func (s Step) Key() string {
	if s.Server != "" {
		return s.Backend + ":" + s.Server + ":" + s.Tool
	}
	return s.Backend + ":" + s.Tool
}

// keys returns the tools that were used, each once, in the order of their first use.
func (r Run) keys() (keys []string) {
	seen := map[string]bool{}
	for _, s := range r.Steps {
		if k := s.Key(); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// ids returns the ids of the offered skills, each once.
func (r Run) ids() (ids []string) {
	seen := map[string]bool{}
	for _, o := range r.Offered {
		if !seen[o.ID] {
			seen[o.ID] = true
			ids = append(ids, o.ID)
		}
	}
	return ids
}
