package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The right commands do what the tasks ask for, and the wrong ones do not.
func TestCommands(t *testing.T) {
	all := tasks()
	if len(all) != 20 {
		t.Fatalf("got %d tasks, want 20", len(all))
	}
	for _, task := range all {
		for command, right := range map[string]bool{task.kind.formats[task.format].command: true, task.kind.formats[1-task.format].command: false, task.kind.naive: false} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, task.file), []byte(task.text), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", task.named(command))
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil && right {
				t.Errorf("%s: %v: %s", command, err, out)
			}
			got, _ := os.ReadFile(filepath.Join(dir, task.kind.out))
			if (string(got) == task.want) != right {
				t.Errorf("%s: %s: got %q, wanted %q: right is %v", task.words(), command, got, task.want, right)
			}
		}
	}
}
