package transfer

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

// spoolMemory is what of a download is kept in memory; a longer one goes to a file.
const spoolMemory = 1 << 20

// spool holds a download until it was checked.
type spool struct {
	dir  string // where its file is made
	buf  bytes.Buffer
	file *os.File
	size int64
}

// reset starts anew, for another try.
func (s *spool) reset() (io.Writer, error) {
	err := s.close()
	s.buf.Reset()
	s.size = 0
	return s, err
}

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil && s.buf.Len()+len(p) <= spoolMemory {
		return s.buf.Write(p)
	}
	if s.file == nil {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.file.Write(p)
}

// spill goes on in a file that has no name any more, so that it ends with the process.
func (s *spool) spill() error {
	f, err := os.CreateTemp(s.dir, atomicfile.TempGlob)
	if err != nil {
		return err
	}
	s.file = f
	_, err = f.Write(s.buf.Bytes())
	return errors.Join(err, os.Remove(f.Name()))
}

func (s *spool) reader() io.ReaderAt {
	if s.file != nil {
		return s.file
	}
	return bytes.NewReader(s.buf.Bytes())
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
