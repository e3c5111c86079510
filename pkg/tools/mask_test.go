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

// maskPieces are what texts are made of in which keys are hard to find.
var maskPieces = []string{
	"ghp_", "github_pat_", "sk-", "rk_live_", "AKIA", "AIza", "ya29.", "xoxb-", "SG.", "eyJ", "Bearer", "basic", "://", "http", "user", "@", ":", "=", "/", ".", "-", "_",
	" ", "\t", "\n", "\"", "'", "api_key", "secret", "token", "access", "password", "ABCDEFGH", "abcdefgh", "12345678", "é", "\xff", "-----BEGIN ", "PRIVATE KEY", "-----", "-----END ",
}

// Looking where the hints are finds what the patterns find in the whole text.
func FuzzMaskShapes(f *testing.F) {
	f.Add([]byte("abcdefghij"))
	f.Fuzz(func(t *testing.T, chosen []byte) {
		var b strings.Builder
		for _, c := range chosen[:min(len(chosen), 500)] {
			b.WriteString(maskPieces[int(c)%len(maskPieces)])
		}
		var none *tools.Mask
		if got, want := none.Text(b.String()), tools.MaskWhole(b.String()); got != want {
			t.Errorf("%q: got %q, want %q", b.String(), got, want)
		}
	})
}

// Texts in which every line hints at a key take about as long for a byte as short ones: nothing is looked at again and again.
func BenchmarkMask(b *testing.B) {
	for name, line := range map[string]string{
		"plain":    "just a line of a log with some words in it and a number 12345\n",
		"hints":    "the token of the key: eyes on the password secret 'ok' http://a.b/c basic bearer\n",
		"values":   "password: x, api_key=short token: none\n",
		"one line": `{"tokens":123,"key":"abc","url":"https://x.y/z"},`,
		"one run":  "xai-eyJaapi_key=sk-",
	} {
		text := strings.Repeat(line, (1<<20)/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tools.NewMask("canary-value-1").Text(text)
			}
		})
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
