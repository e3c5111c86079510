package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// view shows people how tasks go: what is done, what the model says while it says it, and how it ended. It is used by one goroutine at a time.
type view struct {
	w      io.Writer
	flush  func() error
	many   bool // several tasks at once: lines name theirs, and nothing is shown piece by piece
	whole  bool // the answer is part of it
	colour bool

	said strings.Builder // of the reply that is being shown
	open bool            // the cursor is in the middle of a line
}

// newView returns the view for a terminal: on stdout, or on stderr when stdout takes only the answers. It is nil when nobody watches.
func newView(env *cli.Env, jobs int) *view {
	v := &view{many: jobs > 1, colour: env.Out.Colour()}
	switch {
	case env.Out.Format() == cli.Table:
		v.w, v.flush, v.whole = env.Stdout, env.Stdout.Flush, true
	case env.Out.Format() == cli.Plain && env.StderrTerminal && !env.StdoutTerminal:
		v.w, v.flush = env.Stderr, func() error { return nil }
	default:
		return nil
	}
	return v
}

// The colours of lines.
const (
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

func (v *view) paint(colour, text string) string {
	if !v.colour || text == "" {
		return text
	}
	return colour + text + plain
}

// line writes a line of its own.
func (v *view) line(n int, id, text string) error {
	v.newline()
	if v.many {
		text = v.paint(dim, "["+cli.OneLine(id)+"] ") + text
	}
	if _, err := fmt.Fprintln(v.w, text); err != nil {
		return err
	}
	return v.flush()
}

func (v *view) newline() {
	if v.open {
		fmt.Fprintln(v.w)
		v.open = false
	}
}

// event shows a record.
func (v *view) event(n int, rec wire.Record) error {
	switch rec := rec.(type) {
	case wire.Step:
		return v.step(n, rec)
	case wire.Tool:
		return v.tool(n, rec)
	case wire.Text:
		return v.text(rec)
	case wire.Answer:
		return v.answer(n, rec)
	}
	return nil
}

func (v *view) step(n int, s wire.Step) error {
	message := cli.OneLine(s.Message)
	switch s.Kind {
	case "model":
		v.said.Reset()
		if message == "" {
			return nil
		}
	case "warning", "notice":
		return v.line(n, s.ID, v.paint(red, "! ")+message)
	case "start":
		return v.line(n, s.ID, v.paint(dim, "workspace "+message))
	case "phase":
		if message == "" {
			return nil
		}
	}
	return v.line(n, s.ID, v.paint(dim, s.Kind+" ")+message)
}

// tool shows a call when it starts, and what came of it when that is worth a word.
func (v *view) tool(n int, t wire.Tool) error {
	if t.Status == "started" {
		return v.line(n, t.ID, v.paint(bold, "> "+cli.OneLine(t.Name))+" "+cli.OneLine(t.Summary))
	}
	if t.Error != "" {
		return v.line(n, t.ID, v.paint(red, "  failed: "+cli.OneLine(t.Error)))
	}
	return v.line(n, t.ID, v.paint(dim, fmt.Sprintf("  done in %.1f s", float64(t.ElapsedMS)/1000)))
}

// text shows a piece of what the model says.
func (v *view) text(t wire.Text) error {
	if v.many || !v.whole {
		return nil
	}
	if t.Reset {
		v.newline()
		v.said.Reset()
		return v.flush()
	}
	v.said.WriteString(t.Piece)
	piece := cli.Printable(t.Piece)
	if piece == "" {
		return nil
	}
	if _, err := io.WriteString(v.w, piece); err != nil {
		return err
	}
	v.open = !strings.HasSuffix(piece, "\n")
	return v.flush()
}

// answer shows the answer, unless it was shown while it came.
func (v *view) answer(n int, a wire.Answer) error {
	if !v.whole || !v.many && strings.TrimSpace(v.said.String()) == strings.TrimSpace(a.Response) {
		return nil
	}
	return v.line(n, a.ID, cli.Printable(strings.TrimSpace(a.Response)))
}

// result shows how a task ended.
func (v *view) result(n int, res wire.Result) error {
	v.newline()
	if res.Error != nil {
		text := cli.OneLine(res.Error.Message)
		if res.Error.Hint != "" {
			text += "\n  hint: " + cli.OneLine(res.Error.Hint)
		}
		if err := v.line(n, res.ID, v.paint(red, "error: ")+text); err != nil {
			return err
		}
	}
	if res.Warning != "" {
		if err := v.line(n, res.ID, v.paint(red, "! ")+cli.OneLine(res.Warning)); err != nil {
			return err
		}
	}
	for _, f := range res.Files[:min(len(res.Files), maxFiles)] {
		if err := v.line(n, res.ID, v.paint(dim, f.Change+" ")+cli.OneLine(f.Path)); err != nil {
			return err
		}
	}
	return v.line(n, res.ID, v.paint(dim, summary(res)))
}

// maxFiles is how many changed files are shown.
const maxFiles = 10

// summary is the last line about a task.
func summary(res wire.Result) string {
	parts := []string{res.Status, fmt.Sprintf("%.1f s", float64(res.ElapsedMS)/1000), fmt.Sprintf("%d calls of tools", res.ToolCallCount)}
	if t := res.Tokens; t != nil {
		parts = append(parts, fmt.Sprintf("%d tokens sent (%d cached), %d received", t.Input, t.Cached, t.Output))
		if t.Unpriced < t.Calls {
			parts = append(parts, fmt.Sprintf("$%.4f", res.Cost))
		}
	}
	if len(res.SkillsUsed) > 0 {
		parts = append(parts, "skills: "+cli.OneLine(strings.Join(res.SkillsUsed, ", ")))
	}
	if res.RecordingDir != "" {
		parts = append(parts, "recording: "+res.RecordingDir)
	}
	return strings.Join(parts, " · ")
}
