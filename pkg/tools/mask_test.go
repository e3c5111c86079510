package tools_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestMask(t *testing.T) {
	m := tools.NewMask("canary-value-1", "canary-value-12", "short", "ollama")
	letters := strings.Repeat("aB3", 12)
	tests := []struct{ name, text, want string }{
		{"plain", "a normal text: key of the door, password reset", "a normal text: key of the door, password reset"},
		{"known", "x=canary-value-1!", "x=[secret]!"},
		{"the longer of two", "canary-value-12", "[secret]"},
		{"too short", "short ollama", "short ollama"},
		{"github", "t ghp_" + letters + " u", "t [secret] u"},
		{"openai", "sk-proj-" + letters, "[secret]"},
		{"a file name", "sk-learn and task-list-of-all-things-done", "sk-learn and task-list-of-all-things-done"},
		{"aws", "AKIAIOSFODNN7EXAMPLE", "[secret]"},
		{"assignment", "OPENSPACE_API_KEY=" + letters, "OPENSPACE_API_KEY=[secret]"},
		{"yaml", `  "password": "` + letters + `"`, `  "password": "[secret]"`},
		{"code", "token = os.environ['X']", "token = os.environ['X']"},
		{"header", "Authorization: Bearer " + letters, "Authorization: Bearer [secret]"},
		{"address", "https://me:" + letters + "@example.org/x", "https://me:[secret]@example.org/x"},
		{"time", "at http://localhost:8080/a@b", "at http://localhost:8080/a@b"},
		{"jwt", "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "[secret]"},
		{"pem", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nnext", "[secret]\nnext"},
		{"pem cut", "-----BEGIN PRIVATE KEY-----\nMIIE", "[secret]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := m.Text(tt.text)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if again := m.Text(got); again != got {
				t.Errorf("got %q the second time, want %q", again, got)
			}
		})
	}
	var none *tools.Mask
	if got := none.Text("ghp_" + letters); got != "[secret]" {
		t.Errorf("got %q without known values, want [secret]", got)
	}
}

// A known value never stays, whatever stands around it.
func FuzzMask(f *testing.F) {
	f.Add("ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "value-of-it")
	f.Add("password: x", "password")
	f.Fuzz(func(t *testing.T, text, inner string) {
		secret := "<" + inner + ">" // signs that the stars do not have
		got := tools.NewMask(secret).Text(text + secret + text)
		if len(secret) >= 6 && strings.Contains(got, secret) {
			t.Errorf("got %q, want no %q in it", got, secret)
		}
	})
}
