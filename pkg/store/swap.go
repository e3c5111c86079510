package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Names of the folders beside a skill folder while it is changed.
const (
	stagePrefix = ".os-stage-"
	oldPrefix   = ".os-old-"
)

// Kinds of intents.
const (
	kindReplace = "replace"
	kindCreate  = "create"
)

// intent says what a process is about to do to a skill folder, so that another
// can end or undo it. NewID is empty until the stage is complete.
type intent struct {
	V     int       `json:"v"`
	T     time.Time `json:"t"`
	PID   int       `json:"pid"`
	Kind  string    `json:"kind"`
	Dir   string    `json:"dir"`
	Stage string    `json:"stage"`
	Old   string    `json:"old"`
	Head  string    `json:"head,omitempty"`
	NewID string    `json:"new_id,omitempty"`
	Tree  string    `json:"tree,omitempty"`

	name string // its file below intents/
}

func (s *Store) newIntent(kind, dir, head string) intent {
	var b [6]byte
	rand.Read(b[:]) // never fails
	tag, parent := hex.EncodeToString(b[:]), filepath.Dir(dir)
	return intent{
		V: 1, T: s.opts.Now().UTC(), PID: os.Getpid(), Kind: kind, Dir: dir, Head: head, name: tag + ".json",
		Stage: filepath.Join(parent, stagePrefix+tag), Old: filepath.Join(parent, oldPrefix+tag),
	}
}

func (s *Store) saveIntent(in intent) error {
	data, err := json.MarshalWithOption(in, json.DisableHTMLEscape())
	if err != nil {
		return fmt.Errorf("write intent: %w", err)
	}
	return atomicfile.Write(s.path("intents", in.name), append(data, '\n'), 0o600, s.hook("intent"))
}

// intents reads all intents. What cannot be read is left to Verify and GC.
func (s *Store) intents() ([]intent, error) {
	entries, err := os.ReadDir(s.path("intents"))
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list intents: %w", err)
	}
	var out []intent
	for _, e := range entries {
		if in, err := readIntent(s.path("intents", e.Name())); err == nil {
			out = append(out, in)
		}
	}
	return out, nil
}

// readIntent reads one intent and makes sure that it can only lead to folders
// which a Store makes beside the skill folder.
func readIntent(path string) (intent, error) {
	var in intent
	data, err := os.ReadFile(path)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, fmt.Errorf("intent %q: %w: %w", path, ErrCorrupt, err)
	}
	parent := filepath.Dir(in.Dir)
	ok := filepath.IsAbs(in.Dir) && filepath.Clean(in.Dir) == in.Dir && in.V == 1 &&
		filepath.Dir(in.Stage) == parent && strings.HasPrefix(filepath.Base(in.Stage), stagePrefix) &&
		filepath.Dir(in.Old) == parent && strings.HasPrefix(filepath.Base(in.Old), oldPrefix)
	if !ok || strings.HasPrefix(filepath.Base(path), atomicfile.TempPrefix) {
		return in, fmt.Errorf("intent %q: %w: its folders", path, ErrCorrupt)
	}
	in.name = filepath.Base(path)
	return in, nil
}

// swapIn puts the stage in the place of the folder: afterwards the old content
// is at in.Stage, or at in.Old where folders cannot be exchanged.
func (s *Store) swapIn(in intent) error {
	if err := s.place(in); err != nil {
		return fmt.Errorf("swap folders: %w", err)
	}
	s.fault("swap:done")
	if err := atomicfile.SyncDir(filepath.Dir(in.Dir)); err != nil {
		if back := s.swapBack(in); back != nil {
			err = errors.Join(err, errStuck, back)
		}
		return fmt.Errorf("swap folders: %w", err)
	}
	s.fault("swap:synced")
	return nil
}

// place is swapIn without making it durable.
func (s *Store) place(in intent) error {
	if in.Kind == kindCreate {
		return s.moveNew(in.Stage, in.Dir)
	}
	err := errors.ErrUnsupported
	if !s.plainRename {
		err = exchange(in.Dir, in.Stage)
	}
	if !unsupported(err) {
		return err
	}
	if err := os.Rename(in.Dir, in.Old); err != nil {
		return err
	}
	s.fault("swap:half")
	if err := os.Rename(in.Stage, in.Dir); err != nil {
		if back := os.Rename(in.Old, in.Dir); back != nil {
			err = errors.Join(err, errStuck, back)
		}
		return err
	}
	return nil
}

// moveNew renames a folder to a name that must be free.
func (s *Store) moveNew(from, to string) error {
	err := errors.ErrUnsupported
	if !s.plainRename {
		err = renameNew(from, to)
	}
	if !unsupported(err) {
		return err
	}
	// An empty folder may be renamed over (by the call itself, os.Rename refuses),
	// so making it reserves the name.
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	s.fault("swap:half")
	if err := syscall.Rename(from, to); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// swapBack undoes swapIn: the new content is at in.Stage again.
func (s *Store) swapBack(in intent) error {
	var err error
	switch {
	case in.Kind == kindCreate:
		err = os.Rename(in.Dir, in.Stage)
	case exists(in.Old):
		if err = os.Rename(in.Dir, in.Stage); err == nil {
			err = os.Rename(in.Old, in.Dir)
		}
	default:
		err = exchange(in.Dir, in.Stage)
	}
	s.fault("swap:back")
	return errors.Join(err, atomicfile.SyncDir(filepath.Dir(in.Dir)))
}

// replaced is where the old content is after swapIn.
func (in intent) replaced() string {
	if exists(in.Old) {
		return in.Old
	}
	return in.Stage
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isNew reports whether the folder is what this intent made.
func (in intent) isNew(dir string) bool {
	id, _ := skill.ReadID(dir)
	return in.NewID != "" && id == in.NewID
}

// clean removes what an ended or undone change leaves: stage, old folder,
// intent. What cannot be removed is left to GC.
func (s *Store) clean(in intent) error {
	_ = os.RemoveAll(in.Stage)
	s.fault("clean:stage")
	if in.Kind != kindCreate {
		_ = os.RemoveAll(in.Old)
		s.fault("clean:old")
	}
	if err := os.Remove(s.path("intents", in.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove intent: %w", err)
	}
	s.fault("clean:intent")
	return nil
}
