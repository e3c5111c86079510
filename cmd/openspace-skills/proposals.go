package main

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// typeProposal is the type of the records that proposals writes, and approve and reject read.
const typeProposal = "proposal"

// proposal is a change of a skill that waits for a yes.
type proposal struct {
	Type           string   `json:"type"`
	ID             string   `json:"id,omitempty"`
	ProposalID     string   `json:"proposal_id"`
	Kind           string   `json:"kind,omitempty"`     // fix, derived or captured
	Trigger        string   `json:"trigger,omitempty"`  // what asked for it
	SkillID        string   `json:"skill_id,omitempty"` // the version that a fix was made for
	SkillDir       string   `json:"skill_dir,omitempty"`
	Name           string   `json:"name,omitempty"`
	Description    string   `json:"description,omitempty"`
	ParentSkillIDs []string `json:"parent_skill_ids,omitempty"`
	Direction      string   `json:"direction,omitempty"`
	ChangeSummary  string   `json:"change_summary,omitempty"`
	SourceTaskID   string   `json:"source_task_id,omitempty"`
	CreatedBy      string   `json:"created_by,omitempty"`
	CreatedAt      string   `json:"created_at,omitempty"`
	Stale          bool     `json:"stale,omitempty"` // its skill has changed since, so that it cannot be approved
	Warnings       []string `json:"warnings,omitempty"`
}

// Typed returns a copy with its type set.
func (p proposal) Typed() wire.Record { p.Type = typeProposal; return p }

// Columns of the table.
func (proposal) Columns() []string {
	return []string{"PROPOSAL", "KIND", "NAME", "CHANGE", "STALE", "CREATED", "DIRECTORY"}
}

// Cells of the table.
func (p proposal) Cells() []string {
	stale := ""
	if p.Stale {
		stale = "yes"
	}
	return []string{p.ProposalID, p.Kind, p.Name, p.ChangeSummary, stale, p.CreatedAt, p.SkillDir}
}

func (a *app) proposals() *cli.Command {
	var diff bool
	return &cli.Command{
		Name: "proposals", Short: "list the changes that wait for a yes, oldest first", Args: "[ID…]",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&diff, "diff", false, "show what each of them changes")
		},
		Run: func(_ context.Context, env *cli.Env) error {
			st, err := openStore(env)
			if err != nil {
				return err
			}
			defer st.Close()
			waiting, err := review.List(st.Home())
			if err != nil {
				return fault.Of(err)
			}
			l := &lookup{app: a, env: env, st: st}
			if len(env.Args) == 0 {
				return fault.Of(l.list(waiting, diff))
			}
			return each(env.Inputs(), env.Out, func(in cli.Input) error {
				i := slices.IndexFunc(waiting, func(p review.Proposal) bool { return p.ID == in.Value })
				if i < 0 {
					return noProposal(in.Value)
				}
				return l.proposal(in.ID, waiting[i], diff)
			})
		},
	}
}

func noProposal(id string) error {
	return wire.Errorf(wire.NotFound, "no proposal %q waits", id).WithHint("openspace-skills proposals lists those that do")
}

// list writes all proposals; one that cannot be read is told on stderr.
func (l *lookup) list(waiting []review.Proposal, diff bool) error {
	for _, p := range waiting {
		if p.Problem != "" {
			l.env.Out.Warn("proposal %s: %s", p.ID, p.Problem)
			l.env.Out.Skip(1)
			continue
		}
		if err := l.proposal("", p, diff); err != nil {
			return err
		}
	}
	return nil
}

// proposal writes one proposal, and with diff what it changes.
func (l *lookup) proposal(id string, p review.Proposal, diff bool) error {
	if p.Problem != "" {
		return wire.Errorf(wire.Corrupt, "%s", p.Problem).WithHint("delete its folder in $OPENSPACE_HOME/proposals")
	}
	stale, err := l.stale(p)
	if err != nil {
		return err
	}
	err = l.env.Out.Emit(proposal{
		ID: id, ProposalID: p.ID, Kind: string(p.Kind), Trigger: p.Trigger, SkillID: p.SkillID, SkillDir: p.SkillDir, Name: p.Name,
		Description: p.Description, ParentSkillIDs: p.ParentSkillIDs, Direction: p.Direction, ChangeSummary: p.ChangeSummary,
		SourceTaskID: p.SourceTaskID, CreatedBy: p.CreatedBy, CreatedAt: stamp(p.CreatedAt), Stale: stale, Warnings: p.Warnings,
	})
	if err != nil || !diff {
		return err
	}
	changes, err := p.Diff(l.st)
	if err != nil {
		return err
	}
	for _, f := range changes {
		rec := diffRecord(f)
		rec.ID, rec.SkillDir, rec.From, rec.To = id, p.SkillDir, p.SkillID, p.ID
		if rec.From == "" {
			rec.From = strings.Join(p.ParentSkillIDs, ",")
		}
		if err := l.env.Out.Emit(rec); err != nil {
			return err
		}
	}
	return nil
}

// stale tells whether the skill that a fix was made for is another by now.
func (l *lookup) stale(p review.Proposal) (bool, error) {
	if p.Kind != review.Fix {
		return false, nil
	}
	head, ok, err := l.st.HeadAt(p.SkillDir)
	if err != nil || !ok || head.SkillID != p.SkillID {
		return true, err
	}
	status, err := l.st.Status(p.SkillDir)
	return status != store.Clean, err
}

func (a *app) approve() *cli.Command {
	return &cli.Command{
		Name: "approve", Short: "put a proposed change in place", Args: "ID…", Stdin: "ids of proposals, one a line",
		Run: a.onProposals(func(ctx context.Context, st *store.Store, id string) (wire.Result, error) {
			rec, err := review.Approve(ctx, st, id)
			return wire.Result{Action: "approve", SkillID: rec.SkillID, SkillDir: rec.Dir(), Path: rec.Path, Message: rec.Lineage.ChangeSummary}, err
		}),
		Signals: true,
	}
}

func (a *app) reject() *cli.Command {
	var reason string
	return &cli.Command{
		Name: "reject", Short: "drop a proposed change; that version is not changed by itself again", Args: "ID…", Stdin: "ids of proposals, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&reason, "reason", "", "`TEXT` that stays in the store")
		},
		Run: a.onProposals(func(ctx context.Context, st *store.Store, id string) (wire.Result, error) {
			p, err := review.Open(st.Home(), id)
			if err == nil {
				err = review.Reject(ctx, st, id, reason)
			}
			return wire.Result{Action: "reject", SkillID: p.SkillID, SkillDir: p.SkillDir, Message: reason}, err
		}),
		Signals: true,
	}
}

// onProposals makes a verb of what is done to each proposal that is named.
func (a *app) onProposals(do func(ctx context.Context, st *store.Store, id string) (wire.Result, error)) func(context.Context, *cli.Env) error {
	return func(ctx context.Context, env *cli.Env) error {
		st, err := openStore(env)
		if err != nil {
			return err
		}
		defer st.Close()
		return each(env.Inputs(typeProposal), env.Out, func(in cli.Input) error {
			id, err := proposalID(in)
			if err != nil {
				return err
			}
			res, err := do(ctx, st, id)
			if err != nil {
				return err
			}
			res.ID, res.Status = in.ID, "success"
			return env.Out.Emit(res)
		})
	}
}

// proposalID returns the id that an input names.
func proposalID(in cli.Input) (string, error) {
	id := in.Value
	if in.Data != nil {
		var rec struct {
			ProposalID string `json:"proposal_id"`
		}
		if err := in.Decode(&rec); err != nil {
			return "", err
		}
		id = rec.ProposalID
	}
	if !skill.ValidID(id) {
		return "", noProposal(id)
	}
	return id, nil
}
