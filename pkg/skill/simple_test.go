package skill

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// compareSimple checks that the quick reading is the parser's.
func compareSimple(t *testing.T, text string) (simple bool) {
	t.Helper()
	quick := &document{data: []byte(text), block: locate([]byte(text))}
	if !utf8.ValidString(text) || !quick.block.found || !quick.simple() {
		return false
	}
	full := &document{data: []byte(text), block: locate([]byte(text))}
	root, ok := full.parse()
	if !ok || root == nil || root.Kind != yaml.MappingNode {
		t.Fatalf("%q: read as %v, but the parser refuses it", text, quick.fields)
	}
	full.fromMapping(root)
	if !reflect.DeepEqual(quick.fields, full.fields) {
		t.Fatalf("%q: got %#v, want %#v", text, quick.fields, full.fields)
	}
	return true
}

func TestSimple(t *testing.T) {
	for front, want := range map[string]bool{
		"name: x\ndescription: d":            true,
		"# c\nname: x\n\n# d\nb: c":          true,
		"name: 'a b'\nd: \"it's # : \"":      true,
		"name: null\nd: (a) b: c":            false,
		"name: null\nd: (a) b:c #":           false,
		"name: null\nd: /a [b], {c}#d":       true,
		"name: x # c":                        false,
		"name: x:":                           false,
		"name:x":                             false,
		"name:":                              false,
		"name: x\n  y":                       false,
		"name: x\n- y":                       false,
		"name: \"a\\n\"":                     false,
		"name: 'it''s'":                      false,
		"name: \"a\" b":                      false,
		"name: x\ty":                         false,
		"name: x\u2028y":                     false,
		"name: 技能\r\nd: é\r\n":               true,
		"name: x\n \nd: y":                   false,
		"name: 2024-01-01\nd: 007\ntrue: no": true,
		strings.Repeat("k", 200) + ": x":     false,
	} {
		if got := compareSimple(t, "---\n"+front+"\n---\nBody"); got != want {
			t.Errorf("%q: got %v, want %v", front, got, want)
		}
	}
}

func FuzzSimple(f *testing.F) {
	for _, s := range []string{"name: x\ndescription: a, b\n# c\n\nd: \"e\"", "a: 'b'\r\nc: null", "a: b:c\nd: (e)#f", "é: x", "a: \"b\" # c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, front string) {
		compareSimple(t, "---\n"+front+"\n---\n")
	})
}
