package main

import (
	"context"
	"errors"
	"strconv"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// importer is the command that fetches skills.
const importer = "openspace-download-skill"

// importBest imports the best n hits that are only in the registry, and notes in each what came of it.
func (o *options) importBest(ctx context.Context, env *cli.Env, hits []wire.Hit, n int) error {
	var wanted []int
	for i, h := range hits {
		if h.SkillDir == "" && len(wanted) < n {
			wanted = append(wanted, i)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	path, err := pipe.Find(importer, env.Settings.Getenv("PATH"))
	if err != nil {
		return err
	}
	child, err := pipe.Start(ctx, path, pipe.Options{
		Args: o.importArgs(env), Dir: env.Dir, Environ: env.Environ, Stderr: func(line string) { relay(env, line) },
	})
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- send(child, hits, wanted) }()
	for rec := range child.Records() {
		if i, err := strconv.Atoi(rec.ID); err == nil && i >= 0 && i < len(hits) {
			o.noteImport(env, &hits[i], rec)
		}
	}
	err = <-sent
	status, waited := child.Wait()
	switch {
	case waited != nil:
		return waited
	case err != nil && !errors.Is(err, syscall.EPIPE):
		return err
	}
	return undone(hits, wanted, child, status)
}

// relay hands on what the child says to people. An error about its run comes back from it in another way.
func relay(env *cli.Env, line string) {
	var p wire.Problem
	switch err := jsonl.Unmarshal([]byte(line), &p); {
	case err != nil:
		env.Warn("%s", line)
	case p.Type == wire.TypeProblem:
		env.Warn("%s", p.Message)
	}
}

// send asks for the wanted hits, each by its place in the list.
func send(child *pipe.Child, hits []wire.Hit, wanted []int) error {
	defer child.CloseInput()
	for _, i := range wanted {
		h := hits[i]
		h.ID = strconv.Itoa(i)
		if err := child.Send(h.Typed()); err != nil {
			return err
		}
	}
	return nil
}

// undone returns why hits have no answer, when some have none.
func undone(hits []wire.Hit, wanted []int, child *pipe.Child, status int) error {
	for _, i := range wanted {
		if hits[i].LocalPath == "" && len(hits[i].Warnings) == 0 {
			return child.Trouble(status)
		}
	}
	return nil
}

// importArgs hands on what was said on our command line; everything else the child finds where we found it.
func (o *options) importArgs(env *cli.Env) []string {
	args := []string{"--jsonl"}
	if v, ok := env.Settings.Get("api-base"); ok && v.Source == settings.Flag {
		args = append(args, "--api-base="+v.Value)
	}
	if v, ok := env.Settings.Get("policy"); ok && v.Source == settings.Flag {
		args = append(args, "--policy="+v.Value)
	}
	return append(args, "-")
}

// noteImport completes a hit by the answer about it.
func (o *options) noteImport(env *cli.Env, h *wire.Hit, rec pipe.Record) {
	switch rec.Type {
	case wire.TypeImported:
		var got wire.Imported
		if rec.Decode(&got) != nil || got.SkillDir == "" {
			return
		}
		h.AutoImported, h.LocalPath, h.SkillDir = true, got.SkillDir, got.SkillDir
		h.Warnings = append(h.Warnings, got.Warnings...)
	case wire.TypeError:
		var failed wire.Error
		if rec.Decode(&failed) != nil {
			return
		}
		h.Warnings = append(h.Warnings, "not imported: "+failed.Message)
		env.Warn("%s was not imported: %s", h.SkillID, failed.Message)
	}
}
