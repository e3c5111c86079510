package safety

import (
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// claimRules compare what a skill says of itself with what its programs do.
var claimRules = []RuleInfo{
	{ID: "contradicts-itself", Flag: FlagExfiltration, Severity: High, Message: "says that it stays on this machine, but sends data away"},
	{ID: "undeclared-tool", Flag: FlagExecution, Severity: Medium, Message: "runs programs or talks to the network, which its allowed-tools do not say"},
}

// claims finds programs that do what the skill's own text denies.
func (s *scanner) claims(texts []Text) []Finding {
	i := slices.IndexFunc(texts, func(t Text) bool { return strings.EqualFold(t.Path, skill.FileName) })
	if i < 0 {
		return nil
	}
	var found []Finding
	if at, ok := s.markedAt("sends"); ok && localOnly().in(head(texts[i].Data)) {
		found = append(found, claimFinding(claimRules[0], at))
	}
	if at, ok := s.markedAt("sends", "runs-program"); ok && !declares(texts[i].Data) {
		found = append(found, claimFinding(claimRules[1], at))
	}
	return found
}

// markedAt is the first place of one of the rules in the programs of a folder.
func (s *scanner) markedAt(ids ...string) (at Finding, ok bool) {
	i := slices.IndexFunc(s.marked, func(m spread) bool { return slices.Contains(ids, m.id) })
	if i < 0 {
		return at, false
	}
	return s.marked[i].at, true
}

func claimFinding(r RuleInfo, at Finding) Finding {
	at.Rule, at.Flag, at.Severity, at.Message = r.ID, r.Flag, r.Severity, r.Message
	return at
}

// declares reports whether a skill names a tool that runs programs or talks to
// the network, or names no tools at all.
func declares(text []byte) bool {
	parsed, _ := skill.Parse(text, "")
	if parsed == nil || len(parsed.AllowedTools) == 0 {
		return true
	}
	return slices.ContainsFunc(parsed.AllowedTools, func(tool string) bool {
		return containsAny(strings.ToLower(tool), "bash", "shell", "exec", "run", "web", "fetch", "http", "network", "python", "node", "terminal", "command", "task", "mcp", "*", "all")
	})
}
