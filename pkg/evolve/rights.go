package evolve

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// Parts of a skill give it rights on the machine of whoever loads it: hosts take allowed-tools as a permission, run what hooks name, and run commands
// in the text before a model sees it. A change does not get such rights: what suggests it has read text of strangers.

// harmless are the keys of a header that only say something. What hosts make of the others is not known, and may be a right.
var harmless = map[string]bool{
	"name": true, "description": true, "license": true, "compatibility": true, "version": true, "author": true, "homepage": true, "repository": true,
	"tags": true, "keywords": true, "category": true, "title": true, "triggers": true, "argument-hint": true, "when-to-use": true, "when_to_use": true,
}

// rights finds what the new version may do and the one before may not.
func (w *work) rights(next store.Content) (out []string) {
	is := mainSkill(next)
	was := w.skillsBefore()
	out = append(allowances(was, is), w.keys(was, is)...)
	return append(out, commands(was, is)...)
}

// skillsBefore are the skills that the new version comes from.
func (w *work) skillsBefore() (out []*skill.Skill) {
	if len(w.parents) < 2 {
		if s := mainSkill(w.base); s != nil {
			out = append(out, s)
		}
		return out
	}
	for _, p := range w.parents {
		if s := mainSkill(w.parent(p)); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// allowances refuses a skill that allows itself more than it was allowed. A list is a limit for some hosts, so that it must stay, and a permission
// for others, so that it must not come.
func allowances(was []*skill.Skill, is *skill.Skill) []string {
	var had []string
	limited := len(was) > 0
	for _, s := range was {
		limited = limited && s.AllowedTools != nil
		had = append(had, s.AllowedTools...)
	}
	if limited && is.AllowedTools == nil {
		return []string{"allowed-tools must stay"}
	}
	for _, t := range is.AllowedTools {
		if !slices.Contains(had, t) {
			return []string{fmt.Sprintf("allowed-tools must not get %q", t)}
		}
	}
	return nil
}

// keys refuses what a host could act on in the header. Of a change that a person asked for only hooks are refused.
func (w *work) keys(was []*skill.Skill, is *skill.Skill) (out []string) {
	had, has := actedOn(was...), actedOn(is)
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if w.free(key) || slices.ContainsFunc(had[key], func(v any) bool { return reflect.DeepEqual(v, has[key][0]) }) {
			continue
		}
		out = append(out, fmt.Sprintf("%s in the header must stay as it is, for hosts act on it", key))
	}
	for _, key := range slices.Sorted(maps.Keys(had)) {
		if _, stays := has[key]; !stays && !w.isNew() && !w.free(key) {
			out = append(out, key+" in the header must stay")
		}
	}
	return out
}

// free tells whether a key that hosts act on may change.
func (w *work) free(key string) bool {
	return w.req.Trigger == Manual && strings.Trim(strings.ToLower(key), "_-") != "hooks"
}

// actedOn are the values of the keys that hosts may act on. Entries of metadata that are plain text only say something, too.
func actedOn(skills ...*skill.Skill) map[string][]any {
	out := map[string][]any{}
	for _, s := range skills {
		for _, f := range s.Fields {
			entries, _ := f.Value.(map[string]any)
			switch {
			case harmless[f.Key], f.Key == "allowed-tools": // which is looked at by itself
			case f.Key != "metadata" || entries == nil:
				out[f.Key] = append(out[f.Key], f.Value)
			default:
				for name, v := range entries {
					if text, plain := v.(string); !plain || strings.ContainsAny(text, "{[") {
						out["metadata."+name] = append(out["metadata."+name], v)
					}
				}
			}
		}
	}
	return out
}

// loadCommand matches what some hosts run when they load a skill.
var loadCommand = regexp.MustCompile("(?m)(?:^|\\s)!`[^`\\n]+`|^\\s*```+!")

// commands refuses commands in the text that a host runs when it loads the skill.
func commands(was []*skill.Skill, is *skill.Skill) (out []string) {
	had := map[string]bool{}
	for _, s := range was {
		for _, c := range loadCommand.FindAllString(string(s.Body), -1) {
			had[strings.TrimSpace(c)] = true
		}
	}
	for _, c := range loadCommand.FindAllString(string(is.Body), -1) {
		if c = strings.TrimSpace(c); !had[c] {
			out = append(out, fmt.Sprintf("SKILL.md must not get %s, for hosts run that when they load the skill: name the command without the !", line(c, 80)))
		}
	}
	return out
}
