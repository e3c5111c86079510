package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
)

// digest is what remains of messages that were left out. It is made by rules and not by a model: a summary by
// a model would be a paid call over the whole conversation just when that is longest, and would lose paths
// and numbers.
type digest struct {
	history []string // lines of the conversation before the task
	lines   []string // of the work
	files   []string // that were written, each once
	skills  []string // what retrieve_skill returned, whole
	dropped int      // lines that are gone
	asked   int      // lines of history that are gone

	said, did string // the texts that it is sent as
}

// Limits of a digest. The oldest lines go first, but for the very first ones, which often hold the plan.
const (
	maxDigestLines  = 120
	keepDigestFirst = 10
	maxHistoryLines = 40
	maxLine         = 200
)

func (d *digest) addHistory(m llm.Message) {
	d.history = append(d.history, string(m.Role)+": "+oneLine(m.Content, maxLine))
	if len(d.history) > maxHistoryLines {
		d.history, d.asked = d.history[1:], d.asked+1
	}
	d.said = d.earlier()
}

func (d *digest) addTurn(t *turn) {
	result := 0
	for _, m := range t.messages {
		switch m.Role {
		case llm.Assistant:
			if !blank(m.Content) {
				d.add("you said: " + oneLine(m.Content, maxLine))
			}
		case llm.ToolRole:
			if result < len(t.calls) {
				d.addCall(t.calls[result], m)
			}
			result++
		}
	}
	d.did = d.text()
}

func (d *digest) addCall(e Execution, m llm.Message) {
	for _, f := range e.Result.Files {
		if !slices.Contains(d.files, f) {
			d.files = append(d.files, f)
		}
	}
	if len(e.Result.SkillIDs) > 0 {
		d.skills = append(d.skills, m.Content)
		return
	}
	state, text := "ok", e.Result.Content
	if e.Result.Failed() {
		state, text = "failed", e.Result.Error
	}
	line := fmt.Sprintf("%s %s → %s: %s", e.Tool, oneLine(string(e.Args), maxLine), state, oneLine(text, maxLine))
	if e.Result.FullPath != "" {
		line += " (all of it: " + e.Result.FullPath + ")"
	}
	d.add(line)
}

func (d *digest) add(line string) {
	d.lines = append(d.lines, line)
	if len(d.lines) > maxDigestLines {
		d.lines = slices.Delete(d.lines, keepDigestFirst, keepDigestFirst+1)
		d.dropped++
	}
}

// earlier returns what is said of the conversation before the task.
func (d *digest) earlier() string {
	if len(d.history) == 0 {
		return ""
	}
	return "Earlier in this conversation, shortened:\n" + fence("digest", "", leftOut(d.asked)+strings.Join(d.history, "\n"))
}

// text returns what is said of the work.
func (d *digest) text() string {
	if len(d.lines)+len(d.skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your earlier steps in this task, shortened. Do not repeat them; read files again where you need their content.\n")
	lines := slices.Clone(d.lines)
	if d.dropped > 0 {
		lines = slices.Insert(lines, keepDigestFirst, strings.TrimSpace(leftOut(d.dropped)))
	}
	b.WriteString(fence("digest", "", strings.Join(lines, "\n")))
	if len(d.files) > 0 {
		fmt.Fprintf(&b, "\nFiles written so far: %q", d.files)
	}
	for _, s := range d.skills {
		b.WriteString("\n" + s)
	}
	return b.String()
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("[… %d more …]\n", n)
}

func (d *digest) size() int64 {
	n := int64(0)
	for _, text := range []string{d.said, d.did} {
		if text != "" {
			n += messageTokens + textSize(text)
		}
	}
	return n
}

// oneLine returns a text on one line, at most about limit bytes of it.
func oneLine(s string, limit int) string {
	cut := len(s) > 4*limit
	if cut {
		s, _ = recording.Ends(s, 4*limit, 0)
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s, _ = recording.Ends(s, limit, 0)
		cut = true
	}
	if cut {
		s += "…"
	}
	return s
}
