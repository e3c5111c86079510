package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Section ids of the manifest and of the directory file.
const (
	secState      = 16
	secDeleted    = 17
	secDirs       = 32
	secDirStrings = 33
	secProblems   = 34

	dirSize = 40

	manifestName = "MANIFEST"
	lockName     = "lock"
)

// manifest is what MANIFEST says.
type manifest struct {
	Root       string         `json:"root"`
	Generation int            `json:"generation"` // grows with every change
	Next       int            `json:"next"`       // number of the next file
	Segments   []segmentState `json:"segments"`
	Dirs       string         `json:"dirs"` // name of the directory file
	deleted    [][]uint64
}

type segmentState struct {
	File string `json:"file"`
	Docs int    `json:"docs"`
	Live int    `json:"live"`
}

// readManifest returns the manifest in dir, nil when there is none.
func readManifest(dir string) (*manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := decodeContainer(data)
	if err != nil {
		return nil, fmt.Errorf("read index manifest: %w", err)
	}
	if err := c.verify(); err != nil {
		return nil, fmt.Errorf("read index manifest: %w", err)
	}
	m := &manifest{}
	if err := json.Unmarshal(c.sections[secState], m); err != nil {
		return nil, fmt.Errorf("read index manifest: %w: %w", ErrDamaged, err)
	}
	return m, m.decodeDeleted(c.sections[secDeleted])
}

func (m *manifest) decodeDeleted(b []byte) error {
	for _, s := range m.Segments {
		words := (s.Docs + 63) / 64
		if s.Docs < 0 || len(b) < 8*words {
			return fmt.Errorf("read index manifest: %w: bitmaps end early", ErrDamaged)
		}
		bits := make([]uint64, words)
		for i := range bits {
			bits[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		m.deleted = append(m.deleted, bits)
		b = b[8*words:]
	}
	return nil
}

// encode returns the manifest as a file.
func (m *manifest) encode() ([]byte, error) {
	state, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var deleted []byte
	for _, bits := range m.deleted {
		for _, w := range bits {
			deleted = binary.LittleEndian.AppendUint64(deleted, w)
		}
	}
	return encodeContainer([]section{{secState, state}, {secDeleted, deleted}}), nil
}

func bit(bits []uint64, i int) bool { return bits[i>>6]>>(i&63)&1 == 1 }
func setBit(bits []uint64, i int)   { bits[i>>6] |= 1 << (i & 63) }

// encodeDirs returns the directory file of a walked tree.
func encodeDirs(t *roots.Tree) ([]byte, error) {
	var rows, text []byte
	for _, d := range t.Dirs {
		rows = binary.LittleEndian.AppendUint32(rows, uint32(len(text)))
		rows = binary.LittleEndian.AppendUint32(rows, uint32(len(d.Rel)))
		rows = appendStamp(rows, d.Stamp)
		text = append(text, d.Rel...)
	}
	problems, err := json.Marshal(t.Problems)
	if err != nil {
		return nil, err
	}
	return encodeContainer([]section{{secDirs, rows}, {secDirStrings, text}, {secProblems, problems}}), nil
}

// decodeDirs reads a directory file whole.
func decodeDirs(data []byte) (dirs []roots.Dir, problems []skill.Diagnostic, err error) {
	c, err := decodeContainer(data)
	if err == nil {
		err = c.verify()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read index directories: %w", err)
	}
	rows, text := c.sections[secDirs], c.sections[secDirStrings]
	dirs = make([]roots.Dir, 0, len(rows)/dirSize)
	for ; len(rows) >= dirSize; rows = rows[dirSize:] {
		off, n := uint64(binary.LittleEndian.Uint32(rows)), uint64(binary.LittleEndian.Uint32(rows[4:]))
		if off+n > uint64(len(text)) {
			return nil, nil, fmt.Errorf("read index directories: %w: path outside the file", ErrDamaged)
		}
		dirs = append(dirs, roots.Dir{Rel: string(text[off : off+n]), Stamp: stampAt(rows[8:])})
	}
	if err := json.Unmarshal(c.sections[secProblems], &problems); err != nil {
		return nil, nil, fmt.Errorf("read index directories: %w: %w", ErrDamaged, err)
	}
	return dirs, problems, nil
}
