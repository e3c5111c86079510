package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// place is a working directory and a home for one test.
type place struct{ dir, home string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir()}
	if err := os.MkdirAll(filepath.Join(p.home, ".config", "openspace"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) configFile() string {
	return filepath.Join(p.home, ".config", "openspace", "config.json")
}

func (p place) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p place) dotenv(t *testing.T, text string) { p.write(t, filepath.Join(p.dir, ".env"), text) }

func (p place) settings(environ ...string) *settings.Settings {
	return settings.New(settings.Options{Environ: append(environ, "HOME="+p.home), Dir: p.dir})
}

func TestLookupOrder(t *testing.T) {
	p := newPlace(t)
	p.write(t, p.configFile(), "{\n \"min_score\": 0.25\n}")
	p.dotenv(t, "OPENSPACE_MIN_SCORE=0.5\n")
	v, ok := p.settings("OPENSPACE_MIN_SCORE=0.75").Lookup("min-score")
	if !ok || v.Name != "min_score" || v.Value != "0.75" || v.Source != settings.Env || v.Where != "OPENSPACE_MIN_SCORE" {
		t.Errorf("got %+v, %v", v, ok)
	}
	if len(v.Shadowed) != 2 || v.Shadowed[0].Value != "0.5" || v.Shadowed[1].Value != "0.25" {
		t.Errorf("got shadowed %+v", v.Shadowed)
	}
	if v, _ := p.settings().Lookup("min_score"); v.Value != "0.5" || v.Source != settings.DotEnv {
		t.Errorf("got %+v", v)
	}
	if v, _ := p.settings("OPENSPACE_MIN_SCORE=").Lookup("min_score"); v.Value != "0.5" {
		t.Errorf("an empty variable: got %+v", v)
	}
	p.dotenv(t, "")
	v, _ = p.settings().Lookup("min_score")
	if v.Value != "0.25" || v.Source != settings.Config || v.Where != p.configFile()+":2" {
		t.Errorf("got %+v", v)
	}
	if v, ok := p.settings().Lookup("limit"); ok {
		t.Errorf("got %+v for a setting that nobody has", v)
	}
}

func TestDotEnv(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "OPENSPACE_LIMIT=3", "3"},
		{"export, quotes and a comment", "export OPENSPACE_LIMIT=\"3\" # three", "3"},
		{"cr lf", "A=1\r\nOPENSPACE_LIMIT=3\r\n", "3"},
		{"byte-order mark", "\xef\xbb\xbfOPENSPACE_LIMIT=3\n", "3"},
		{"empty file", "", ""},
		{"empty value", "OPENSPACE_LIMIT=\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.dotenv(t, tt.text)
			s := p.settings()
			if got := s.Getenv("OPENSPACE_LIMIT"); got != tt.want || len(s.Warnings()) > 0 || s.Err() != nil {
				t.Errorf("got %q, %v, %v, want %q", got, s.Warnings(), s.Err(), tt.want)
			}
		})
	}
}

// A .env that cannot be used is a warning, and the warning does not quote it.
func TestDotEnvBroken(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"no assignment", func(t *testing.T, path string) { os.WriteFile(path, []byte("hunter2 is my=\n\"password"), 0o644) }},
		{"a folder", func(t *testing.T, path string) { os.Mkdir(path, 0o755) }},
		{"a pipe that nobody writes to", func(t *testing.T, path string) { syscall.Mkfifo(path, 0o644) }},
		{"too large", func(t *testing.T, path string) { os.WriteFile(path, make([]byte, 2<<20), 0o644) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.make(t, filepath.Join(p.dir, ".env"))
			s := p.settings()
			w := s.Warnings()
			if len(w) != 1 || !strings.Contains(w[0], ".env") || strings.Contains(w[0], "hunter2") || strings.Contains(w[0], "\n") {
				t.Errorf("got warnings %q", w)
			}
			if s.Err() != nil {
				t.Errorf("got error %v", s.Err())
			}
		})
	}
}

func TestConfigValues(t *testing.T) {
	p := newPlace(t)
	p.write(t, p.configFile(), "\xef\xbb\xbf{\"limit\": 5, \"min_score\": 1e-3, \"source\": \"local\", \"all\": true,\r\n \"skill_dirs\": [\"/a,b\", \"/c\"], \"none\": []}\n")
	s := p.settings()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"limit": "5", "min_score": "1e-3", "source": "local", "all": "true", "skill-dirs": "/a,b,/c", "none": ""} {
		if v, ok := s.Lookup(name); !ok || v.Value != want {
			t.Errorf("%s: got %q, %v, want %q", name, v.Value, ok, want)
		}
	}
	if v, _ := s.Lookup("skill_dirs"); !slices.Equal(v.List, []string{"/a,b", "/c"}) {
		t.Errorf("got list %q", v.List)
	}
	if v, _ := s.Lookup("none"); v.List == nil || len(v.List) != 0 {
		t.Errorf("got list %v, want an empty one", v.List)
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ name, text, line, want string }{
		{"empty file", "", "1", "unexpected end of file"},
		{"cut", "{\n\"limit\": 5,\n", "2", "unexpected end of file"},
		{"no colon", "{\n\n\"limit\" 5}", "3", "after object key"},
		{"trailing comma", "{\n\"limit\": 5,\n}", "3", "looking for beginning of"},
		{"an array", "[1]", "1", "want a json object of settings"},
		{"an object inside", "{\"limit\":\n{}}", "2", `setting "limit": want a string, a number`},
		{"null", "{\"limit\": null}", "1", `setting "limit": want a string, a number`},
		{"list in a list", "{\"skill_dirs\": [[]]}", "1", `setting "skill_dirs": want a string, a number`},
		{"twice", "{\"limit\": 1,\n\"limit\": 2}", "2", `setting "limit" stands twice`},
		{"text after it", "{}\n{}", "2", "text after the json object"},
		{"not json", "limit = 5", "1", "invalid character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, p.configFile(), tt.text)
			err := p.settings().Err()
			if err == nil {
				t.Fatal("got no error")
			}
			if !strings.HasPrefix(err.Error(), p.configFile()+":"+tt.line+": ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want line %s, %q", err, tt.line, tt.want)
			}
		})
	}
}

func TestWarningsNameUnknownKeys(t *testing.T) {
	p := newPlace(t)
	p.write(t, p.configFile(), `{"limt": 5, "zzz": 1, "limit": 5, "own_flag": 1}`)
	got := p.settings().Warnings("own-flag")
	want := []string{
		p.configFile() + `:1: unknown setting "limt", did you mean "limit"?`,
		p.configFile() + `:1: unknown setting "zzz"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHome(t *testing.T) {
	p := newPlace(t)
	tests := []struct {
		name    string
		environ []string
		dotenv  string
		want    string
	}{
		{"default", nil, "", p.home + "/.local/share/openspace"},
		{"xdg", []string{"XDG_DATA_HOME=/data"}, "", "/data/openspace"},
		{"xdg that is relative does not count", []string{"XDG_DATA_HOME=data"}, "", p.home + "/.local/share/openspace"},
		{"own variable", []string{"OPENSPACE_HOME=/os/", "XDG_DATA_HOME=/data"}, "", "/os"},
		{"relative to the working directory", []string{"OPENSPACE_HOME=os"}, "", p.dir + "/os"},
		{"from .env", nil, "OPENSPACE_HOME=~/os", p.home + "/os"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.dotenv(t, tt.dotenv)
			if got := p.settings(tt.environ...).Home(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	s := settings.New(settings.Options{Dir: p.dir})
	if got := s.Home(); !filepath.IsAbs(got) {
		t.Errorf("without HOME: got %q, want an absolute path", got)
	}
	s = settings.New(settings.Options{Dir: p.dir, Environ: []string{"HOME=/h", "XDG_CONFIG_HOME=/c"}})
	if got := s.ConfigFile(); got != "/c/openspace/config.json" {
		t.Errorf("got %q", got)
	}
}

func TestNotedValues(t *testing.T) {
	p := newPlace(t)
	p.write(t, p.configFile(), `{"source": "local", "limit": 3}`)
	s := p.settings()
	s.Note(settings.Value{Name: "limit", Value: "7", Source: settings.Flag})
	if v, ok := s.Get("limit"); !ok || v.Value != "7" {
		t.Errorf("got %+v, %v", v, ok)
	}
	var got []string
	for _, v := range s.All() {
		got = append(got, v.Name+"="+v.Value+" "+string(v.Source))
	}
	if want := []string{"limit=7 flag", "source=local config"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNames(t *testing.T) {
	if got := settings.EnvName("min-score"); got != "OPENSPACE_MIN_SCORE" {
		t.Errorf("got %q", got)
	}
	if !slices.IsSorted(settings.Known()) {
		t.Errorf("Known is not sorted: %q", settings.Known())
	}
	for word, want := range map[string]string{"limti": "limit", "sourc": "source", "colour": "color", "zzzzz": "", "": "", "x": "", "skilldirs": "skill_dirs"} {
		if got := settings.Nearest(word, settings.Known()); got != want {
			t.Errorf("nearest to %q: got %q, want %q", word, got, want)
		}
	}
}

func TestMasked(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"OPENAI_API_KEY", "sk-1", "********"},
		{"openspace_token", "t", "********"},
		{"db_password", "p", "********"},
		{"client-secret", "s", "********"},
		{"clientsecret", "s", "********"},
		{"openai_apikey", "s", "********"},
		{"openai_api_key", "", ""},
		{"GITLAB_PAT", "s", "********"},
		{"githubtoken", "s", "********"},
		{"Authorization", "Basic s", "********"},
		{"DB_PWD", "s", "********"},
		{"PWD", "/work", "/work"},
		{"path", "/work", "/work"},
		{"keyword", "pdf", "pdf"},
		{"max_tokens", "100", "100"},
		{"monkey", "x", "x"},
		{"registry", "https://user:pw@example.com/x", "https://hidden@example.com/x"},
		{"limit", "5", "5"},
	}
	for _, tt := range tests {
		if got := settings.Masked(tt.name, tt.value); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
