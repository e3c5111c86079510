package cmd_test

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// records FILE WANT: compare JSON lines as a reader of the contract sees them: without record types and
// fields that begin with zz, whatever the order of fields, without measured times.
func records(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: records FILE WANT")
	}
	got, want := known(ts, ts.ReadFile(args[0])), known(ts, ts.ReadFile(args[1]))
	if got != want {
		ts.Fatalf("got records\n%s\nwant\n%s", got, want)
	}
}

// known returns the lines of a text that are not grease, each with its fields sorted.
func known(ts *testscript.TestScript, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		var rec map[string]any
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			ts.Fatalf("line %q: %v", line, err)
		}
		if typ, _ := rec["type"].(string); strings.HasPrefix(typ, "zz-") {
			continue
		}
		delete(rec, "elapsed_ms")
		for field := range rec {
			if strings.HasPrefix(field, "zz_") {
				delete(rec, field)
			}
		}
		data, err := json.Marshal(rec)
		ts.Check(err)
		out.Write(append(data, '\n'))
	}
	return out.String()
}
