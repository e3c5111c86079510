package evolve

import (
	"context"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/similar"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// When a new skill is a near copy: the share of the shorter text that is in the other, alone, and when the names are equal.
const (
	nearShare  = 0.6
	namedShare = 0.3
)

// maxAlike is how many candidates are compared.
const maxAlike = 200

// unlike refuses a new skill that is a near copy of one that exists or is proposed; exclude are the ids that it may be like.
func (w *work) unlike(ctx context.Context, c store.Content, exclude []string) error {
	if w.req.Force {
		return nil
	}
	found, err := w.e.Like(ctx, c, exclude)
	if err != nil || found == nil {
		return err
	}
	what := found.SkillID
	if what == "" {
		what = found.Name
	}
	w.like = found.SkillID
	return wire.Errorf(wire.Exists, "%w: %s shares %.0f%% of the text of %q", ErrSimilar, what, 100*found.Share, mainSkill(c).Name).
		WithHint("fix or derive %s in its place, or say --force with --learn-from", what)
}

// Like returns the skill that a new one is a near copy of; nil when there is none.
func (e *Engine) Like(ctx context.Context, c store.Content, exclude []string) (*Likeness, error) {
	s := mainSkill(c)
	own := similar.Of(s)
	var best *Likeness
	consider := func(l Likeness, other *skill.Skill) {
		if other == nil {
			return
		}
		l.Name = other.Name
		if l.Share = similar.Share(own, similar.Of(other)); l.Share >= nearShare || l.Share >= namedShare && skill.NameKey(l.Name) == skill.NameKey(s.Name) {
			if best == nil || l.Share > best.Share {
				best = &l
			}
		}
	}
	dirs, err := e.alike(ctx, s, exclude)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		other, _, err := skill.Load(dir)
		if err != nil || ctx.Err() != nil {
			continue // gone meanwhile
		}
		head, _, _ := e.o.Store.HeadAt(dir)
		consider(Likeness{SkillID: head.SkillID, Dir: dir}, other)
	}
	proposals, err := review.List(e.o.Store.Home())
	for _, p := range proposals {
		if p.Problem == "" && p.Kind != review.Fix {
			if pc, err := p.Content(); err == nil {
				consider(Likeness{Dir: filepath.Join(p.SkillDir, p.Name)}, mainSkill(pc))
			}
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return best, err
}

// alike lists folders of skills that may be like one: what the search finds, and what the store knows with words of its name or description.
func (e *Engine) alike(ctx context.Context, s *skill.Skill, exclude []string) ([]string, error) {
	var dirs []string
	if e.o.Similar != nil {
		found, err := e.o.Similar(ctx, s.Name+"\n"+s.Description)
		if err != nil {
			e.o.Warn("look for skills like %q: %v", s.Name, err)
		}
		dirs = found
	}
	out := map[string]bool{}
	excluded := func(dir, id string) bool {
		for _, x := range exclude {
			if x == id {
				return true
			}
		}
		return out[dir]
	}
	words := keywords(s.Name + " " + s.Description)
	var list []string
	for rec, err := range e.o.Store.All(true) {
		if err != nil {
			return nil, err
		}
		if common(words, keywords(rec.Name+" "+rec.Description)) >= min(2, len(words)) && !excluded(rec.Dir(), rec.SkillID) && len(list) < maxAlike {
			out[rec.Dir()] = true
			list = append(list, rec.Dir())
		}
	}
	for _, dir := range dirs {
		head, _, _ := e.o.Store.HeadAt(dir)
		if canonical, err := store.Canonical(dir); err == nil && !excluded(canonical, head.SkillID) {
			out[canonical] = true
			list = append(list, canonical)
		}
	}
	return list, nil
}

func fields(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// keywords are the words of a text that are not too short to mean something.
func keywords(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range fields(text) {
		if len(w) > 3 {
			out[w] = true
		}
	}
	return out
}

func common(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}
