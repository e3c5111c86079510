package settings_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// One bad line of .env takes no other with it, and no text of the file gets into a warning.
func TestDotEnvKeepsGoodLines(t *testing.T) {
	const good = "OPENSPACE_LIMIT=3\n"
	tests := []struct {
		name, text string
		want       []string // what warnings end with, after the path
	}{
		{"bad line before", "this is secret\n" + good, []string{":1: ignored: not of the form NAME=value"}},
		{"bad line after", good + "- secret\n", []string{":2: ignored: not of the form NAME=value"}},
		{"value over lines", "KEY='a\nb secret\nc'\n" + good, nil},
		{"value over lines beside a bad one", "KEY=\"a\nb secret\nc\"\n-- secret\n" + good, []string{":4: ignored: not of the form NAME=value"}},
		{"quote that runs on", "KEY=\"secret\n" + good, []string{":1: ignored: not of the form NAME=value"}},
		{"many", strings.Repeat("- secret\n", 9) + good, []string{
			":1: ignored: not of the form NAME=value", ":2: ignored: not of the form NAME=value", ":3: ignored: not of the form NAME=value",
			": 6 more lines are not of the form NAME=value and are ignored"}},
		{"variable above", "- secret\nN=3\nOPENSPACE_LIMIT=${N}\n", []string{":1: ignored: not of the form NAME=value"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.dotenv(t, tt.text)
			s := p.settings()
			if v, _ := s.Lookup("limit"); v.Value != "3" {
				t.Errorf("got limit %q, want 3", v.Value)
			}
			var want []string
			for _, w := range tt.want {
				want = append(want, filepath.Join(p.dir, ".env")+w)
			}
			if got := s.Warnings(); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
				t.Errorf("got warnings %q, want %q", got, want)
			}
		})
	}
}

// HOME may be that of another user: a config file that must not be read is no reason to do nothing.
func TestConfigFileNotReadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	p := newPlace(t)
	p.write(t, p.configFile(), "{")
	if err := os.Chmod(p.configFile(), 0); err != nil {
		t.Fatal(err)
	}
	s := p.settings()
	if w := strings.Join(s.Warnings(), "\n"); s.Err() != nil || !strings.Contains(w, "permission") || !strings.Contains(w, "HOME") {
		t.Errorf("got %v, warnings %q, want only a warning", s.Err(), w)
	}
}

// Without HOME the system's list of users is asked; without that the home is a place where nothing can be.
func TestHomeWithoutHOME(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "passwd")
	for _, tt := range []struct{ name, passwd, want string }{
		{"listed", "root:x:%d0:0:r:/wrong:/bin/sh\nme:x:%d:5:Me:/home/me/:/bin/sh\n", "/home/me/.local/share/openspace"},
		{"not listed", "me:x:%d0:5:Me:/home/me:/bin/sh\n", "/dev/null/.local/share/openspace"},
		{"relative", "me:x:%d:5:Me:home:/bin/sh\n", "/dev/null/.local/share/openspace"},
		{"cut off", "me:x:%d\n", "/dev/null/.local/share/openspace"},
		{"no list", "", "/dev/null/.local/share/openspace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(tt.passwd, "%d", strconv.Itoa(os.Getuid()))
			if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s := settings.New(settings.Options{Dir: dir, Passwd: list})
			if got := s.Home(); got != tt.want || s.Err() != nil {
				t.Errorf("got %q, %v, want %q", got, s.Err(), tt.want)
			}
		})
	}
}
