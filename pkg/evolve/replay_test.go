package evolve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/review"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

func box(t *testing.T) evolve.Box {
	return evolve.Box{Level: sandbox.BestEffort, Path: "/usr/bin:/bin", Home: filepath.Join(t.TempDir(), "home")}
}

// unexpected fails a test that is warned of anything but a machine on which no command can be without a network.
func unexpected(t *testing.T) func(string, ...any) {
	return func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); strings.Contains(text, "the network cannot be closed") {
			t.Skip(text)
		} else {
			t.Error(text)
		}
	}
}

// rewrite is an edit of the script that the skills of these tests have.
func rewrite(line string) string {
	return "CHANGE_SUMMARY: count otherwise\n\n*** Begin Patch\n*** Update File: scripts/count.sh\n-wc -l <\"$1\"\n+" + line + "\n*** End Patch\n"
}

// A change is tried with the commands of the run that caused it: what worked must still work, and nothing else counts.
func TestReplay(t *testing.T) {
	const script = "#!/bin/sh\nwc -l <\"$1\"\n"
	for _, tt := range []struct {
		name, command string // SKILL is the skill, WORK the workspace
		answers       []any
		asked         int
		refused       string // in the last question
	}{
		{"still works", "sh SKILL/scripts/count.sh WORK/data.txt", []any{rewrite(`grep -c "" "$1"`)}, 1, ""},
		{"breaks, then works", "cd WORK && sh SKILL/scripts/count.sh data.txt >out.txt", []any{rewrite("echo gone >&2; exit 4"), rewrite(`grep -c "" "$1"`)}, 2,
			"ended with status 4\ngone"},
		{"as seen from the workspace", "sh RELATIVE/scripts/count.sh data.txt", []any{rewrite("exit 4"), rewrite(`grep -c "" "$1"`)}, 2, "ended with status 4"},
		{"never worked", "sh SKILL/scripts/count.sh nothing.txt", []any{rewrite("exit 4")}, 1, ""},
		{"another command", "sh SKILL/scripts/other.sh data.txt", []any{rewrite("exit 4")}, 1, ""},
		{"only the text is changed", "sh SKILL/scripts/count.sh data.txt", []any{stepTwo}, 1, ""},
		{"with a secret", "KEY=[secret] sh SKILL/scripts/count.sh data.txt", []any{rewrite("exit 4")}, 1, ""},
		{"moved away", "SKILL/scripts/count.sh data.txt", []any{
			"CHANGE_SUMMARY: another name\n\n*** Begin Patch\n*** Update File: scripts/count.sh\n*** Move to: scripts/lines.sh\n*** End Patch\n",
			rewrite(`grep -c "" "$1"`),
		}, 2, "ended with status 127"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := openStore(t)
			one := addSkill(t, st, fastDir(t), "one", map[string]string{"scripts/count.sh": script, "scripts/other.sh": "#!/bin/sh\n"})
			work := t.TempDir()
			writeFile(t, filepath.Join(work, "data.txt"), "a\nb\n")
			relative, err := filepath.Rel(work, one.Dir())
			if err != nil {
				t.Fatal(err)
			}
			command := strings.NewReplacer("SKILL", one.Dir(), "WORK", work, "RELATIVE", relative).Replace(tt.command)
			m := answers(tt.answers...)
			_, err = engine(t, evolve.Options{Store: st, Model: m, Replay: box(t).Replay, Warn: unexpected(t)}).Evolve(t.Context(), evolve.Request{
				Kind: review.Fix, Trigger: evolve.ByAnalysis, Targets: []string{one.SkillID}, Direction: "count otherwise",
				Run: &evolve.Run{TaskID: "t", Workspace: work, Steps: []evolve.Step{{Phase: 1, Script: command}}},
			})
			if err != nil || len(m.asked) != tt.asked {
				t.Errorf("got %v after %d questions, want %d", err, len(m.asked), tt.asked)
			}
			if !strings.Contains(m.last(), tt.refused) || tt.refused != "" && !strings.Contains(m.last(), "a command of the run works with the files as they were") {
				t.Errorf("got %q, want %q", m.last(), tt.refused)
			}
			if left, err := os.ReadDir(work); err != nil || len(left) != 1 {
				t.Errorf("the workspace has now %v, %v", left, err)
			}
		})
	}
}

// What cannot be tried is told, and does not hold a change up.
func TestReplayImpossible(t *testing.T) {
	st := openStore(t)
	one := addSkill(t, st, fastDir(t), "one", map[string]string{"scripts/count.sh": "wc -l <\"$1\"\n"})
	large, full := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(large, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(large, "x"), 65<<20); err != nil {
		t.Fatal(err)
	}
	for i := range 2001 {
		writeFile(t, filepath.Join(full, fmt.Sprint(i)), "")
	}
	off := box(t)
	off.Level = sandbox.Off
	for name, tt := range map[string]struct {
		work, want string
		box        evolve.Box
	}{
		"large":      {large, "too large", box(t)},
		"many files": {full, "too large", box(t)},
		"gone":       {filepath.Join(full, "none"), "no such file", box(t)},
		"no sandbox": {t.TempDir(), "the network cannot be closed", off},
	} {
		t.Run(name, func(t *testing.T) {
			var warned []string
			e := engine(t, evolve.Options{Store: st, Model: answers(rewrite("exit 4")), Replay: tt.box.Replay, Warn: func(format string, args ...any) {
				warned = append(warned, fmt.Sprintf(format, args...))
			}})
			res, err := e.Evolve(t.Context(), evolve.Request{
				Kind: review.Fix, Trigger: evolve.ByAnalysis, Targets: []string{one.SkillID}, Direction: "count otherwise", DryRun: true,
				Run: &evolve.Run{TaskID: "t", Workspace: tt.work, Steps: []evolve.Step{{Phase: 1, Script: "sh " + one.Dir() + "/scripts/count.sh x"}}},
			})
			if err != nil || res.Outcome != "preview" {
				t.Errorf("got %+v, %v", res, err)
			}
			if len(warned) != 1 || !strings.Contains(warned[0], "the commands of task t are not tried") || !strings.Contains(warned[0], tt.want) {
				t.Errorf("got warnings %q, want one with %q", warned, tt.want)
			}
		})
	}
}

// Commands have the copies of both folders, no network, and their order.
func TestReplayBox(t *testing.T) {
	root := t.TempDir()
	r := evolve.Replay{Workspace: filepath.Join(root, "work"), Skill: filepath.Join(root, "skill")}
	writeFile(t, filepath.Join(r.Workspace, "x"), "")
	writeFile(t, filepath.Join(r.Skill, "SKILL.md"), "")
	r.Scripts = []string{
		`test -f x && test -f "$SKILL_DIR/SKILL.md" && echo 1 >made`, "test -f made", "echo x >../out", "echo why >&2; false", `grep -qv lo: /proc/net/dev && ! grep -q eth /proc/net/dev`,
	}
	got, err := box(t).Replay(t.Context(), r)
	if errors.Is(err, sandbox.ErrUnconfined) {
		t.Skipf("this machine cannot: %v", err)
	}
	if err != nil || len(got) != len(r.Scripts) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i, want := range []bool{true, true, false, false, true} {
		if got[i].OK != want {
			t.Errorf("%s: got %+v, want %v", r.Scripts[i], got[i], want)
		}
	}
	if got[3].Output != "ended with status 1\nwhy\n" {
		t.Errorf("got %q", got[3].Output)
	}
}
