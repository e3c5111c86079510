package ignore_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/ignore"
)

func TestIgnored(t *testing.T) {
	for _, tt := range []struct {
		name, rules, path string
		dir, want         bool
	}{
		{"a name anywhere", "*.log\n", "a/b/x.log", false, true},
		{"anchored by a slash", "/x.log\n", "a/x.log", false, false},
		{"folders only, a file", "build/\n", "build", false, false},
		{"folders only, a folder", "build/\n", "a/build", true, true},
		{"taken back", "*.log\n!keep.log\n", "keep.log", false, false},
		{"the last rule wins", "!keep.log\n*.log\n", "keep.log", false, true},
		{"a comment", "# x\n", "# x", false, false},
		{"blanks at the end", "x.log   \n", "x.log", false, true},
		{"a line end of Windows", "x.log\r\n", "x.log", false, true},
		{"a byte-order mark", "\ufeffx.log\n", "x.log", false, true},
		{"braces are letters", "{a,b}\n", "a", false, false},
		{"what is inside a folder", "a/**\n", "a/x", false, true},
		{"the folder itself", "a/**\n", "a", true, false},
		{"a broken pattern", "[\n", "[", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (ignore.Set{}).With(".", tt.rules).Ignored(tt.path, tt.dir); got != tt.want {
				t.Errorf("Ignored(%q) with %q: got %v, want %v", tt.path, tt.rules, got, tt.want)
			}
		})
	}
}

func TestNearestFileWins(t *testing.T) {
	outer := (ignore.Set{}).With(".", "*.log\n")
	inner := outer.With("a", "!*.log\n")
	if !outer.Ignored("a/x.log", false) || inner.Ignored("a/x.log", false) || !inner.Ignored("x.log", false) {
		t.Error("the rules of a folder must count below it, before those of the folders above, and leave the outer set as it was")
	}
}

func FuzzIgnored(f *testing.F) {
	f.Add("*.log\n!a/[b-c]\n", "a/b")
	f.Add("a/**/b\\ \n[[:alpha:]]*/\n", "a/x/y/b")
	f.Fuzz(func(t *testing.T, rules, path string) {
		plain := (ignore.Set{}).With(".", rules)
		windows := (ignore.Set{}).With(".", strings.ReplaceAll(rules, "\n", "\r\n"))
		if !strings.Contains(rules, "\r") && plain.Ignored(path, true) != windows.Ignored(path, true) {
			t.Errorf("rules %q decide otherwise about %q when their lines end as on Windows", rules, path)
		}
	})
}
