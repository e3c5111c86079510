package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// read returns what a reader yields: "number:text" for a line, "number!" for one that is too long.
func read(t *testing.T, r io.Reader) []string {
	t.Helper()
	var got []string
	in := jsonl.NewReader(r)
	for {
		line, err := in.Next()
		var tooLong *jsonl.TooLongError
		switch {
		case err == io.EOF:
			return got
		case errors.As(err, &tooLong):
			got = append(got, fmt.Sprintf("%d!", tooLong.Line))
		case err != nil:
			t.Fatalf("read: %v", err)
		default:
			got = append(got, fmt.Sprintf("%d:%s", line.Num, line.Data))
		}
	}
}

func TestReaderLines(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"only blank lines", "\n \n\t\r\n", ""},
		{"one line", "a\n", "1:a"},
		{"last line without end", "a\nb", "1:a 2:b"},
		{"blank lines count", "\n\na\n\nb\n", "3:a 5:b"},
		{"cr lf", "a\r\nb\r\n", "1:a 2:b"},
		{"white space around", "  a  \n\tb", "1:a 2:b"},
		{"byte-order mark", "\xef\xbb\xbfa\n\xef\xbb\xbfb", "1:a 2:\xef\xbb\xbfb"},
		{"only a byte-order mark", "\xef\xbb\xbf", ""},
		{"nul bytes stay", "a\x00b\n", "1:a\x00b"},
		{"not utf-8 stays", "\xff\xfe\n", "1:\xff\xfe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.in), "bytewise": iotest.OneByteReader(strings.NewReader(tt.in)),
				"data with end": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				if got := strings.Join(read(t, r), " "); got != tt.want {
					t.Errorf("%s: got %q, want %q", name, got, tt.want)
				}
			}
		})
	}
}

// Lengths around the buffer and the cap: nothing is lost, joined or cut.
func TestReaderLengths(t *testing.T) {
	const buffer = 64 << 10
	for _, n := range []int{buffer - 2, buffer - 1, buffer, buffer + 1, 2*buffer - 1, 2 * buffer, jsonl.MaxLine - 2,
		jsonl.MaxLine - 1, jsonl.MaxLine, jsonl.MaxLine + 1, jsonl.MaxLine + buffer} {
		for _, end := range []string{"\n", ""} {
			in := "first\n" + strings.Repeat("x", n) + end
			if end != "" {
				in += "last"
			}
			got := read(t, strings.NewReader(in))
			long := n+len(end) > jsonl.MaxLine
			want := 2
			if end != "" {
				want = 3
			}
			if len(got) != want || got[0] != "1:first" || (got[1] == "2!") != long {
				t.Fatalf("length %d, end %q: got %d lines, too long %v, want %d, %v", n, end, len(got), got[1] == "2!", want, long)
			}
			if !long && len(got[1]) != n+2 {
				t.Errorf("length %d: got %d bytes", n, len(got[1])-2)
			}
			if end != "" && got[2] != "3:last" {
				t.Errorf("length %d: got %.20q after it", n, got[2])
			}
		}
	}
}

func TestReaderKeepsSourceError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "a\npart", strings.Repeat("x", 100<<10), strings.Repeat("x", jsonl.MaxLine+1)} {
		r := jsonl.NewReader(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)))
		var err error
		for n := 0; err == nil && n < 3; n++ {
			_, err = r.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: got error %v, want %v", len(in), err, broken)
		}
	}
}

// The hook runs whenever no whole line is left, and not between lines that are there already.
func TestReaderBeforeBlock(t *testing.T) {
	var events []string
	src := io.MultiReader(strings.NewReader("a\nb\nc"), strings.NewReader("c\n"), strings.NewReader("d\n"))
	r := jsonl.NewReader(src)
	r.BeforeBlock(func() error { events = append(events, "flush"); return nil })
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		events = append(events, string(line.Data))
	}
	if got, want := strings.Join(events, " "), "flush a b flush cc flush d flush"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	broken := errors.New("no reader")
	r.BeforeBlock(func() error { return broken })
	if _, err := r.Next(); err != broken {
		t.Errorf("got %v, want the error of the hook", err)
	}
}

// FuzzReader holds that a reader makes progress, ends, keeps every byte that is not white space and never
// yields a blank line or a newline.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "{}", "{}\n{}\n", "\n\n", "x\n{}", "\xef\xbb\xbfa\r\n\r\nb", "\x00\n\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := jsonl.NewReader(iotest.HalfReader(bytes.NewReader(data)))
		var all []byte
		for last := 0; ; {
			line, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if line.Num <= last || len(line.Data) == 0 || bytes.ContainsRune(line.Data, '\n') {
				t.Fatalf("line %d after %d: %q", line.Num, last, line.Data)
			}
			last = line.Num
			all = append(all, line.Data...)
		}
		if got, want := squeeze(all), squeeze(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// squeeze leaves out what bytes.TrimSpace may cut.
func squeeze(b []byte) []byte { return bytes.Join(bytes.Fields(b), nil) }

func BenchmarkReader(b *testing.B) {
	data := []byte(strings.Repeat(strings.Repeat("x", 349)+"\n", 10000))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		in := jsonl.NewReader(bytes.NewReader(data))
		for {
			if _, err := in.Next(); err != nil {
				break
			}
		}
	}
}
