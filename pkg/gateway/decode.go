package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// decoder puts the values of a file and of the environment into structs, and collects everything that is wrong.
type decoder struct {
	errs []error
	warn func(string)
	also []string // more keys that are known at the top
}

func (d *decoder) wrong(path, format string, args ...any) {
	d.errs = append(d.errs, fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...)))
}

// value puts one value of the file where it belongs. null leaves the default.
func (d *decoder) value(path string, raw any, v reflect.Value, tag reflect.StructTag) {
	if raw == nil {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(path, raw, v)
	case reflect.Map:
		d.words(path, raw, v, tag)
	case reflect.Slice:
		d.list(path, raw, v, tag)
	case reflect.Bool:
		if b, ok := raw.(bool); ok {
			v.SetBool(b)
		} else {
			d.wrong(path, "want true or false, got %v", shown(raw))
		}
	case reflect.String:
		if s, ok := raw.(string); ok {
			d.text(path, s, v, tag)
		} else {
			d.wrong(path, "want a string, got %v", shown(raw))
		}
	default:
		if n, ok := raw.(json.Number); ok {
			d.number(path, n.String(), v, tag)
		} else {
			d.wrong(path, "want a number, got %v", shown(raw))
		}
	}
}

// shown is a value in a message, without telling what could be a secret.
func shown(raw any) string {
	switch raw := raw.(type) {
	case string:
		return "a string"
	case json.Number:
		return raw.String()
	case bool:
		return strconv.FormatBool(raw)
	case []any:
		return "a list"
	}
	return "an object"
}

func (d *decoder) object(path string, raw any, v reflect.Value) {
	m, ok := raw.(map[string]any)
	if !ok {
		d.wrong(path, "want an object, got %s", shown(raw))
		return
	}
	known := fields(v)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		f, ok := known[name]
		if !ok {
			names := slices.Collect(maps.Keys(known))
			if path == "" {
				names = append(names, d.also...)
			}
			d.wrong(join(path, name), "unknown key%s", nearest(name, names))
			continue
		}
		if f.tag("kind") == "retired" {
			d.warn(join(path, name) + retired(f.def.Tag))
			continue
		}
		d.value(join(path, name), m[name], f.value, f.def.Tag)
	}
}

// retired says that a key means nothing any more, and what does in its place.
func retired(tag reflect.StructTag) string {
	text := " has no effect any more"
	if instead := tag.Get("instead"); instead != "" {
		text += ": " + instead
	}
	return text
}

// words fills a map from names to words.
func (d *decoder) words(path string, raw any, v reflect.Value, tag reflect.StructTag) {
	m, ok := raw.(map[string]any)
	if !ok {
		d.wrong(path, "want an object, got %s", shown(raw))
		return
	}
	out := reflect.MakeMap(v.Type())
	for name, value := range m {
		if name = strings.TrimSpace(name); name == "*" {
			d.wrong(path, `"*" is no group; group_policy is for all that are not named`)
			continue
		}
		s, ok := value.(string)
		if !ok || !allowed(s, tag) {
			d.wrong(join(path, name), "want one of %s", tag.Get("oneof"))
			continue
		}
		out.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(s))
	}
	v.Set(out)
}

func (d *decoder) list(path string, raw any, v reflect.Value, tag reflect.StructTag) {
	l, ok := raw.([]any)
	if !ok {
		d.wrong(path, "want a list of strings, got %s", shown(raw))
		return
	}
	out := []string{}
	for _, e := range l {
		s, ok := e.(string)
		if !ok {
			d.wrong(path, "want strings in the list, got %s", shown(e))
			return
		}
		out = append(out, s)
	}
	d.entries(path, out, v, tag)
}

// entries fills a list, without those that are blank.
func (d *decoder) entries(path string, all []string, v reflect.Value, tag reflect.StructTag) {
	out := []string{}
	for _, s := range all {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
		if s == "*" && tag.Get("kind") == "people" {
			d.wrong(path, `"*" lets nobody in; allow_all_users lets everybody write`)
			return
		}
	}
	v.Set(reflect.ValueOf(out))
}

// text puts a string in; blank leaves the default.
func (d *decoder) text(path, s string, v reflect.Value, tag reflect.StructTag) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
	case !allowed(s, tag):
		d.wrong(path, "want one of %s, got %q", strings.ReplaceAll(tag.Get("oneof"), ",", ", "), s)
	case tag.Get("kind") == "path" && strings.ContainsFunc(s, noPath):
		d.wrong(path, "want a path of letters, digits and - . _ ~ /, got %q", s)
	case tag.Get("kind") == "path":
		v.SetString(cleanPath(s))
	default:
		v.SetString(s)
	}
}

// noPath reports what has a meaning of its own in an address or in the table of the listener.
func noPath(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._~/", r)
}

// allowed reports whether a word is one of those in the tag, if it has some.
func allowed(s string, tag reflect.StructTag) bool {
	oneof := tag.Get("oneof")
	return oneof == "" || slices.Contains(strings.Split(oneof, ","), s)
}

func (d *decoder) number(path, s string, v reflect.Value, tag reflect.StructTag) {
	n, err := strconv.ParseFloat(s, 64)
	whole := v.Kind() != reflect.Float64
	if err != nil || whole && n != float64(int64(n)) {
		d.wrong(path, "want a number, got %q", s)
		return
	}
	low, _ := strconv.ParseFloat(tag.Get("min"), 64)
	high, err := strconv.ParseFloat(tag.Get("max"), 64)
	if n < low || err == nil && n > high {
		d.wrong(path, "want a number from %s to %s, got %s", tag.Get("min"), tag.Get("max"), s)
		return
	}
	if whole {
		v.SetInt(int64(n))
	} else {
		v.SetFloat(n)
	}
}

// environment puts variables over what the file says.
func (d *decoder) environment(section string, to any, getenv func(string) string) {
	walk(section, reflect.ValueOf(to).Elem(), func(f field) error {
		for _, name := range f.variables() {
			value := strings.TrimSpace(getenv(name))
			if value == "" {
				continue
			}
			if f.tag("kind") == "retired" {
				d.warn(name + retired(f.def.Tag))
			} else {
				d.variable(name, value, f)
			}
			return nil
		}
		return nil
	})
}

func (d *decoder) variable(name, value string, f field) {
	switch f.value.Kind() {
	case reflect.Bool:
		switch strings.ToLower(value) {
		case "true", "1", "yes", "on":
			f.value.SetBool(true)
		case "false", "0", "no", "off":
			f.value.SetBool(false)
		default:
			d.wrong(name, "want true or false, got %q", value)
		}
	case reflect.Slice:
		d.entries(name, strings.Split(value, ","), f.value, f.def.Tag)
	case reflect.String:
		d.text(name, value, f.value, f.def.Tag)
	default:
		d.number(name, value, f.value, f.def.Tag)
	}
}
