package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// table returns the rows of the first table after a heading of docs/jsonl.md, first and last cell.
func table(t *testing.T, heading, row string) [][]string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/jsonl.md")
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(`(?s)\n## ` + heading + `\n(.*?)(\n## |$)`).FindSubmatch(doc)
	if part == nil {
		t.Fatalf("docs/jsonl.md has no part %q", heading)
	}
	var rows [][]string
	for _, m := range regexp.MustCompile(row).FindAllSubmatch(part[1], -1) {
		rows = append(rows, []string{string(m[1]), string(m[2])})
	}
	return rows
}

func TestCodesAsDocumented(t *testing.T) {
	rows := table(t, "Errors", "(?m)^\\| `([a-z_]+)` \\| .* \\| (\\d+) \\|$")
	codes := wire.Codes()
	if len(rows) != len(codes) || len(codes) != 14 {
		t.Fatalf("got %d codes, documented are %d, want 14", len(codes), len(rows))
	}
	for i, code := range codes {
		if string(code) != rows[i][0] || strconv.Itoa(code.Exit()) != rows[i][1] {
			t.Errorf("got %s %d, documented is %s %s", code, code.Exit(), rows[i][0], rows[i][1])
		}
	}
}

func TestStatusesAsDocumented(t *testing.T) {
	rows := table(t, "Exit statuses", `(?m)^\| (\d+) \| (.*) \|$`)
	statuses := wire.Statuses()
	if len(rows) != len(statuses) {
		t.Fatalf("got %d statuses, documented are %d", len(statuses), len(rows))
	}
	known := map[int]bool{}
	for i, s := range statuses {
		known[s.Exit] = true
		if strconv.Itoa(s.Exit) != rows[i][0] || s.Meaning != rows[i][1] {
			t.Errorf("got %d %q, documented is %s %q", s.Exit, s.Meaning, rows[i][0], rows[i][1])
		}
	}
	for _, code := range wire.Codes() {
		if !known[code.Exit()] {
			t.Errorf("status %d of %s is not in the table", code.Exit(), code)
		}
	}
}

func TestRecordTypesAsDocumented(t *testing.T) {
	rows := table(t, "Records", "(?m)^\\| `([a-z]+)` \\|()")
	recs := examples()
	if len(rows) != len(recs) {
		t.Fatalf("got %d records, documented are %d", len(recs), len(rows))
	}
	for i, rec := range recs {
		line, _ := jsonl.Marshal(rec.Typed())
		var head struct{ Type string }
		if err := jsonl.Unmarshal(line, &head); err != nil || head.Type != rows[i][0] {
			t.Errorf("got %q, %v, documented is %q", head.Type, err, rows[i][0])
		}
	}
}

func TestUnknownCodeIsInternal(t *testing.T) {
	var e wire.Error
	if err := jsonl.Unmarshal([]byte(`{"type":"error","code":"quota","message":"m"}`), &e); err != nil || e.Code != wire.Internal {
		t.Errorf("got %q, %v, want %q", e.Code, err, wire.Internal)
	}
	if got := wire.Code("quota").Exit(); got != wire.StatusFailed {
		t.Errorf("got status %d, want %d", got, wire.StatusFailed)
	}
}

func TestCodeOf(t *testing.T) {
	inner := wire.Errorf(wire.RateLimited, "wait").WithHint("in %d s", 5)
	tests := []struct {
		name string
		err  error
		want wire.Code
	}{
		{"nil", nil, ""},
		{"plain", errors.New("x"), wire.Internal},
		{"direct", inner, wire.RateLimited},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", inner)), wire.RateLimited},
		{"joined", errors.Join(errors.New("x"), inner), wire.RateLimited},
		{"rewrapped: the outer code counts", wire.Errorf(wire.Auth, "login: %w", inner), wire.Auth},
		{"canceled", fmt.Errorf("a: %w", context.Canceled), wire.Canceled},
		{"file", fs.ErrNotExist, wire.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wire.CodeOf(tt.err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAsError(t *testing.T) {
	inner := wire.Errorf(wire.NotFound, "no skill %q: %w", "x", fs.ErrNotExist).WithHint("look elsewhere")
	got := wire.AsError(fmt.Errorf("show: %w", inner))
	if got.Code != wire.NotFound || got.Message != `show: no skill "x": file does not exist` || got.Hint != "look elsewhere" || got.Type != "error" {
		t.Errorf("got %+v", got)
	}
	if !errors.Is(got, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	if inner.Message != `no skill "x": file does not exist` {
		t.Errorf("the inner error was changed: %q", inner.Message)
	}
	if wire.AsError(nil) != nil {
		t.Error("want nil for nil")
	}
	if got := wire.AsError(errors.New("x")); got.Code != wire.Internal || got.Message != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestErrorfKeepsAllThatIsWrapped(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	err := wire.Errorf(wire.Invalid, "%w: %w", one, two)
	if !errors.Is(err, one) || !errors.Is(err, two) || err.Error() != "one: two" {
		t.Errorf("got %v", err)
	}
}
