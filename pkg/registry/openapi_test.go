package registry_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/registry"
)

// openapi is as much of docs/openapi.json as the test reads.
type openapi struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	OperationID string
	Responses   map[string]struct {
		Headers map[string]any
		Content map[string]struct{ Schema *schema }
	}
	RequestBody struct {
		Content map[string]struct{ Schema *schema }
	}
	Security []map[string][]string
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Properties           map[string]*schema
	Required             []string
	AdditionalProperties *bool
	Items                *schema
	Enum                 []any
	Pattern              string
	Format               string
	ExclusiveMinimum     *float64
	ExclusiveMaximum     *float64
}

// described is a run of a server that is held against its description.
type described struct {
	t     *testing.T
	doc   openapi
	seen  map[string]bool // "get /path 200" and "Schema.property"
	paths map[string]*regexp.Regexp
}

func readOpenAPI(t *testing.T) *described {
	t.Helper()
	d := &described{t: t, seen: map[string]bool{}, paths: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal([]byte(readFile(t, "..", "..", "docs", "openapi.json")), &d.doc); err != nil {
		t.Fatal(err)
	}
	for p := range d.doc.Paths {
		d.paths[p] = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\{record_id\}`, "[^/?]+") + "$")
	}
	return d
}

// operation finds the description of what a request asks; a path without an id in it goes first.
func (d *described) operation(method, path string) (string, operation) {
	path, _, _ = strings.Cut(path, "?")
	for _, wild := range []bool{false, true} {
		for p, re := range d.paths {
			if strings.Contains(p, "{") == wild && re.MatchString(path) {
				return strings.ToLower(method) + " " + p, d.doc.Paths[p][strings.ToLower(method)]
			}
		}
	}
	d.t.Fatalf("%s %s is not described", method, path)
	return "", operation{}
}

// do sends a request and holds the answer against the description.
func (d *described) do(u user, status int, method, path string, body io.Reader, headers ...string) answer {
	d.t.Helper()
	a := u.do(method, path, body, headers...).want(status, nil)
	name, op := d.operation(method, path)
	r, ok := op.Responses[fmt.Sprint(status)]
	if !ok {
		d.t.Fatalf("%s: status %d is not described", name, status)
	}
	d.seen[fmt.Sprintf("%s %d", name, status)] = true
	for h := range r.Headers {
		if a.header.Get(h) != "" {
			d.seen[name+" "+h] = true
		}
	}
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	content, ok := r.Content[kind]
	switch {
	case len(a.body) == 0 && len(r.Content) == 0:
	case !ok:
		d.t.Errorf("%s %d: content type %q is not described", name, status, kind)
	case kind == "application/json":
		var v any
		if err := json.Unmarshal(a.body, &v); err != nil {
			d.t.Errorf("%s %d: %v", name, status, err)
		}
		d.check(content.Schema, "", v, fmt.Sprintf("%s %d", name, status))
	}
	return a
}

func (d *described) resolve(s *schema) (string, *schema) {
	name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/")
	if !ok {
		return "", s
	}
	found := d.doc.Components.Schemas[name]
	if found == nil {
		d.t.Fatalf("no schema %q", name)
	}
	return name, found
}

// check holds a value against a schema and notes the properties that are there.
func (d *described) check(s *schema, name string, v any, where string) {
	d.t.Helper()
	if n, found := d.resolve(s); n != "" {
		name, s = n, found
	}
	if !slices.Contains(types(s), jsonType(v)) && !(jsonType(v) == "integer" && slices.Contains(types(s), "number")) {
		d.t.Errorf("%s: %s: got %v, want %v", where, name, v, s.Type)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, r := range s.Required {
			if _, ok := v[r]; !ok {
				d.t.Errorf("%s: %s lacks %q", where, name, r)
			}
		}
		for k, e := range v {
			p := s.Properties[k]
			if p == nil {
				d.t.Errorf("%s: %s has %q, which is not described", where, name, k)
				continue
			}
			d.seen[name+"."+k] = true
			d.check(p, name+"."+k, e, where)
		}
	case []any:
		for _, e := range v {
			d.check(s.Items, name+"[]", e, where)
		}
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) || len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)) {
			d.t.Errorf("%s: %s: got %q, want %s %v", where, name, v, s.Pattern, s.Enum)
		}
	case float64:
		if s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum || s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum {
			d.t.Errorf("%s: %s: got %v", where, name, v)
		}
	}
}

func types(s *schema) (out []string) {
	switch t := s.Type.(type) {
	case string:
		out = append(out, t)
	case []any:
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
	}
	return out
}

func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// The operations of the server are those that are described.
func TestOpenAPIOperations(t *testing.T) {
	d := readOpenAPI(t)
	var described []string
	for p, ops := range d.doc.Paths {
		for method, op := range ops {
			described = append(described, strings.ToUpper(method)+" "+p)
			if op.OperationID == "" || len(op.Responses) < 2 || (len(op.Security) == 0) == strings.HasPrefix(p, api.BasePath) {
				t.Errorf("%s %s: no id, no responses, or wrong security", method, p)
			}
		}
	}
	served := newCommunity(t).server.Operations()
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described\n%q\nserved\n%q", described, served)
	}
	page := readFile(t, "..", "..", "docs", "registry-api.md")
	for _, o := range served {
		if !strings.Contains(page, "`"+strings.Replace(o, api.BasePath, "", 1)+"`") {
			t.Errorf("docs/registry-api.md does not name %s", o)
		}
	}
	for _, c := range api.Codes() {
		if !strings.Contains(page, "| "+fmt.Sprint(c.Status())+" | ") || !strings.Contains(page, "`"+string(c)+"`") {
			t.Errorf("docs/registry-api.md does not name the error %s with status %d", c, c.Status())
		}
	}
}

// Error codes and the fields of requests are those of the Go types.
func TestOpenAPITypes(t *testing.T) {
	d := readOpenAPI(t)
	var codes []any
	for _, c := range api.Codes() {
		codes = append(codes, string(c))
	}
	if got := d.doc.Components.Schemas["Error"].Properties["error"].Enum; !reflect.DeepEqual(got, codes) {
		t.Errorf("got error codes %v, want %v", got, codes)
	}
	for name, v := range map[string]any{"Create": api.Create{}, "Search": api.Search{}, "Change": api.Change{}, "Signature": api.Signature{}, "Error": api.Error{},
		"Finding": api.Finding{}, "Staged": api.Staged{}, "Stats": api.Stats{}, "LeftOut": api.LeftOut{}, "Page": api.Page{}, "Versions": api.Versions{}} {
		var want []string
		for i, typ := 0, reflect.TypeOf(v); i < typ.NumField(); i++ {
			field, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			want = append(want, field)
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(d.doc.Components.Schemas[name].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: described %q, has %q", name, got, want)
		}
	}
}

// Every described status of every operation is answered, nothing else is in the answers, and every described
// field is seen.
func TestOpenAPIAnswers(t *testing.T) {
	d := readOpenAPI(t)
	limits := registry.DefaultLimits()
	limits.File, limits.JSON = 1<<20, 64<<10
	c := newCommunity(t, func(o *registry.Options) { o.Limits = limits })
	d.scenario(c)
	for p, ops := range d.doc.Paths {
		for method, op := range ops {
			for status, r := range op.Responses {
				name := method + " " + p
				if status != "default" && !d.seen[name+" "+status] {
					t.Errorf("%s: status %s was not seen", name, status)
				}
				for h := range r.Headers {
					if !d.seen[name+" "+h] {
						t.Errorf("%s: header %s was not seen", name, h)
					}
				}
			}
		}
	}
	for name, s := range d.doc.Components.Schemas {
		for p := range s.Properties {
			if !d.seen[name+"."+p] && !slices.Contains([]string{"Create", "Search", "Change"}, name) {
				t.Errorf("%s.%s was not seen in any answer", name, p)
			}
		}
	}
}
