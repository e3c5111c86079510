package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// published is the record of a published skill.
type published struct {
	Type string `json:"type"` // "record"
	ID   string `json:"id,omitempty"`
	api.Record
	SignedBy    string `json:"signed_by,omitempty"`
	ArchivePath string `json:"archive_path,omitempty"` // of the zip file
}

// Typed returns the record with its type.
func (p published) Typed() wire.Record { p.Type = "record"; return p }

// Columns are the headings of Cells.
func (published) Columns() []string {
	return []string{"RECORD ID", "NAME", "OWNER", "VISIBILITY", "DOWNLOADS", "CREATED", "SIGNED BY", "DEPRECATED", "DESCRIPTION"}
}

// Cells are the values of a row.
func (p published) Cells() []string {
	return []string{p.RecordID, p.Name, p.Owner, p.Visibility, fmt.Sprint(p.Downloads), p.CreatedAt, p.SignedBy, p.Deprecated, p.Description}
}

// records is the verb records.
func (a *app) records() *cli.Command {
	var owner string
	return &cli.Command{
		Name: "records", Short: "list and show what was published", Args: "list|show [ID…]", Stdin: "record ids, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&owner, "owner", "", "list only records of `NAME`")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			if len(env.Args) == 0 {
				return wire.Errorf(wire.Usage, "want list or show")
			}
			verb := env.Args[0]
			env.Args = env.Args[1:]
			return a.withFiles(env, func(s *registry.Files) error {
				switch {
				case verb == "list" && len(env.Args) == 0:
					return listRecords(ctx, env, s, owner)
				case verb == "show":
					return showRecords(ctx, env, s)
				}
				return wire.Errorf(wire.Usage, "want records list, or records show ID…")
			})
		},
	}
}

func record(r api.Record) published {
	return published{Record: r, SignedBy: r.Signature.KeyID()}
}

func listRecords(ctx context.Context, env *cli.Env, s *registry.Files, owner string) error {
	any := false
	err := registry.Records(ctx, s, func(r api.Record) error {
		if owner != "" && r.Owner != owner {
			return nil
		}
		any = true
		return env.Out.Emit(record(r))
	})
	if err == nil && !any {
		return wire.ErrNone
	}
	return err
}

func showRecords(ctx context.Context, env *cli.Env, s *registry.Files) error {
	for in := range env.Inputs("record", wire.TypeUpload, wire.TypeHit, wire.TypeImported) {
		id, err := recordID(in)
		var r api.Record
		if err == nil {
			r, err = registry.Record(ctx, s, id)
		}
		if err != nil {
			err = env.Out.Fail(in.About(coded(err)))
		} else {
			out := record(r)
			out.ID, out.ArchivePath = in.ID, s.BlobPath(r.Digest)
			err = env.Out.Emit(out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordID returns the record id that an input names.
func recordID(in cli.Input) (string, error) {
	if in.Data == nil {
		return in.Value, nil
	}
	var rec struct {
		RecordID string `json:"record_id"`
		SkillID  string `json:"skill_id"`
	}
	if err := in.Decode(&rec); err != nil {
		return "", err
	}
	if rec.RecordID != "" {
		return rec.RecordID, nil
	}
	if rec.SkillID == "" {
		return "", in.Errorf(wire.Invalid, "record has neither record_id nor skill_id")
	}
	return rec.SkillID, nil
}
