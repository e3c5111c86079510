package main

import (
	"context"
	"flag"
	"io"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

type scan struct {
	policy string
	format *string

	judge   safety.Policy
	reports map[string]safety.Report // for SARIF
}

func (a *app) scan() *cli.Command {
	var s scan
	return &cli.Command{
		Name: "scan", Short: "look for what is unsafe in skills", Args: "DIR…", Stdin: "folders, one a line",
		Flags: s.flags, Run: s.run,
	}
}

func (s *scan) flags(fs *flag.FlagSet) {
	fs.StringVar(&s.policy, "policy", "", "`POLICY` is block, warn, allow, strict or a list such as block=critical,high;allow=rule-id")
	s.format = cli.Choice(fs, "format", "`FORMAT` is records, as the flags for output say, or sarif", "records", "sarif")
}

func (s *scan) run(ctx context.Context, env *cli.Env) error {
	var err error
	if s.judge, err = safety.ParsePolicy(s.policy); err != nil {
		return wire.Errorf(wire.Usage, "%w", err)
	}
	s.reports = map[string]safety.Report{}
	var document io.Writer
	if *s.format == "sarif" {
		document = env.Out.Document()
	}
	err = each(env.Inputs(readsRecords...), env.Out, func(in cli.Input) error {
		dir, err := folderOf(env, in)
		if err != nil {
			return err
		}
		dirs, _, err := skillFolders(ctx, dir)
		if err != nil {
			return err
		}
		if len(dirs) == 0 {
			dirs = []string{dir} // what is no skill can be unsafe as well
			if err := s.passedOver(env, noSkillFile(dir)); err != nil {
				return err
			}
		}
		for _, dir := range dirs {
			if err := s.folder(env, in, dir); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || document == nil {
		return err
	}
	return safety.SARIF(document, s.reports)
}

// passedOver tells of a folder as reportAll does, but on stderr when stdout is one document.
func (s *scan) passedOver(env *cli.Env, d skill.Diagnostic) error {
	if *s.format == "sarif" {
		env.WarnOf(wire.NewProblem(d, ""))
		return nil
	}
	return reportAll(env, []skill.Diagnostic{d})
}

func noSkillFile(dir string) skill.Diagnostic {
	return skill.Diagnostic{
		Code: "no-skill-file", Severity: skill.Warning, Path: dir, Message: "there is no skill here; the folder itself is looked through",
		Hint: "name a folder with a " + skill.FileName,
	}
}

// folder scans one folder. The verdict is a result; a blocked one is an error in its place.
func (s *scan) folder(env *cli.Env, in cli.Input, dir string) error {
	report, err := safety.ScanDir(dir, s.judge)
	if err != nil {
		return env.Out.Fail(aboutDir(in, dir, err))
	}
	if *s.format == "sarif" {
		s.reports[fromHere(env, dir)] = report
	} else if err := s.findings(env, in, dir, report); err != nil {
		return err
	}
	if report.Verdict == safety.Block {
		return env.Out.Fail(aboutDir(in, dir, wire.Errorf(wire.Unsafe, "blocked: %s", strings.Join(report.Flags, ", "))))
	}
	if *s.format == "sarif" || forPeople(env.Out) {
		return nil
	}
	return env.Out.Emit(wire.Result{
		ID: in.ID, Status: string(report.Verdict), Action: "scan", SkillDir: dir, Message: strings.Join(report.Flags, ", "), Count: len(report.Findings),
	})
}

// fromHere is a folder as code hosts want it: relative to where the command runs, unless it lies elsewhere.
func fromHere(env *cli.Env, dir string) string {
	if rel, err := filepath.Rel(env.Dir, dir); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return dir
}

func (s *scan) findings(env *cli.Env, in cli.Input, dir string, report safety.Report) error {
	for _, f := range report.Findings {
		rec := wire.Finding{
			ID: in.ID, Rule: f.Rule, Flag: f.Flag, Severity: string(f.Severity), Verdict: string(s.judge.Verdict(f)), SkillDir: dir,
			Path: filepath.Join(dir, filepath.FromSlash(f.Path)), Line: f.Line, Column: f.Column, Message: f.Message, Excerpt: f.Excerpt,
		}
		if err := env.Out.Emit(rec); err != nil {
			return err
		}
	}
	return nil
}
