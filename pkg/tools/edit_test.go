package tools_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func TestEditFile(t *testing.T) {
	for _, tt := range []struct{ name, body, old, new, want, says string }{
		{"exact", "a\nb\nc\n", "b", "B", "a\nB\nc\n", "changed f.txt in 1 place\n1\ta\n2\tB\n3\tc\n"},
		{"a part of a line", "say hi now", "hi", "ho", "say ho now", ""},
		{"deletion", "a\nb\nc\n", "b\n", "", "a\nc\n", ""},
		{"PA-01: line ends of Windows", "a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nB2\n", "a\r\nB\r\nB2\r\nc\r\n", "the line ends differ"},
		{"PA-01: one line of them", "a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n", ""},
		{"line ends of Windows in the edit", "a\nb\nc\n", "a\r\nb\r\n", "a\r\nB\r\n", "a\nB\nc\n", ""},
		{"PA-02: a byte-order mark", "\xEF\xBB\xBFname: x\n", "name: x", "name: y", "\xEF\xBB\xBFname: y\n", ""},
		{"UTF-16", "\xFF\xFEa\x00\n\x00b\x00", "a\nb", "a\nc", "\xFF\xFEa\x00\n\x00c\x00", ""},
		{"quotes of typesetters", "say “hi” – now\n", `say "hi" - now`, `say "hi" - later`, "say “hi” – later\n", "quotes, dashes or blanks"},
		{"blanks at the ends", "if x:  \n    y()\t\n", "if x:\n    y()", "if x:\n    z()", "if x:  \n    z()\n", "blanks at the ends"},
		{"less indentation", "\tif x {\n\t\ty()\n\t}\n", "if x {\n\ty()\n}", "if x {\n\tz()\n\tw()\n}", "\tif x {\n\t\tz()\n\t\tw()\n\t}\n", "the indentation differs"},
		{"more indentation", "if x:\n  y()\n", "    if x:\n      y()", "    if x:\n      z()", "if x:\n  z()\n", "the indentation differs"},
		{"blanks for tabs", "\tif x {\n\t\ty()\n\t}\n", "    if x {\n        y()\n    }\n", "    if x {\n        z()\n    }\n", "\tif x {\n\t\tz()\n\t}\n", "the indentation differs"},
		{"tabs for blanks", "  if x {\n    y()\n  }\n", "\tif x {\n\t\ty()\n\t}\n", "\tif x {\n\t\tz()\n\t}\n", "  if x {\n    z()\n  }\n", "the indentation differs"},
		{"blanks within", "x  =  1\ny = 2\n", "x = 1\ny = 2\n", "x = 1\ny = 3\n", "x  =  1\ny = 3\n", "blanks within"},
		{"the last line without an end", "a\nb  ", "a\nb\n", "a\nc\n", "a\nc", ""},
		{"behind the last line", "a  \nb", "a\nb\n", "a\nb\nc\n", "a  \nb\nc", ""},
		{"line numbers that were shown", "a\nb\nc\n", "2\tb\n3\tc\n", "2\tB\n3\tc\n", "a\nB\nc\n", "it had line numbers"},
		{"deletion of lines that differ in blanks", "x\n  a()\n  b()\ny\n", "a()\nb()\n", "", "x\ny\n", "the indentation differs"},
		{"deletion of a part of them", "x\n  a()\n  b()\ny\n", "a()\nb()\n", "b()\n", "x\n  b()\ny\n", ""},
		{"blank lines around", "a\n  b\n", "\nb\n\n", "\nc\n\n", "a\n  c\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			s.put("f.txt", tt.body)
			r := s.run("edit_file", "path", "f.txt", "old_text", tt.old, "new_text", tt.new)
			if got := s.get("f.txt"); got != tt.want {
				t.Errorf("got %q (%s), want %q", got, r.Content, tt.want)
			}
			s.want(r, "", tt.says)
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	twice := "## First\nsteps:\n- run\n## Second\nsteps:\n- run\n"
	for _, tt := range []struct{ name, body, old, new, want string }{
		{"PA-06: found twice", twice, "steps:\n- run\n", "steps:\n- walk\n", "old_text is there 2 times, at lines 2, 5: give more lines around it, or set replace_all"},
		{"found twice loosely", "  a()\nx\n    a()\n", "a( )", "b()", "not in the file"},
		{"found twice with other blanks", "\ta()\nx\n\t\ta()\n", " a()", " b()", "at lines 1, 3"},
		{"not there, like a line", "alpha\nthe quick brown fox\nomega\n", "the quick brown dog", "x", "is not in the file. Nearest, with line numbers:\n2\tthe quick brown fox\nin line 2, old_text has \"the quick brown dog\""},
		{"not there, some lines are", "alpha\nbeta\ngamma\ndelta\n", "beta\nGAMMA\ndelta", "x", "2\tbeta\n3\tgamma\n4\tdelta\nin line 3, old_text has \"GAMMA\""},
		{"longer than what is there", "alpha\nbeta\n", "alpha\nbeta\ngamma\n", "x", "behind its end, old_text has \"gamma\""},
		{"not there at all", "alpha\n", "zzzzzz", "x", "nor anything like it: read the file again"},
		{"nothing to find", "alpha\n", "", "x", "is empty"},
		{"no difference", "alpha\n", "alpha", "alpha", "the same as the old"},
		{"indentation of several kinds", "  a\n      b\n", "a\nb", "c\nd", "not in the file"},
		{"PA-08: not UTF-8", "caf\xE9\nb\n", "b", "c", "not UTF-8"},
		{"not text", "a\x00b", "a", "c", "it is not text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			s.put("f.txt", tt.body)
			r := s.run("edit_file", "path", "f.txt", "old_text", tt.old, "new_text", tt.new)
			s.want(r, "invalid", tt.want)
			if got := s.get("f.txt"); got != tt.body {
				t.Errorf("got %q, want it unchanged", got)
			}
		})
	}
	s := newSpace(t)
	s.want(s.run("edit_file", "path", "f.txt", "old_text", "a", "new_text", "b"), "not_found", "does not exist")
	s.want(s.run("edit_file", "path", "f.txt"), "invalid", "give old_text and new_text, or edits")
}

func TestEditFileSeveral(t *testing.T) {
	s := newSpace(t)
	s.put("f.txt", "a\nb\nc\na\n")
	type m = map[string]any
	r := s.run("edit_file", "path", "f.txt", "edits", []m{{"old_text": "b", "new_text": "B"}, {"old_text": "x", "new_text": "y"}})
	s.want(r, "invalid", "f.txt was not changed: old_text of edit 2 is not in the file")
	if got := s.get("f.txt"); got != "a\nb\nc\na\n" {
		t.Errorf("got %q, want nothing changed", got)
	}
	r = s.run("edit_file", "path", "f.txt", "edits", []m{{"old_text": "c", "new_text": "C"}, {"old_text": "a", "new_text": "one\ntwo", "replace_all": true}})
	s.want(r, "", "changed f.txt in 3 places")
	s.want(r, "", "3\tb\n4\tC\n5\tone\n")
	if got := s.get("f.txt"); got != "one\ntwo\nb\nC\none\ntwo\n" {
		t.Errorf("got %q", got)
	}
	r = s.run("edit_file", "path", "f.txt", "edits", `[{"old_text":"b","new_text":"bb"}]`)
	s.want(r, "", "changed f.txt in 1 place")
}

// FuzzEdit: a failed edit changes nothing; one that was made leaves what is before and behind the shown lines as it was.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "B", false)
	f.Add("\tif x {\r\n\t\ty()\r\n\t}\r\n", "if x {\n\ty()\n}", "if x {\n\tz()\n}", false)
	f.Add("say “hi” – now\n", `"hi" -`, `"ho" -`, true)
	f.Add("a  \nb", "a\nb\n", "a\nb\nc\n", false)
	f.Add("x\xFFy", "x", "z", false)
	f.Add("1\t2\n", "1\t2\n", "2\t3\n", true)
	s := newSpace(f)
	f.Fuzz(func(t *testing.T, body, old, new string, all bool) {
		s.t = t
		s.put("f.txt", body)
		r := s.run("edit_file", "path", "f.txt", "old_text", old, "new_text", new, "replace_all", all)
		got := s.get("f.txt")
		if r.Failed() {
			if got != body {
				t.Errorf("failed (%s), and %q became %q", r.Error, body, got)
			}
			return
		}
		if got == body {
			t.Errorf("succeeded, and %q is unchanged", body)
		}
		plain := !strings.Contains(body+old+new, "\r") && !strings.HasPrefix(body, "\xEF") && !strings.HasPrefix(body, "\xFF") && !strings.HasPrefix(body, "\xFE")
		if want := strings.ReplaceAll(body, old, new); plain && utf8.ValidString(body+old+new) && strings.Contains(body, old) && got != want {
			t.Errorf("%q for %q in %q: got %q, want %q", new, old, body, got, want)
		}
		if all || strings.Contains(body, "\xFF") || strings.Contains(body, "\xFE") {
			return
		}
		// All that is new is in the new text, but for line ends and indentation.
		head, tail := 0, 0
		for head < len(body) && head < len(got) && body[head] == got[head] {
			head++
		}
		for tail < len(body)-head && tail < len(got)-head && body[len(body)-1-tail] == got[len(got)-1-tail] {
			tail++
		}
		if removed := strings.Fields(body[head : len(body)-tail]); len(strings.Join(removed, "")) > len(old)*3 {
			t.Errorf("%q for %q in %q took out %q", new, old, body, removed)
		}
	})
}

// Edits of one file that are asked for at once are all made.
func TestEditFileAtOnce(t *testing.T) {
	s := newSpace(t)
	const n = 16
	var body, want strings.Builder
	for i := range n {
		fmt.Fprintf(&body, "line <%d>\n", i)
		fmt.Fprintf(&want, "LINE <%d>\n", i)
	}
	s.put("f.txt", body.String())
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			s.want(s.run("edit_file", "path", "f.txt", "old_text", fmt.Sprintf("line <%d>", i), "new_text", fmt.Sprintf("LINE <%d>", i)), "", "changed")
		})
	}
	all.Wait()
	if got := s.get("f.txt"); got != want.String() {
		t.Errorf("got %q, want %q", got, want.String())
	}
}
