package tools_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestCollect(t *testing.T) {
	tests := []struct {
		name       string
		chunks     []string
		half, room int
		want       string
		left       int64
	}{
		{"nothing", nil, 10, 20, "", 0},
		{"all of it", []string{"ab", "c\nd"}, 10, 20, "abc\nd", 0},
		{"head and tail", []string{"0123456789\nabcdefghij\nABCDEFGHIJ"}, 5, 10, "01234\n[… 22 bytes left out …]\nFGHIJ", 22},
		{"no half characters", []string{"ééééé\n", "üüüüü\n"}, 5, 10, "éé\n[… 13 bytes left out …]\nüü\n", 13},
		{"escape between chunks", []string{"a\x1b[3", "1mred\x1b", "[0m\n"}, 50, 100, "ared\n", 0},
		{"progress between chunks", []string{"10%\r", "20", "%\r30%", "\n"}, 50, 100, "30%\n", 0},
		{"long progress", []string{strings.Repeat("10%\r", 3000), "20%\r", "done\n"}, 50, 100, "done\n", 0},
		{"return and line end", []string{"a\r", "\nb\r\n"}, 50, 100, "a\nb\n", 0},
		{"progress without end", []string{"10%\r20%\r"}, 50, 100, "20%", 0},
		{"backspaces", []string{"abc\b\b\bxy\n"}, 50, 100, "xy\n", 0},
		{"control characters", []string{"a\x01\x7f\n"}, 50, 100, "a\\x01\\x7f\n", 0},
		{"binary", []string{"ab\x00cd"}, 50, 100, "[5 bytes that are no text]\n", 5},
		{"key over chunks", []string{"-----BEGIN PRIVATE KEY-----\nabc\n", "def\n", "-----END PRIVATE KEY-----\nx\n"}, 50, 100, "[secret]\nx\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var chunks [][]byte
			for _, c := range tt.chunks {
				chunks = append(chunks, []byte(c))
			}
			if got, left := tools.Collect(chunks, tt.half, tt.room, false); got != tt.want || left != tt.left {
				t.Errorf("got %q, %d left out, want %q, %d", got, left, tt.want, tt.left)
			}
		})
	}
}

// However an output is cut into pieces, what is shown of it is text, has its bounds, and is the same.
func FuzzCollect(f *testing.F) {
	f.Add([]byte("a\x1b[31mred\x1b[0m\r\nx\ry\b\bz\xff\n"), 3, 5, false)
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nabc\n"), 7, 100, true)
	f.Add(bytes.Repeat([]byte("line\n"), 100), 11, 40, false)
	f.Fuzz(func(t *testing.T, output []byte, piece, half int, raw bool) {
		half = 4 + int(uint(half)%1000)
		piece = 1 + int(uint(piece)%100)
		var chunks [][]byte
		for rest := output; len(rest) > 0; {
			n := min(piece, len(rest))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		whole, left := tools.Collect([][]byte{output}, half, 2*half, raw)
		if !utf8.ValidString(whole) || len(whole) > 2*half+100 || left < 0 {
			t.Errorf("got %q (%d bytes, %d left out), want valid text of %d bytes at most", whole, len(whole), left, 2*half)
		}
		if bytes.IndexByte(output, 0) >= 0 || raw && bytes.IndexByte(output, '\r') >= 0 {
			return // a later piece may tell that it is no text
		}
		if got, n := tools.Collect(chunks, half, 2*half, raw); got != whole || n != left {
			t.Errorf("got %q, %d left out, in pieces of %d, want %q, %d", got, n, piece, whole, left)
		}
		if !raw && strings.ContainsAny(whole, "\x1b\r\b") {
			t.Errorf("got %q, want no signs for terminals", whole)
		}
	})
}
