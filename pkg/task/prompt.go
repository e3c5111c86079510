package task

import (
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// history is the conversation so far as the model gets it.
func history(in []wire.Message) (out []llm.Message) {
	for _, m := range in {
		role := llm.Role(m.Role)
		text := strings.TrimSpace(m.Content)
		if role != llm.User && role != llm.Assistant || text == "" {
			continue
		}
		out = append(out, llm.Message{Role: role, Content: text})
	}
	return out
}

// maxTold is how many calls of the first phase the second is told.
const maxTold = 12

// secondNote tells the second phase what the first one did, so that it keeps what is good and repeats nothing that works outside the workspace.
func secondNote(skills []agent.Skill, first *agent.Outcome, files []wire.FileChange) string {
	var b strings.Builder
	var ids []string
	for _, s := range skills {
		ids = append(ids, s.ID)
	}
	fmt.Fprintf(&b, "Guided by %s. It ended without success: %s\n", oneLine(strings.Join(ids, ", "), 200), oneLine(reasonOf(first), 300))
	calls := first.Calls
	if n := len(calls) - maxTold; n > 0 {
		fmt.Fprintf(&b, "%d calls before these are left out.\n", n)
		calls = calls[n:]
	}
	for _, c := range calls {
		result := "done"
		if c.Result.Failed() {
			result = "failed: " + oneLine(c.Result.Error, 120)
		}
		fmt.Fprintf(&b, "- %s %s: %s\n", c.Tool, oneLine(string(c.Args), 160), result)
	}
	for i, f := range files {
		if i == maxTold {
			fmt.Fprintf(&b, "- and %d files more\n", len(files)-i)
			break
		}
		fmt.Fprintf(&b, "- %s: %s\n", f.Change, oneLine(f.Path, 300))
	}
	return "# An earlier attempt\n\nThis task was tried before; what that left in the workspace is still there. Use what is right, mend what is wrong, and do not repeat what has an effect elsewhere.\n" +
		tools.Fence("The attempt:", b.String())
}

// reasonOf says in words why a run ended as it did.
func reasonOf(o *agent.Outcome) string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.Warning != "":
		return o.Warning
	case o.Blocked:
		return "the model says that it cannot be done"
	case o.Status == agent.Success:
		return "the model answered"
	}
	return string(o.Stop)
}
