package evolve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Mode says what becomes of changes that nobody asked for.
type Mode string

// The modes.
const (
	Guarded Mode = "guarded" // they are made, but wait for a yes in folders that are somebody's source: under version control, outside of the home
	Auto    Mode = "auto"    // they are made
	Propose Mode = "propose" // they wait for a yes
	Off     Mode = "off"     // there are none
)

// Likeness is a skill that is like a new one.
type Likeness struct {
	SkillID, Name, Dir string
	Share              float64 // of the shorter text that is in the other, 0 to 1
}

// Options are what an Engine works with. Store is needed; without a Model runs are only counted.
type Options struct {
	Store *store.Store
	Model llm.Model
	Mode  Mode // "": Guarded

	// Root is the folder that captured skills go to, if the run has none of its own.
	Root string
	// Similar finds skill folders that may be like a text, the most likely first; nil: all active skills of the store are looked at.
	Similar func(ctx context.Context, text string) ([]string, error)
	// Check runs the checks of a skill in a folder of its own; nil: a skill with checks cannot be changed.
	Check Checker
	// Replay runs commands of a run again; nil: they are not.
	Replay Replayer
	// Mask hides the secrets that are known; nil: none are.
	Mask func(string) string
	// Observe gets every exchange with the model.
	Observe func(Exchange)
	// Warn gets what went wrong without ending the work.
	Warn func(format string, args ...any)

	Force  bool          // capture although there is a skill like it
	Tokens int64         // what one Learn may take, in tokens; 0: 200,000
	Wait   time.Duration // how long a folder that somebody else changes is waited for
	Now    func() time.Time
}

// Engine analyses runs and changes skills.
type Engine struct{ o Options }

// Errors that callers tell apart; each has a code of package wire.
var (
	// ErrDeclined: the model says that nothing is to be changed, or that it cannot.
	ErrDeclined = errors.New("the model declined")
	// ErrRefused: no answer of the model passed the checks.
	ErrRefused = errors.New("no edit passed the checks")
	// ErrSimilar: there is a skill like the one to be captured.
	ErrSimilar = errors.New("there is a skill like it")
	// ErrUnwanted: somebody rejected a proposal for a skill of this name.
	ErrUnwanted = errors.New("it is not wanted")
	// ErrNoModel: there is no model to ask.
	ErrNoModel = errors.New("no model is set")
	// ErrHeld: something that is remembered holds the change back.
	ErrHeld = errors.New("held back")
)

// defaultTokens is what one Learn may take.
const defaultTokens = 200_000

// New returns an engine.
func New(o Options) (*Engine, error) {
	switch o.Mode {
	case "":
		o.Mode = Guarded
	case Guarded, Auto, Propose, Off:
	default:
		return nil, wire.Errorf(wire.Usage, "unknown evolution mode %q", o.Mode).WithHint("use guarded, auto, propose or off")
	}
	if o.Store == nil {
		return nil, fmt.Errorf("evolve skills: no store")
	}
	if o.Mask == nil {
		o.Mask = func(s string) string { return s }
	}
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tokens == 0 {
		o.Tokens = defaultTokens
	}
	return &Engine{o}, nil
}

// waits tells whether a change that nobody asked for waits for a yes in a folder.
func (e *Engine) waits(dir string) bool {
	switch e.o.Mode {
	case Propose:
		return true
	case Guarded:
		home, err := store.Canonical(e.o.Store.Home())
		return err != nil || !within(dir, home) && versioned(dir)
	}
	return false
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// versioned tells whether a folder lies in a working tree of a version control, or will.
func versioned(dir string) bool {
	for {
		for _, mark := range []string{".git", ".hg", ".svn", ".jj"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
