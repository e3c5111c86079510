package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostReadmeLines is what a newcomer reads.
const mostReadmeLines = 150

// TestReadmeCommands runs the sh blocks of the README, one after the other in one shell, in a folder that
// looks like a fresh build. Each block must succeed and print something.
func TestReadmeCommands(t *testing.T) {
	blocks := readmeBlocks(t)
	if len(blocks) < 5 {
		t.Fatalf("got %d sh blocks in the README, want at least 5", len(blocks))
	}
	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("jq is not installed: lines with it are left out")
		for i := range blocks {
			blocks[i] = regexp.MustCompile(`(?m)^.*\| jq .*$`).ReplaceAllString(blocks[i], "")
		}
	}
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, b := range blocks {
		script.WriteString(b + "echo '== end of block'\n")
	}
	out := runReadme(t, script.String())
	parts := strings.Split(out, "== end of block\n")
	for i, b := range blocks {
		if i < len(parts) && strings.TrimSpace(parts[i]) == "" {
			t.Errorf("block %d prints nothing:\n%s", i+1, b)
		}
	}
	// What the README shows as output is what comes out.
	for _, want := range regexp.MustCompile(`(?m)^    \d\t.*$`).FindAllString(readFile(t, "../README.md"), -1) {
		if !strings.Contains(out, strings.TrimSpace(want)+"\n") {
			t.Errorf("the README shows %q, which no command printed", want)
		}
	}
}

// runReadme runs a script beside bin/ and samples/ and returns what it writes to stdout.
func runReadme(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(bin, filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "samples"), os.DirFS("../samples")); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-c", script)
	sh.Dir = dir
	sh.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GOCOVERDIR=" + os.Getenv("SUITE_COVERDIR")}
	var stdout, stderr bytes.Buffer
	sh.Stdout, sh.Stderr = &stdout, &stderr
	if err := sh.Run(); err != nil {
		t.Fatalf("run the README's commands: %v\nstdout:\n%s\nstderr:\n%s", err, &stdout, &stderr)
	}
	return stdout.String()
}

// readmeBlocks returns the text of each block that begins with ```sh.
func readmeBlocks(t *testing.T) []string {
	t.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(readFile(t, "../README.md"), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestQuickstart runs the README's first command. It leaves nothing behind but bin/.
func TestQuickstart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the suite once more")
	}
	temp := t.TempDir()
	quickstart := exec.Command("../scripts/quickstart")
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasSuffix(name, "_API_KEY") { // with a key its last task would be a live one
			quickstart.Env = append(quickstart.Env, kv)
		}
	}
	quickstart.Env = append(quickstart.Env, "TMPDIR="+temp, "OPENSPACE_LIMIT=no number")
	out, err := quickstart.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\nDone.")) {
		t.Fatalf("run quickstart: %v\n%s", err, out)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("got %d files left in the temporary folder (%v), want none: %v", len(left), err, left)
	}
}

// TestReadmeIsComplete checks the README's table of commands against the commands, and its length.
func TestReadmeIsComplete(t *testing.T) {
	text := readFile(t, "../README.md")
	if n := strings.Count(text, "\n"); n > mostReadmeLines {
		t.Errorf("got %d lines in the README, want at most %d", n, mostReadmeLines)
	}
	for _, name := range commands(t) {
		if !strings.Contains(text, "| `"+name) {
			t.Errorf("the README's table of commands has no %s", name)
		}
	}
	for _, verb := range verbs(t) {
		if !strings.Contains(text, "`openspace-skills "+verb+"`") && !strings.Contains(text, "`"+verb+"`") {
			t.Errorf("the README's table of commands has no openspace-skills %s", verb)
		}
	}
	for _, m := range regexp.MustCompile("`(openspace-[a-z-]+)").FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(bin, m[1])); err != nil {
			t.Errorf("the README names %s, which is no command", m[1])
		}
	}
}

// verbs returns what openspace-skills can do, as it says itself.
func verbs(t *testing.T) []string {
	t.Helper()
	out, _ := exec.Command(filepath.Join(bin, "openspace-skills"), "no-such-verb").CombinedOutput()
	m := regexp.MustCompile(`the commands are ([a-z, ]+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("openspace-skills does not list its commands: %s", out)
	}
	return strings.Split(string(m[1]), ", ")
}

// online are the commands that docs/security.md names as those that talk to others.
var online = []string{
	"openspace-download-skill", "openspace-execute", "openspace-fix-skill", "openspace-gateway", "openspace-mcp", "openspace-registry", "openspace-search", "openspace-upload-skill",
}

// TestNoNetwork checks the promise of docs/security.md that nothing leaves the machine but by commands that it names.
func TestNoNetwork(t *testing.T) {
	doc, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commands(t) {
		out, err := exec.Command("go", "list", "-deps", module+"/cmd/"+name).Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("list what %s links: %v", name, err)
		}
		links := strings.Contains("\n"+string(out), "\nnet\n")
		if links != slices.Contains(online, name) {
			t.Errorf("%s: links the network package: %v", name, links)
		}
		if links && !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/security.md does not tell what %s sends", name)
		}
	}
}

// TestDocLinks checks that the pages that the documents link to exist.
func TestDocLinks(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("got %d pages in docs (%v), want at least 5", len(pages), err)
	}
	pages = append(pages, "../README.md", "../CONTRIBUTING.md")
	for _, page := range pages {
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(readFile(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestDependenciesAreExplained compares the table in docs/dependencies.md with go.mod.
func TestDependenciesAreExplained(t *testing.T) {
	required := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\d`).FindAllStringSubmatch(readFile(t, "../go.mod"), -1) {
		required[m[1]] = true
	}
	if len(required) < 5 {
		t.Fatalf("got %d modules in go.mod, want at least 5", len(required))
	}
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\|").FindAllStringSubmatch(readFile(t, "../docs/dependencies.md"), -1) {
		explained[m[1]] = true
		if !required[m[1]] {
			t.Errorf("docs/dependencies.md explains %s, which go.mod does not require", m[1])
		}
	}
	for path := range required {
		if !explained[path] {
			t.Errorf("docs/dependencies.md has no row for %s", path)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
