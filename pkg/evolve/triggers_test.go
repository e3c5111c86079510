package evolve

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// B10, vector 16: only a yes is a yes.
func TestVector16Confirmation(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"proceed": "false"}`:              false,
		"i cannot confirm this is needed":   false,
		"maybe":                             false,
		"yes":                               false,
		`I confirm it. {"proceed":true}`:    true,
		"```json\n{\"proceed\": true}\n```": true,
		`{"proceed": true, "direction": "otherwise"}`:  true,
		`{"proceed": null}`:                            false,
		`Not {"proceed": true} but {"proceed": false}`: false,
	} {
		if got, _ := parseConfirmation(answer); got != want {
			t.Errorf("%s: got %v", answer, got)
		}
	}
	if _, direction := parseConfirmation(`{"proceed": true, "adjusted_direction": "otherwise"}`); direction != "otherwise" {
		t.Errorf("got direction %q", direction)
	}
}

func TestVectors18To20Diagnose(t *testing.T) {
	for name, tt := range map[string]struct {
		c    store.Counters
		want string
	}{
		"vector 18":                      {store.Counters{Selections: 10, Applied: 8, Completions: 5}, "derived ineffective"},
		"vector 19":                      {store.Counters{Selections: 10, Applied: 5, Completions: 1}, "fix incomplete"},
		"vector 20":                      {store.Counters{Selections: 10, Applied: 2, Completions: 2, Fallbacks: 5}, "fix fallbacks"},
		"B37: never chosen again so far": {store.Counters{Selections: 2}, "fix never-completed"},
		"too new":                        {store.Counters{Selections: 1}, ""},
		"few uses":                       {store.Counters{Selections: 4, Applied: 4, Completions: 1}, ""},
		"good":                           {store.Counters{Selections: 10, Applied: 9, Completions: 8}, ""},
		"offered and not needed":         {store.Counters{Selections: 10, Applied: 2, Completions: 2}, ""},
	} {
		n, ok := diagnose(store.Record{}, tt.c)
		got := ""
		if ok {
			got = string(n.kind) + " " + n.rule
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestTakenBackWhen(t *testing.T) {
	for name, tt := range map[string]struct {
		now, then store.Counters
		back      bool
	}{
		"EV-08":             {store.Counters{Selections: 10, Completions: 2}, store.Counters{Selections: 10, Completions: 8}, true},
		"a little worse":    {store.Counters{Selections: 10, Completions: 6}, store.Counters{Selections: 10, Completions: 8}, false},
		"better":            {store.Counters{Selections: 5, Completions: 5}, store.Counters{Selections: 10, Completions: 8}, false},
		"worse, few uses":   {store.Counters{Selections: 4, Completions: 1}, store.Counters{Selections: 10, Completions: 8}, false},
		"never completed":   {store.Counters{Selections: 3}, store.Counters{Selections: 10, Completions: 5}, true},
		"never did, before": {store.Counters{Selections: 4}, store.Counters{Selections: 10, Completions: 2}, false},
	} {
		if why := verdictOn(tt.now, tt.then, "x"); (why != "") != tt.back {
			t.Errorf("%s: got %q", name, why)
		}
	}
}
