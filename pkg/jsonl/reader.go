package jsonl

import (
	"bufio"
	"bytes"
	"io"
)

// Line is one line of input that is not blank.
type Line struct {
	Num  int    // the line's number, from 1; blank lines count
	Data []byte // without surrounding white space; valid until the next call of Next
}

// Reader yields lines.
type Reader struct {
	src  source
	in   *bufio.Reader
	num  int
	long []byte // a line that is longer than the buffer is put together here
}

// source runs a function before each read: bufio asks for more only when it has no whole line left.
type source struct {
	r      io.Reader
	before func() error
}

func (s *source) Read(p []byte) (int, error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, err
		}
	}
	return s.r.Read(p)
}

// NewReader returns a reader of lines from r.
func NewReader(r io.Reader) *Reader {
	res := &Reader{src: source{r: r}}
	res.in = bufio.NewReaderSize(&res.src, bufferSize)
	return res
}

// BeforeBlock makes the reader call f before each read that may block, that is whenever no whole line
// is left in the buffer. A filter flushes its output there, so that it is fast on a file and still
// answers each line of a slow peer at once. An error of f is returned by Next.
func (r *Reader) BeforeBlock(f func() error) { r.src.before = f }

// Next returns the next line that is not blank. It returns io.EOF after the last one and a
// *TooLongError for a line over MaxLine; after that the next call goes on with the line that follows.
// Any other error comes from the source and ends the stream.
func (r *Reader) Next() (Line, error) {
	for {
		data, err := r.next()
		if err != nil {
			return Line{}, err
		}
		if r.num == 1 {
			data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			return Line{Num: r.num, Data: data}, nil
		}
	}
}

// next returns one line with its end; the last line may lack one.
func (r *Reader) next() ([]byte, error) {
	data, err := r.in.ReadSlice('\n')
	if err == nil || err == io.EOF && len(data) > 0 {
		r.num++
		return data, nil
	}
	if err != bufio.ErrBufferFull {
		return nil, err
	}
	r.num++
	r.long = append(r.long[:0], data...)
	for err == bufio.ErrBufferFull && len(r.long) <= MaxLine {
		data, err = r.in.ReadSlice('\n')
		r.long = append(r.long, data...)
	}
	if len(r.long) > MaxLine {
		return nil, r.skip(err)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return r.long, nil
}

// skip reads to the end of a line that is too long; err is what the last read returned.
func (r *Reader) skip(err error) error {
	r.long = nil
	for err == bufio.ErrBufferFull {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	return &TooLongError{Line: r.num}
}
