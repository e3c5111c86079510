package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/llm"
)

// checkReply fails when a reply breaks what callers rely on.
func checkReply(t *testing.T, r llm.Reply) {
	t.Helper()
	ids := map[string]bool{}
	for _, c := range r.Message.ToolCalls {
		if c.ID == "" || ids[c.ID] {
			t.Errorf("id %q is empty or there twice", c.ID)
		}
		ids[c.ID] = true
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Arguments), &args); c.Problem == "" && (err != nil || c.Name == "") {
			t.Errorf("call %q with arguments %q: %v", c.Name, c.Arguments, err)
		}
	}
	if (r.Finish == llm.Called) && len(ids) == 0 {
		t.Error("called without calls")
	}
	if u := r.Usage; u.Input < 0 || u.Output < 0 || u.Cached > u.Input || u.Reasoning > u.Output {
		t.Errorf("usage %+v", u)
	}
	if _, err := json.Marshal(r.Message); err != nil {
		t.Errorf("no JSON: %v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		": ping\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\"}}]}}]}\r\n\r\n",
		"data: {\"error\":{\"message\":\"no\",\"code\":500}}\n\n", "event: error\ndata: {\"message\":\"x\"}\n\n",
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":{"function":{"name":"x","arguments":{}}}},"finish_reason":"length"}],"usage":{"prompt_tokens":-1,"total_tokens":9e99}}`,
		`{"error":"x"}`, `[{"error":{"code":1}}]`, "<html>", "", "data: x\n\n", "[1]", "\n {}", `{"choices":[{"delta":{"reasoning_details":[{"index":0,"text":"a"},{"index":0,"text":1},null]}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := llm.ReadAnswer(body, "text/event-stream"); err == nil {
			checkReply(t, r)
		}
	})
}

// Tool calls whose arguments come in any pieces, with or without index and id, are put together as they were.
func FuzzToolCalls(f *testing.F) {
	f.Add("tea", "milk", uint16(0b1011), uint8(0))
	f.Add(`"{}`, "\\", uint16(0), uint8(1))
	f.Add("", "", uint16(0xffff), uint8(2))
	f.Add("", "", uint16(0x0001), uint8(3))
	f.Fuzz(func(t *testing.T, a, b string, cuts uint16, mode uint8) {
		if !utf8.ValidString(a + b) {
			return
		}
		var stream strings.Builder
		var want []string
		for i, text := range []string{a, b} {
			args, _ := json.Marshal(map[string]string{"q": text, "n": fmt.Sprint(i)})
			want = append(want, string(args))
			for n, piece := range cutUp(string(args), cuts) {
				d := map[string]any{"function": map[string]any{"arguments": piece}}
				if mode%4 != 1 { // 1: told by the id only
					d["index"] = i
				}
				if mode%4 == 1 || mode%4 == 2 || n == 0 && mode%4 == 0 {
					d["id"] = fmt.Sprintf("c%d", i)
				}
				if n == 0 {
					d["function"].(map[string]any)["name"] = "find"
				}
				data, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{d}}}}})
				fmt.Fprintf(&stream, "data: %s\n\n", data)
			}
		}
		stream.WriteString("data: [DONE]\n\n")
		r, err := llm.ReadAnswer([]byte(stream.String()), "")
		if err != nil {
			t.Fatal(err)
		}
		checkReply(t, r)
		if c := r.Message.ToolCalls; len(c) != 2 || c[0].Arguments != want[0] || c[1].Arguments != want[1] || c[0].Problem+c[1].Problem != "" {
			t.Errorf("got %+v, want %q of\n%s", c, want, stream.String())
		}
	})
}

// cutUp cuts a text at the bytes whose bit is set, between characters.
func cutUp(s string, cuts uint16) (out []string) {
	from := 0
	for i := range s {
		if i > from && cuts&(1<<(i%16)) != 0 {
			out, from = append(out, s[from:i]), i
		}
	}
	return append(out, s[from:])
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"type":"replay","version":1,"reader":1,"model":"m"}` + "\n" + `{"type":"tools","tools_id":1,"tools":[{"name":"x"}]}` + "\n" +
		`{"type":"exchange","n":1,"messages":[{"role":"user","content":"{{workspace}} {{{{workspace}}}}"}],"reply":{"message":{"role":"assistant","content":"a"}}}` + "\n" +
		`{"type":"exchange","n":2,"after":1,"messages":[{"role":"tool","content":"12ms"}],"tools_id":1,"error":{"kind":"server"}}` + "\n"))
	f.Add([]byte(`{"type":"replay","version":9,"reader":9}`))
	f.Add([]byte("{}\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := llm.ReadReplay(data)
		var bad *llm.ReplayError
		if err != nil {
			if !errors.As(err, &bad) || bad.Message == "" {
				t.Errorf("got %v", err)
			}
			return
		}
		for _, text := range []string{"x", "/w {{workspace}}"} {
			if _, err := m.Chat(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: text}}}); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
	})
}

// Placeholders bring back what was there, for the run that wrote them.
func FuzzPlaces(f *testing.F) {
	f.Add("in /tmp/work/a and /tmp/work2 and {{workspace}} /home/x.")
	f.Add("{{{{workspace}}}} {{home}}/tmp/work{{")
	f.Fuzz(func(t *testing.T, s string) {
		o := llm.RecordOptions{Places: []llm.Place{{Name: "workspace", Path: "/tmp/work"}, {Name: "home", Path: "/home/x/"}}}
		if stored, back := llm.InOut(o, s); back != s {
			t.Errorf("got %q by way of %q, want %q", back, stored, s)
		}
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"a","metadata":{"raw":"{\"error\":{\"message\":\"b\"}}"}}}`, `{"detail":[1]}`, "<html>", "", "{}", `[[[[`, `{"errors":null,"message":7}`} {
		f.Add(400, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		words, kind := llm.ParseError(status, body)
		if kind == "" || strings.ContainsAny(words, "\n\r") || !utf8.ValidString(words) || len(words) > 4000 {
			t.Errorf("got %q %q", kind, words)
		}
	})
}

func TestPlacesAreWholeNames(t *testing.T) {
	o := llm.RecordOptions{Places: []llm.Place{{Name: "w", Path: "/tmp/work"}, {Name: "deep", Path: "/tmp/work/deep"}}}
	for s, want := range map[string]string{
		"/tmp/work": "{{w}}", "/tmp/work/a": "{{w}}/a", "cd /tmp/work; ls": "cd {{w}}; ls", "/tmp/work2": "/tmp/work2", "/tmp/work.bak": "/tmp/work.bak",
		"It is /tmp/work.": "It is {{w}}.", "/tmp/work/deep/x": "{{deep}}/x", "x/tmp/work": "x/tmp/work", "file:///tmp/work/a": "file://{{w}}/a", "/tmp/work-2": "/tmp/work-2",
	} {
		if got, _ := llm.InOut(o, s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

// docs/format-replay.md lists the rules; what they must leave alone stands here too.
func TestWithoutTimes(t *testing.T) {
	for _, tt := range []struct {
		role       llm.Role
		text, want string
	}{
		{llm.ToolRole, "at 2026-12-01T14:21:05Z and 14:21:05.123", "at <time> and <time>"},
		{llm.ToolRole, "-rw-r--r-- 1 a a 120 Dec  1 14:21 a.csv", "-rw-r--r-- <owner> 120 <time> a.csv"},
		{llm.ToolRole, "total 8\ndrwxr-xr-x  6 me users 4096 Dec  1 14:21 ..\nlrwxrwxrwx 1 0 0 7 2026-12-01 14:21 x -> y", "total <size>\ndrwxr-xr-x <owner> <time> ..\nlrwxrwxrwx <owner> 7 <time> x -> y"},
		{llm.ToolRole, "total 8\n", "total 8\n"},
		{llm.ToolRole, "Tue Dec  1 14:21:05 UTC 2026", "<time>"},
		{llm.ToolRole, "Tue Dec  1 02:21:05 PM CET 2026\nTue Dec 1 14:21:05 2026", "<time>\n<time>"},
		{llm.ToolRole, "Date: Tue, 01 Dec 2026 14:21:05 GMT\n", "Date: <time>\n"},
		{llm.ToolRole, `took 12ms, 1.5 s, {"elapsed_ms": 12}`, "took <duration>, <duration>, {<duration>}"},
		{llm.ToolRole, "[1] 4711 pid 99 PID: 7", "<pid> <pid> <pid>"},
		{llm.ToolRole, "/tmp/go-build8213764/x /tmp/tmp.a8Xk2Lq9Zv", "<tmp>/x <tmp>"},
		{llm.ToolRole, "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "<id>"},
		{llm.ToolRole, "born 2026-12-01, 3 rows, 42", "born 2026-12-01, 3 rows, 42"},
		{llm.System, "today is 2026-12-01", "today is <time>"},
		{llm.System, "wait 3 s", "wait 3 s"},
		{llm.User, "at 2026-12-01T14:21:05Z in 3 s", "at 2026-12-01T14:21:05Z in 3 s"},
	} {
		if got := llm.WithoutTimes(tt.role, tt.text); got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.role, tt.text, got, tt.want)
		}
	}
}

func TestRetryAfterHeaders(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second}, {"Retry-After", "0.5", 500 * time.Millisecond}, {"Retry-After", "Tue, 01 Dec 2026 12:00:30 GMT", 30 * time.Second},
		{"Retry-After", "Tue, 01 Dec 2026 11:00:00 GMT", 0}, {"Retry-After", "-3", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "NaN", 0}, {"Retry-After-Ms", "20", 20 * time.Millisecond}, {"Retry-After", "Inf", 24 * time.Hour},
	} {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if got := llm.RetryAfter(h, now); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

// The page names every rule of the table and every kind of error.
func TestPagesAreComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/format-replay.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{"<time>", "<duration>", "<pid>", "<id>", "<tmp>"} {
		if !strings.Contains(string(text), "`"+mark+"`") {
			t.Errorf("docs/format-replay.md does not name %s", mark)
		}
	}
	if text, err = os.ReadFile("../../docs/models.md"); err != nil {
		t.Fatal(err)
	}
	for _, row := range llm.Table() {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/models.md does not name %s", row)
		}
	}
}
