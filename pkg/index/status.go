package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/roots"
)

// Status describes the index of one root as it lies on disk.
type Status struct {
	Root       string // the root as given
	Dir        string // where its index lies
	Exists     bool   // there is an index that can be used
	Generation int
	Segments   int
	Skills     int
	Deleted    int   // documents that are still in a segment but count no more
	Bytes      int64 // of all files
	Problem    error // why there is none that can be used, or what verifying found; nil for none
}

// Inspect reads the index of root without comparing it with the root. With verify every byte is checked
// against the checksums.
func Inspect(root roots.Root, dir string, verify bool) Status {
	x := &Index{root: root, dir: filepath.Join(dir, DirName(realPath(root.Dir)))}
	s := Status{Root: root.Dir, Dir: x.dir}
	if s.Problem = x.load(); s.Problem != nil || x.manifest == nil {
		return s
	}
	defer x.Close()
	s.Exists, s.Generation, s.Segments, s.Skills = true, x.manifest.Generation, len(x.segments), x.Len()
	s.Bytes = fileSize(x.dir, manifestName) + fileSize(x.dir, x.manifest.Dirs)
	for i, seg := range x.segments {
		st := x.manifest.Segments[i]
		s.Deleted += st.Docs - st.Live
		s.Bytes += fileSize(x.dir, st.File)
		if verify {
			s.Problem = errors.Join(s.Problem, seg.verify(st.File))
		}
	}
	return s
}

// verify checks every byte of the segment.
func (s *segment) verify(file string) (err error) {
	defer guard(&err)()
	if err := s.c.verify(); err != nil {
		return fmt.Errorf("check index segment %q: %w", file, err)
	}
	return nil
}

func fileSize(dir, file string) int64 {
	fi, err := os.Stat(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	return fi.Size()
}

// Orphans returns the directories below dir that hold the index of a root which is gone, or one that is of no use to
// this program, and their size in bytes. They may be deleted, like every index.
func Orphans(dir string) (orphans []string, bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if m, err := readManifest(path); err == nil && m != nil {
			if _, err := os.Stat(m.Root); err == nil {
				continue
			}
		}
		orphans = append(orphans, path)
		files, _ := os.ReadDir(path)
		for _, f := range files {
			bytes += fileSize(path, f.Name())
		}
	}
	return orphans, bytes, err
}
