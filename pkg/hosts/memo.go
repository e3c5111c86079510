package hosts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// memo is what Install remembers of a host, so that Uninstall gives back what was there: to the byte when the
// configuration is as Install left it, else the entry that was there, and the objects that were empty. It holds
// nothing of the rest of the configuration, which may have keys of others.
type memo struct {
	Config  string   `json:"config"`  // path of the configuration
	Command string   `json:"command"` // of the entry
	After   string   `json:"after"`   // SHA-256 of what Install left there
	None    bool     `json:"none,omitempty"`
	Start   int      `json:"start"`  // how many bytes at the beginning stayed
	End     int      `json:"end"`    // and at the end
	Middle  []byte   `json:"middle"` // what stood between
	Keys    int      `json:"keys"`   // how many of the objects on the way to the entry were there
	Entry   string   `json:"entry,omitempty"`
	Dirs    []string `json:"dirs,omitempty"` // folders that Install made, outer ones first
}

// remembered reads the memo of an earlier Install; nil: there is none, or it is about another file.
func (o Options) remembered() (*memo, Change, error) {
	if o.Memo == "" {
		return nil, Change{}, nil
	}
	c, err := read(o.Memo)
	c.Quiet = true
	var m memo
	if err != nil || c.Before == nil || json.Unmarshal(c.Before, &m) != nil || m.Config != o.Place.Config {
		return nil, c, err
	}
	return &m, c, nil
}

// remember makes the memo of a configuration that becomes another one. What an earlier Install found counts,
// as long as its entry is there.
func (o Options) remember(old *memo, before, after []byte, changes []Change) memo {
	m := memo{Config: o.Place.Config, Command: o.Command, After: sum(after)}
	if old != nil {
		m.Dirs = old.Dirs
		if now := o.present(before); now != nil && now["command"] == old.Command {
			if first, err := o.before(before, old); err == nil {
				before = first
			}
		}
	}
	m.None = before == nil
	for m.Start < min(len(before), len(after)) && before[m.Start] == after[m.Start] {
		m.Start++
	}
	for m.End < min(len(before), len(after))-m.Start && before[len(before)-1-m.End] == after[len(after)-1-m.End] {
		m.End++
	}
	m.Middle = before[m.Start : len(before)-m.End]
	m.Keys, m.Entry = o.former(before)
	for _, c := range changes {
		if c.Before == nil {
			m.Dirs = append(m.Dirs, missing(filepath.Dir(c.Path), m.Dirs)...)
		}
	}
	return m
}

// former returns how many of the objects on the way to the entry are there, and the text of the entry.
func (o Options) former(text []byte) (keys int, entry string) {
	if o.toml() {
		from, end := table(text, o.heading())
		return 0, string(text[from:end])
	}
	object, found, err := inside(text, o.Place.Keys)
	if err != nil || found < len(o.Place.Keys) {
		return found, ""
	}
	if i := object.find(Server); i >= 0 {
		entry = string(text[object.members[i].value:object.members[i].end])
	}
	return found, entry
}

// missing returns the folders on the way to dir that are not there and not known, outer ones first.
func missing(dir string, known []string) (dirs []string) {
	for ; !slices.Contains(known, dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// before returns the configuration as it was before Install: nil when there was none.
func (o Options) before(text []byte, m *memo) ([]byte, error) {
	if m == nil || m.After != sum(text) || m.Start < 0 || m.End < 0 || m.Start+m.End > len(text) {
		return o.unset(text, m)
	}
	if m.None {
		return nil, nil
	}
	return splice(text, m.Start, len(text)-m.End, string(m.Middle)), nil // never nil, also of an empty file
}

// putBack gives a configuration that was changed since the entry that was there before Install.
func (o Options) putBack(text []byte, m *memo) ([]byte, error) {
	if o.toml() {
		from, end := table(text, o.heading())
		return splice(text, from, end, m.Entry), nil
	}
	object, found, err := inside(text, o.Place.Keys)
	if err != nil || found < len(o.Place.Keys) {
		return text, err
	}
	i := object.find(Server)
	if i < 0 {
		return text, nil
	}
	return splice(text, object.members[i].value, object.members[i].end, m.Entry), nil
}

// foreign reports whether an entry is of a server elsewhere. Nothing of it fits one that the host starts.
func foreign(entry map[string]any) bool {
	for _, name := range []string{"url", "httpUrl", "serverUrl"} {
		if entry[name] != nil {
			return true
		}
	}
	return false
}

// replace puts the entry in the place of one that is of another kind.
func (o Options) replace(text []byte, entry ordered) ([]byte, error) {
	if o.toml() {
		return removeTOML(text, o.heading()), nil
	}
	return setJSON(text, o.Place.Keys, Server, entry)
}

func (m memo) encode() []byte {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // it is texts and numbers
	}
	return append(data, '\n')
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// unset returns a configuration without the entry, or with the one that was there before.
func (o Options) unset(text []byte, m *memo) (after []byte, err error) {
	if bad := o.check(text); bad != nil {
		return nil, bad
	}
	entry, keys, none := "", 0, true
	if m != nil {
		entry, keys, none = m.Entry, m.Keys, m.None
	}
	switch {
	case o.present(text) == nil && entry != "":
		return text, nil // it was taken out by hand
	case entry != "":
		after, err = o.putBack(text, m)
	case o.toml():
		after = removeTOML(text, o.heading())
	default:
		after, err = removeJSON(text, o.Place.Keys, Server, keys)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Place.Config, err)
	}
	if o.check(after) != nil || entry == "" && o.present(after) != nil || !o.onlyEntry(text, after) {
		return nil, fmt.Errorf("%s cannot be changed safely; take %s out by hand", o.Place.Config, o.heading())
	}
	if s := string(bytes.TrimSpace(after)); none && (s == "{}" || s == "") {
		return nil, nil // nothing but the entry was in it
	}
	return after, nil
}

// check refuses a configuration that its host could not read either.
func (o Options) check(text []byte) error {
	if blank(text) {
		return nil
	}
	if _, bad := settings.DocumentValue(o.Place.Config, text); bad != nil {
		return fmt.Errorf("%s: the file is broken, and is left as it is", bad)
	}
	return nil
}
