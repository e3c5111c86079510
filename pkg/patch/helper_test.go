package patch_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

// folder makes files out of paths and contents.
func folder(pairs ...string) map[string][]byte {
	files := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = []byte(pairs[i+1])
	}
	return files
}

// apply parses and applies an edit.
func apply(text string, files map[string][]byte) (patch.Result, error) {
	e, err := patch.Parse(text)
	if err != nil {
		return patch.Result{}, err
	}
	return e.Apply(files)
}

// want checks that an edit leads to exactly these files, and that the given
// ones stay as they were.
func want(t *testing.T, text string, files, after map[string][]byte) patch.Result {
	t.Helper()
	before := copied(files)
	res, err := apply(text, files)
	if err != nil {
		t.Fatalf("got error %v\nfor edit\n%s", err, text)
	}
	same(t, "the given files", files, before)
	same(t, "the result", res.Files, after)
	return res
}

// refused checks that an edit fails with an error of a kind whose text has
// all given words, and returns it.
func refused(t *testing.T, text string, files map[string][]byte, kind patch.ErrorKind, words ...string) *patch.Error {
	t.Helper()
	before := copied(files)
	res, err := apply(text, files)
	var e *patch.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %q, error %v, want an error of kind %s\nfor edit\n%s", res.Files, err, kind, text)
	}
	if res.Files != nil {
		t.Errorf("got files beside an error")
	}
	same(t, "the given files", files, before)
	if e.Kind != kind {
		t.Errorf("got kind %s, want %s: %v", e.Kind, kind, e)
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("got error\n%v\nwithout %q", e, w)
		}
	}
	return e
}

func copied(files map[string][]byte) map[string][]byte {
	c := map[string][]byte{}
	for p, data := range files {
		c[p] = slices.Clone(data)
	}
	return c
}

func same(t *testing.T, what string, got, want map[string][]byte) {
	t.Helper()
	if !maps.EqualFunc(got, want, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Errorf("%s: got\n%q\nwant\n%q", what, got, want)
	}
}

// begin puts lines between the envelope of a patch.
func begin(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

// update is a patch of SKILL.md.
func update(lines ...string) string {
	return begin(append([]string{"*** Update File: SKILL.md"}, lines...)...)
}
