package evolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/patch"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/scratch"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxAnswers is how often a model may answer until its edit passes.
const maxAnswers = 3

// job is a question for an edit and what the answer must be.
type job struct {
	folder   string // whose base name the skill must have; "" : it is named by the edit
	question string
	name     string   // that the skill must keep; "": it gets one
	taken    []string // names that it must not have
}

// draft asks for an edit until one passes all checks, and returns all files of the new version.
func (w *work) draft(ctx context.Context, j job) (store.Content, error) {
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	dir := folder.Dir
	d := newDialogue("SkillEvolver", w.e.o.Model, editorRole, w.e.o.Observe)
	defer func() { w.res.Usage.Add(d.usage) }()
	if strings.Contains(j.question, "read_file") && len(w.base) > 0 {
		base, err := placed(w.base, filepath.Join(dir, "base"))
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(base)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		d.files, d.mask = root.FS(), w.e.o.Mask
	}
	question := w.e.o.Mask(j.question)
	var problem error
	for w.res.Answers = 1; w.res.Answers <= maxAnswers; w.res.Answers++ {
		answer, err := d.ask(ctx, question)
		if err != nil && !errors.Is(err, errCut) {
			return nil, err
		}
		var content store.Content
		if problem = err; problem == nil {
			content, problem = w.attempt(ctx, j, answer, filepath.Join(dir, fmt.Sprint("try", w.res.Answers)))
		}
		if problem == nil {
			return content, nil
		}
		if final(problem) {
			return nil, problem
		}
		d.name = "SkillEvolver.retry"
		question = fence("Your answer cannot be used:", clip(w.e.o.Mask(problem.Error()), 3000)) + again
	}
	w.res.Answers = maxAnswers
	return nil, wire.Errorf(wire.Invalid, "%w: %w", ErrRefused, problem)
}

const again = "Answer again, whole and in the same form. The files are still as they were shown.\n"

// errNoTests: the checks of a skill cannot be run, which no answer of a model can mend.
var errNoTests = errors.New("its checks cannot be run here")

// final tells whether another answer of the model could not help.
func final(err error) bool {
	return errors.Is(err, ErrDeclined) || errors.Is(err, errNoTests) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// attempt makes files of an answer and checks them.
func (w *work) attempt(ctx context.Context, j job, answer, dir string) (store.Content, error) {
	r := parseReply(answer)
	if r.failed {
		return nil, wire.Errorf(wire.Invalid, "%w: %s", ErrDeclined, w.e.o.Mask(r.reason))
	}
	if r.edit == "" {
		return nil, errors.New("the answer is empty")
	}
	text, err := w.unmask(r.edit)
	if err != nil {
		return nil, err
	}
	edit, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	content, err := applied(edit, w.base)
	if err != nil {
		return nil, err
	}
	if err := w.blocked(content, j); err != nil {
		return nil, err
	}
	if content, err = w.named(content, j); err != nil {
		return nil, err
	}
	if err := w.check(ctx, j, content, dir); err != nil {
		return nil, err
	}
	if w.res.Summary = line(w.e.o.Mask(r.summary), maxSummary); w.res.Summary == "" {
		w.res.Summary = line(w.req.Direction, maxSummary)
	}
	return content, nil
}

// applied applies an edit to files in memory. A header that an answer left out is put back.
func applied(edit *patch.Edit, base store.Content) (store.Content, error) {
	main := mainFile(base)
	files := map[string][]byte{}
	for name, b := range base {
		if name == main {
			name = skill.FileName // as edits call it
		}
		files[name] = b.Data
	}
	res, err := edit.Apply(files)
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	for _, c := range res.Changed {
		if c.Kind == patch.Move {
			from[c.Path] = c.From
		}
	}
	out := store.Content{}
	for name, data := range res.Files {
		before := name
		if name == skill.FileName {
			before, name = main, main
			data = withHeader(data, base[main].Data)
		} else if f, moved := from[name]; moved {
			before = f
		}
		old, had := base[before]
		out[name] = store.Blob{Data: data, Exec: had && old.Exec || !had && strings.HasPrefix(string(data), "#!")}
	}
	return out, nil
}

// heading matches the heading that a text begins with.
var heading = regexp.MustCompile(`^\s*(# \S.*?)\s*(?:\n|$)`)

// title is the heading that a text begins with; nil when it begins otherwise.
func title(text []byte) []byte {
	if m := heading.FindSubmatch(text); m != nil {
		return m[1]
	}
	return nil
}

// withHeader puts the header of the old text before a new one that has none and begins with the same heading. Another heading may be that of an
// essay about the skill.
func withHeader(text, old []byte) []byte {
	s, _ := skill.Parse(text, "")
	was, _ := skill.Parse(old, "")
	if s == nil || was == nil || s.HasFrontmatter || !was.HasFrontmatter || !bytes.Equal(title(text), title(was.Body)) || title(text) == nil {
		return text
	}
	header := old[:len(old)-len(was.Body)]
	return append(append([]byte{}, header...), text...)
}

// blocked refuses new files where the folder has something that is not part of the skill, such as a link that leads out of it.
func (w *work) blocked(next store.Content, j job) error {
	for _, name := range sortedNames(next) {
		if _, had := w.base[name]; had || j.folder == "" {
			continue
		}
		for place := name; place != "."; place = path.Dir(place) {
			info, err := os.Lstat(filepath.Join(j.folder, filepath.FromSlash(place)))
			if err != nil || info.IsDir() || w.reached(place) {
				continue
			}
			return fmt.Errorf("%s cannot be written: the folder has %s, which is not part of the skill; use another path", name, place)
		}
	}
	return nil
}

// reached tells whether something of the skill lies at or below a path: a link to a folder of the skill stands for it.
func (w *work) reached(place string) bool {
	for name := range w.base {
		if name == place || strings.HasPrefix(name, place+"/") {
			return true
		}
	}
	return false
}

// named gives a new skill a name that a folder can have, and demands that a fix keeps its own.
func (w *work) named(c store.Content, j job) (store.Content, error) {
	s := mainSkill(c)
	if s == nil {
		return nil, errors.New("SKILL.md is empty or is no text")
	}
	given, _ := s.Field("name")
	name := words(given)
	switch {
	case name == "" && j.name == "":
		return nil, errors.New("the frontmatter of SKILL.md has no name")
	case j.name != "" && !s.HasFrontmatter && !slices.ContainsFunc(w.skillsBefore(), func(b *skill.Skill) bool { return !b.HasFrontmatter }):
		return nil, fmt.Errorf("SKILL.md would lose its frontmatter with the name %q: answer with an edit in the form that was asked for, or with the whole text of the file", j.name)
	case j.name != "":
		if s.Name != j.name {
			return nil, fmt.Errorf("the name must stay %q", j.name)
		}
		return c, nil
	}
	clean := skill.SanitizeName(name)
	for _, t := range j.taken {
		if skill.NameKey(t) == skill.NameKey(clean) {
			return nil, fmt.Errorf("the name must be another than %q", t)
		}
	}
	if clean == name {
		return c, nil
	}
	main := mainFile(c)
	data, err := skill.SetField(c[main].Data, "name", clean)
	if err != nil {
		return nil, err
	}
	c[main] = store.Blob{Data: data, Exec: c[main].Exec}
	return c, nil
}

// placed writes a content into a folder, which is made.
func placed(c store.Content, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, c.Write(dir, nil)
}

func isText(data []byte) bool { return utf8.Valid(data) && !strings.ContainsRune(string(data), 0) }

// isNew tells whether the work makes a new skill.
func (w *work) isNew() bool { return w.req.Kind != review.Fix }
