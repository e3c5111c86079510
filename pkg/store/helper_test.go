package store_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/store"
)

// The test binary runs itself as a separate process: with helperEnv set it
// does one thing to a store instead of running tests.
const helperEnv = "STORE_TEST_HELPER"

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		if err := helper(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helperCommand is this binary as a process of its own.
func helperCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	// The race detector would have each process wait a second before it ends.
	cmd.Env = append(os.Environ(), helperEnv+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// helper runs: home, skill folder, name of an action, number of the fault point
// to die at (0: run to the end and print the points).
func helper(args []string) error {
	home, dir, action := args[0], args[1], args[2]
	die, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	var points []string
	s, err := store.Open(home, store.Options{Fault: func(point string) {
		points = append(points, point)
		if len(points) == die {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err != nil {
		return err
	}
	if base, ok := strings.CutSuffix(action, "-plain"); ok {
		action = base
		s.PlainRename()
	}
	act, ok := actions[action]
	if !ok {
		return fmt.Errorf("no action %q", action)
	}
	if err := act(s, dir); err != nil {
		return err
	}
	if die == 0 {
		fmt.Println(strings.Join(points, "\n"))
	}
	return s.Close()
}

const editedBody = "edited body"

// actions are what a helper process can do with a store and a skill folder.
var actions = map[string]func(s *store.Store, dir string) error{
	"register": func(s *store.Store, dir string) error {
		_, err := s.Register(context.Background(), dir, true)
		return err
	},
	"replace": func(s *store.Store, dir string) error {
		_, err := s.Replace(context.Background(), dir, "", store.Record{}, func(stage string) error {
			return os.WriteFile(filepath.Join(stage, "SKILL.md"), []byte(text("pdf", editedBody)), 0o644)
		})
		return err
	},
	"create": func(s *store.Store, dir string) error {
		_, err := s.Create(context.Background(), dir, store.Record{}, func(stage string) error {
			return os.WriteFile(filepath.Join(stage, "SKILL.md"), []byte(text("pdf", editedBody)), 0o644)
		})
		return err
	},
	"rollback": func(s *store.Store, dir string) error {
		versions, err := s.Versions(dir)
		if err != nil {
			return err
		}
		_, err = s.Rollback(context.Background(), dir, versions[0].SkillID)
		return err
	},
	"analysis": func(s *store.Store, dir string) error {
		_, err := s.RecordAnalysis(context.Background(), bigAnalysis("big"))
		return err
	},
	"gc": func(s *store.Store, dir string) error {
		_, err := s.GC(context.Background(), false)
		return err
	},
	"recover": func(s *store.Store, dir string) error {
		_, err := s.Recover(context.Background())
		return err
	},
	"rebuild": func(s *store.Store, dir string) error {
		return s.Rebuild(context.Background())
	},
	"append": appendMany,
}

// bigAnalysis is long enough that the catalogue is refreshed after it.
func bigAnalysis(task string) store.Analysis {
	return store.Analysis{TaskID: task, TaskCompleted: true, ExecutionNote: strings.Repeat("x", store.TailLimit+1),
		SkillJudgments: []store.Judgment{{SkillID: "pdf__imp_00000000", SkillApplied: true}}}
}
