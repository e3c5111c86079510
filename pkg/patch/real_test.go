package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
	"github.com/openspace-dev/openspace/pkg/skill/skilltest"
)

// edited is a one-line edit of a text: what it leads to, and some lines of the edit around it.
type edited struct {
	after             string
	above, old, below []string // lines without ends
	line              string   // in the place of old
}

// edit changes the line in the middle of a text, with some lines around it.
func edit(text string, around int) edited {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	at := len(lines) / 2
	bare := func(lines []string) (out []string) {
		for _, l := range lines {
			out = append(out, strings.TrimRight(l, "\r\n"))
		}
		return out
	}
	e := edited{above: bare(lines[max(0, at-around):at]), old: bare(lines[at : at+1]), below: bare(lines[at+1 : min(len(lines), at+1+around)])}
	e.line = indent(e.old[0]) + "changed ~ by a test"
	e.after = strings.Join(lines[:at], "") + e.line + lines[at][len(e.old[0]):] + strings.Join(lines[at+1:], "")
	return e
}

func indent(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// patch writes the edit as a patch, block as a block.
func (e edited) patch() string {
	lines := []string{"@@"}
	for _, l := range e.above {
		lines = append(lines, " "+l)
	}
	lines = append(lines, "-"+e.old[0], "+"+e.line)
	for _, l := range e.below {
		lines = append(lines, " "+l)
	}
	return update(lines...)
}

func (e edited) block() string {
	around := func(line string) string {
		return strings.Join(append(append(append([]string{}, e.above...), line), e.below...), "\n")
	}
	return "<<<<<<< SEARCH\n" + around(e.old[0]) + "\n=======\n" + around(e.line) + "\n>>>>>>> REPLACE"
}

// One line of each real skill is changed, with exact text and as models copy it, and every other byte stays.
func TestRealSkills(t *testing.T) {
	careless := strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "—", "-", "–", "-", "…", "...", "\u00a0", " ")
	applied, ambiguous := 0, 0
	for i, r := range skilltest.Reals(t) {
		text := r.Text
		if text == "" || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			continue
		}
		for _, around := range []int{3, 1 << 20} {
			e := edit(text, around)
			texts := map[string]string{"patch": e.patch(), "careless": careless.Replace(e.patch()), "lines cut": cutEnds(e.patch())}
			if !strings.Contains(text, "=======") && !strings.Contains(text, "<<<<<<<") {
				texts["block"] = e.block()
			}
			for name, edit := range texts {
				res, err := apply(edit, folder("SKILL.md", text))
				var failed *patch.Error
				switch {
				case err == nil && string(res.Files["SKILL.md"]) == e.after:
					applied++
				case errors.As(err, &failed) && failed.Kind == patch.Ambiguous && around == 3:
					ambiguous++
				default:
					t.Errorf("skill %d, %s with %d lines around: got error %v, want one line changed", i, name, around, err)
				}
			}
		}
	}
	t.Logf("%d edits applied, %d ambiguous with three lines around", applied, ambiguous)
	if applied < 20_000 || ambiguous > 100 {
		t.Errorf("got %d applied, %d ambiguous", applied, ambiguous)
	}
}

// cutEnds leaves blanks at line ends out.
func cutEnds(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

// A whole skill file comes out of a reply as it went in, whatever is written in it.
func TestRealSkillsWhole(t *testing.T) {
	whole, stray := 0, 0
	for i, r := range skilltest.Reals(t) {
		text := r.Text
		text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
		if !strings.HasPrefix(text, "---\n") || !strings.HasSuffix(text, "\n") || !strings.Contains(text, "\nname:") || !strings.Contains(text[4:], "\n---\n") {
			continue
		}
		whole++
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		for name, reply := range map[string]string{
			"bare":     text,
			"fenced":   fence + "markdown\n" + text + fence + "\n",
			"short":    "```markdown\n" + text + "```\n",
			"talk":     "Here is the skill.\n\n" + fence + "md\n" + text + fence + "\n\nIt says more now.",
			"envelope": "*** Begin Files\n*** File: SKILL.md\n" + text + "*** End Files\n",
		} {
			res, err := apply(reply, nil)
			got, want := string(res.Files["SKILL.md"]), text
			if name == "envelope" { // which ends every file with one newline
				want = strings.TrimRight(want, "\n") + "\n"
			}
			if name == "short" && got == want+"```\n" {
				stray++ // an odd number of fences in the text: nobody can tell
				continue
			}
			if err != nil || got != want {
				t.Errorf("skill %d, %s: got error %v and %d bytes, want %d", i, name, err, len(got), len(want))
			}
		}
	}
	if whole < 2000 || stray > 50 {
		t.Errorf("got %d skills, %d of them with a stray fence", whole, stray)
	}
}
