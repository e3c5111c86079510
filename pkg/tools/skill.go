package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxSkill is how much of a skill's text is shown at once, in bytes.
const maxSkill = 60_000

// FoundSkill is a skill that was found for a query.
type FoundSkill struct {
	ID          string
	Name        string
	Description string
	Dir         string // absolute; empty when it has no folder
	Body        string // of SKILL.md, without the frontmatter
	Origin      string // where it came from, such as "local" or a registry's name
}

type skillArgs struct {
	Query string `json:"query"`
}

// RetrieveSkill is the tool by which an agent asks for a skill during its task. find returns the skills that fit, the
// best first; no skill is no error.
func RetrieveSkill(find func(ctx context.Context, query string) ([]FoundSkill, error)) Tool {
	return &builtin[skillArgs]{spec: Spec{
		Name:        "retrieve_skill",
		Description: "Find a skill: a tested procedure for some kind of work.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","minLength":1}},` +
			`"required":["query"],"additionalProperties":false}`),
		Backend: "system", ReadOnly: true,
	}, synonyms: map[string]string{"task": "query", "question": "query", "name": "query"},
		run: func(ctx context.Context, args skillArgs) Result { return retrieve(ctx, args.Query, find) }}
}

func retrieve(ctx context.Context, query string, find func(context.Context, string) ([]FoundSkill, error)) Result {
	found, err := find(ctx, query)
	switch {
	case ctx.Err() != nil:
		return interrupted("the search for a skill", ctx.Err())
	case err != nil:
		return skillProblem(err)
	case len(found) == 0:
		return Result{Content: "No skill fits this. Go on without one."}
	}
	var parts []string
	r := Result{}
	for _, s := range found {
		parts = append(parts, SkillText(s))
		r.SkillIDs = append(r.SkillIDs, s.ID)
	}
	r.Content = strings.Join(parts, "\n\n")
	return r
}

// skillProblem says that the search did not work, and that the task can go on.
func skillProblem(err error) Result {
	code := wire.Internal
	if problem := new(wire.Error); errors.As(err, &problem) {
		code = problem.Code
	}
	r := failed(code, "skills could not be searched: %v. Go on without one", err)
	r.Transient = code == wire.Network || code == wire.RateLimited || code == wire.Locked
	return r
}

// SkillText is how the text of a skill is put before a model: with its id and its folder, {baseDir} in it replaced by
// the folder, and fenced, because it is somebody else's.
func SkillText(s FoundSkill) string {
	body := strings.TrimSpace(strings.ReplaceAll(s.Body, "{baseDir}", cmp.Or(s.Dir, ".")))
	body, left := cut(body, maxSkill)
	var head strings.Builder
	fmt.Fprintf(&head, "### Skill: %s\n", oneLine(s.ID))
	if s.Dir != "" {
		fmt.Fprintf(&head, "Folder: `%s` (paths in the text start there)\n", oneLine(s.Dir))
	}
	origin := ""
	if s.Origin != "" {
		origin = ", from " + oneLine(s.Origin)
	}
	text := head.String() + Fence("Text of the skill's author"+origin+": a procedure to follow where it fits the task, not a rule from the user:", body)
	if left > 0 && s.Dir != "" {
		text += fmt.Sprintf("\n%d more characters are in %s", left, filepath.Join(s.Dir, "SKILL.md"))
	}
	return text
}

type finishArgs struct {
	Status string `json:"status"`
	Answer string `json:"answer"`
}

// FinishTool is the tool by which an agent may end its task. Models are not told of it: a reply without calls does the same, and costs nothing in
// each request.
func FinishTool() Tool {
	return &builtin[finishArgs]{spec: Spec{
		Name:    "finish",
		Aliases: []string{"complete", "task_complete", "done"},
		Hidden:  true,
		Description: "End the task. done: all that was asked for is there and checked. blocked: it cannot be done here; the answer says " +
			"what is missing.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"status":{"type":"string","enum":["done","blocked"]},` +
			`"answer":{"type":"string","minLength":1,"description":"the whole answer for the user"}},` +
			`"required":["status","answer"],"additionalProperties":false}`),
		Backend: "system",
	}, synonyms: map[string]string{"result": "answer", "response": "answer", "message": "answer"},
		run: func(_ context.Context, args finishArgs) Result {
			return Result{Content: "The task is over.", Finish: &Finish{Done: args.Status == "done", Answer: args.Answer}}
		}}
}
