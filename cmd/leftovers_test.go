package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// Temporary files of a command that was killed are removed by the next one, not those of one that runs.
func TestTemporaryFilesOfKilled(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		turn int // of the model, in which the command is killed
	}{
		{"openspace-execute", []string{"--search-scope", "none", "--no-recording", "--workspace-dir", "work", "count"}, 1},
		{"openspace-fix-skill", []string{"skill", "--direction", "say more"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reached, goOn := make(chan bool, 100), make(chan bool)
			model := llmtest.Start(t, llmtest.Script{Answer: func(r llmtest.Request) (llmtest.Step, bool) {
				if r.Turn() < tt.turn {
					return call("run_shell", map[string]any{"command": "echo 1 >$TMPDIR/file"}), true
				}
				reached <- true
				<-goOn
				return say("done"), true
			}})
			home, tmp := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(home, "skill"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "skill", "SKILL.md"), []byte("---\nname: skill\ndescription: Counts things.\n---\n# Skill\n\nCount.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command := func() *exec.Cmd {
				c := exec.Command(filepath.Join(bin, tt.name), tt.args...)
				c.Dir = home
				c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + tmp, "OPENSPACE_HOME=" + filepath.Join(home, "os"),
					"OPENSPACE_MODEL=test/model", "OPENSPACE_LLM_API_BASE=" + model.URL, "OPENSPACE_LLM_API_KEY=key-of-the-test", "GOCOVERDIR=" + os.Getenv("SUITE_COVERDIR")}
				return c
			}
			killed := command()
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			killed.Process.Kill()
			killed.Wait()
			close(goOn)
			if left := filesIn(t, tmp); len(left) != 1 {
				t.Fatalf("got %q in the folder for temporary files, want one folder", left)
			}
			if out, err := command().CombinedOutput(); err != nil && tt.name == "openspace-execute" {
				t.Fatalf("%v: %s", err, out)
			}
			if left := filesIn(t, tmp); len(left) != 0 {
				t.Errorf("got %q after another run, want nothing", left)
			}
		})
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
