package main

import (
	"strings"
	"testing"
)

// What looks like a secret is not shown, wherever it stands; everything else is.
func TestHideSecrets(t *testing.T) {
	tests := []struct{ text, want string }{
		{`"env": {"API_KEY": "abc", "PATH": "/bin"}`, `"env": {"API_KEY": "********", "PATH": "/bin"}`},
		{`api_key = 'abc'`, `api_key = "********"`},
		{`"API_KEY": ""`, `"API_KEY": ""`},
		{`"headers": {"Authorization": "Digest q", "X-Auth": "Bearer q"}`, `"headers": {"Authorization": "********", "X-Auth": "********"}`},
		{`"header": "X-Y: Bearer abc.def"`, `"header": "X-Y: Bearer ********"`},
		{`"args": ["-y", "--api-key", "abc", "--token=def", "--port", "80"]`, `"args": ["-y", "--api-key", "********", "--token=********", "--port", "80"]`},
		{`"url": "https://u:pw@x.example/mcp?api_key=abc&page=2"`, `"url": "https://u:********@x.example/mcp?api_key=********&page=2"`},
		{`"args": ["sk-live-123456", "AKIA0123456789"]`, `"args": ["********", "********"]`},
		{`"url": "http://127.0.0.1:8081/mcp", "command": "desk-lamp-of-mine"`, `"url": "http://127.0.0.1:8081/mcp", "command": "desk-lamp-of-mine"`},
	}
	for _, tt := range tests {
		if got := hideSecrets(tt.text); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	if got := hideSecrets(strings.Repeat(`"a": [`, 1000)); len(got) != 6000 {
		t.Errorf("got %d bytes", len(got))
	}
}
