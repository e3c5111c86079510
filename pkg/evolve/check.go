package evolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// What a skill may be, unless the version before was more.
const (
	maxMain  = 64 << 10 // bytes of SKILL.md
	maxSkill = 1 << 20  // bytes of all files
	maxCount = 100      // files
)

// check judges a new version against the one before. All that is wrong is told at once, so that one answer can mend it.
func (w *work) check(ctx context.Context, j job, next store.Content, dir string) error {
	if sameButBlanks(unnamed(w.base, w.isNew()), unnamed(next, w.isNew())) {
		return errors.New("nothing is changed but white space or the header")
	}
	var problems []string
	add := func(found ...string) { problems = append(problems, found...) }
	add(w.again(next)...)
	add(w.sizes(next)...)
	add(w.rights(next)...)
	add(w.ownTests(next)...)
	add(w.secrets(next)...)
	add(w.dangers(next)...)
	formal, err := w.format(j, next, dir)
	if err != nil {
		return err
	}
	if add(formal...); len(problems) > 0 {
		return errors.New("- " + strings.Join(problems[:min(len(problems), 12)], "\n- "))
	}
	if err := w.prove(ctx, next, dir); err != nil {
		return err
	}
	return w.replay(ctx, next, dir)
}

// sameButBlanks tells whether two versions differ in nothing but white space.
func sameButBlanks(a, b store.Content) bool {
	if len(a) != len(b) {
		return false
	}
	for name, x := range a {
		y, ok := b[name]
		if !ok || x.Exec != y.Exec || !bytes.Equal(bytes.Join(bytes.Fields(x.Data), []byte(" ")), bytes.Join(bytes.Fields(y.Data), []byte(" "))) {
			return false
		}
	}
	return true
}

// unnamed is a content without the header of its skill, if that is to be dropped: a derived skill has another name in any case.
func unnamed(c store.Content, drop bool) store.Content {
	s := mainSkill(c)
	if !drop || s == nil {
		return c
	}
	out := maps.Clone(c)
	out[mainFile(c)] = store.Blob{Data: s.Body, Exec: c[mainFile(c)].Exec}
	return out
}

func total(c store.Content) (n int) {
	for _, b := range c {
		n += len(b.Data)
	}
	return n
}

func (w *work) sizes(next store.Content) (out []string) {
	if n, limit := len(next[mainFile(next)].Data), max(maxMain, len(w.base[mainFile(w.base)].Data)); n > limit {
		out = append(out, fmt.Sprintf("SKILL.md has %d bytes, at most %d are allowed: move details to files of their own", n, limit))
	}
	if n, limit := total(next), max(maxSkill, total(w.base)); n > limit {
		out = append(out, fmt.Sprintf("the files have %d bytes, at most %d are allowed", n, limit))
	}
	if n, limit := len(next), max(maxCount, len(w.base)); n > limit {
		out = append(out, fmt.Sprintf("there are %d files, at most %d are allowed", n, limit))
	}
	return out
}

// ownTests refuses a change that nobody asked for of the checks that it is judged by.
func (w *work) ownTests(next store.Content) (out []string) {
	if w.req.Trigger == Manual {
		return nil
	}
	for _, name := range sortedNames(w.base) {
		if isTest(name) && (!bytes.Equal(w.base[name].Data, next[name].Data) || w.base[name].Exec != next[name].Exec) {
			out = append(out, name+" must stay as it is: it is a check")
		}
	}
	return out
}

func isTest(name string) bool { return strings.HasPrefix(name, "tests/") }

// secretRules are the rules of the safety scan that find what does not belong into a skill.
var secretRules = map[string]bool{"leaked-key": true, "leaked-private-key": true, "hard-coded-password": true}

// dangers finds what the safety scan has against the new version and had not against the one before.
func (w *work) dangers(next store.Content) (out []string) {
	known := map[string]int{}
	for _, f := range scan(w.before).Findings {
		known[f.Rule+"\x00"+f.Excerpt]++
	}
	for _, f := range scan(next).Findings {
		key := f.Rule + "\x00" + f.Excerpt
		if known[key] > 0 {
			known[key]--
			continue
		}
		if secretRules[f.Rule] || f.Severity != safety.Low {
			out = append(out, fmt.Sprintf("the safety rule %s refuses %s line %d: this skill %s", f.Rule, f.Path, f.Line, f.Message))
		}
	}
	return out
}

func scan(c store.Content) safety.Report {
	var texts []safety.Text
	for _, name := range sortedNames(c) {
		texts = append(texts, safety.Text{Path: name, Data: c[name].Data})
	}
	return safety.Scan(texts, safety.DefaultPolicy())
}

// format finds what is wrong with the new version by the rules of the format, as it will be on disk, and was not wrong with the one before.
func (w *work) format(j job, next store.Content, dir string) (out []string, err error) {
	folder := path.Base(filepath.ToSlash(j.folder))
	if j.folder == "" {
		folder = mainSkill(next).Name
	}
	known := map[string]int{}
	if !w.isNew() {
		before, err := faults(w.base, filepath.Join(dir, "before", folder))
		if err != nil {
			return nil, err
		}
		for _, d := range before {
			known[d.Code]++
		}
	}
	after, err := faults(next, filepath.Join(dir, "after", folder))
	if err != nil {
		return nil, err
	}
	for _, d := range after {
		if known[d.Code]--; known[d.Code] < 0 {
			d.Path = strings.TrimPrefix(d.Path, filepath.Join(dir, "after", folder)+string(filepath.Separator))
			out = append(out, d.String())
		}
	}
	return out, nil
}

func faults(c store.Content, dir string) (out []skill.Diagnostic, err error) {
	if _, err := placed(c, dir); err != nil {
		return nil, err
	}
	all, err := skill.Validate(dir, skill.Spec)
	for _, d := range all {
		if d.Severity == skill.Error {
			out = append(out, d)
		}
	}
	return out, err
}

// prove runs the checks that the new version carries.
func (w *work) prove(ctx context.Context, next store.Content, dir string) error {
	files := checksOf(next)
	if len(files) == 0 {
		return nil
	}
	if w.e.o.Check == nil {
		return errNoTests
	}
	place, err := placed(next, filepath.Join(dir, "checks", mainSkill(next).Name))
	if err != nil {
		return err
	}
	c, err := w.e.o.Check(ctx, place, files)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTests, err)
	}
	if !c.Passed {
		return fmt.Errorf("the checks of the skill fail:\n%s", clip(c.Output, 2000))
	}
	return nil
}

// checksOf lists the checks of a skill.
func checksOf(c store.Content) (files []string) {
	for _, name := range sortedNames(c) {
		if isTest(name) && path.Dir(name) == "tests" && (c[name].Exec || path.Ext(name) == ".sh") {
			files = append(files, name)
		}
	}
	return files
}
