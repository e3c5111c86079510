package cmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// awaitLimit is how long a server may take to start; it is not how long tests wait.
const awaitLimit = 2 * time.Minute

// await FILE…: wait until a server in the background has written each file.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await FILE...")
	}
	for _, name := range args {
		path := ts.MkAbs(name)
		for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				break
			}
			if time.Since(start) > awaitLimit {
				ts.Fatalf("%s has not come", name)
			}
		}
	}
}

// envfile VAR FILE [FIELD]: set a variable to the first word of a file, or of stdout. With a third argument such as record_id it is that field of
// the first line that is a JSON object and has it.
func envfile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: envfile VAR FILE [FIELD]")
	}
	text := ts.ReadFile(args[1])
	value := ""
	if len(args) == 2 {
		if words := strings.Fields(text); len(words) > 0 {
			value = words[0]
		}
	} else {
		value = fieldOf(text, args[2])
	}
	if value == "" {
		ts.Fatalf("%s has no value for %s", args[1], args[0])
	}
	ts.Setenv(args[0], value)
}

// fieldOf returns the text of a field of the first JSON line that has it.
func fieldOf(text, field string) string {
	for line := range strings.Lines(text) {
		var rec map[string]any
		if json.Unmarshal([]byte(line), &rec) != nil {
			continue
		}
		if value, ok := rec[field].(string); ok && value != "" {
			return value
		}
	}
	return ""
}
