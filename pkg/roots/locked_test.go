package roots_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// DS-07: a folder that cannot be read keeps none of its neighbours from being found. Root reads everything, so as root
// the walk happens in a child of another user.
func TestWalkLocked(t *testing.T) {
	if dir := os.Getenv("ROOTS_TEST_WALK"); dir != "" {
		tree := walk(t, dir)
		os.Stdout.WriteString("found " + strings.Join(rels(tree), ",") + "\nproblems " + strings.Join(codes(tree), ",") + "\n")
		return
	}
	dir := t.TempDir()
	plant(t, dir, "root/good1/SKILL.md", "root/good2/SKILL.md", "root/locked/SKILL.md", "root/listless/x/SKILL.md",
		"root/entered/SKILL.md", "root/dead -> /nonexistent", "root/out -> ../hidden/x", "hidden/x/SKILL.md")
	modes := map[string]os.FileMode{"root/locked": 0, "root/listless": 0o311, "root/entered": 0o311, "hidden": 0}
	for name, mode := range modes {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, name), 0o755) })
	}
	got := walkAsUser(t, filepath.Join(dir, "root"))
	want := "found entered,good1,good2\nproblems link-dangling dead,unreadable listless,unreadable locked,unreadable out\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// walkAsUser runs this test binary again, without the rights of root.
func walkAsUser(t *testing.T, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^TestWalkLocked$")
	cmd.Env = append(os.Environ(), "ROOTS_TEST_WALK="+dir)
	if os.Geteuid() == 0 {
		cmd = asNobody(t, cmd, exe, dir)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("walk as another user: %v\n%s", err, out)
	}
	return string(out)
}

func asNobody(t *testing.T, cmd *exec.Cmd, exe, dir string) *exec.Cmd {
	t.Helper()
	const nobody = 65534
	// The test binary and the tree lie in folders that only root may enter.
	copied := filepath.Join(filepath.Dir(dir), "walker")
	data, err := os.ReadFile(exe)
	must(t, err)
	must(t, os.WriteFile(copied, data, 0o755))
	for up := filepath.Dir(dir); up != os.TempDir() && len(up) > 1; up = filepath.Dir(up) {
		must(t, os.Chmod(up, 0o755))
	}
	cmd.Path = copied
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = filepath.Dir(dir)
	return cmd
}
