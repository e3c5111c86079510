// Command gen writes what can be derived from the commands: docs/commands.md, the manual pages in docs/man
// and the completions in docs/completion. It asks the commands themselves, so that their manuals, flags and
// pages cannot disagree.
//
// Usage:
//
//	go run ./scripts/gen [-check] [-bin DIR]
//
// With -check it writes nothing and fails when a file is not current. -bin names a folder with commands that
// are built already.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
)

func main() {
	check := flag.Bool("check", false, "only say whether the files are current")
	bin := flag.String("bin", "", "folder with the built commands")
	flag.Parse()
	if err := run(*check, *bin); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(check bool, bin string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	commands, err := load(root, bin)
	if err != nil {
		return err
	}
	files := render(commands)
	if check {
		return compare(root, files)
	}
	for name, data := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// load asks every command of the suite, sorted by name.
func load(root, bin string) ([]cli.Description, error) {
	if bin == "" {
		dir, err := os.MkdirTemp("", "openspace-gen-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		build := exec.Command("go", "build", "-o", dir+"/", "./cmd/...")
		build.Dir, build.Stderr = root, os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build the commands: %w", err)
		}
		bin = dir
	}
	paths, err := filepath.Glob(filepath.Join(bin, "openspace-*"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no commands in %s: %w", bin, errors.Join(err, fs.ErrNotExist))
	}
	sort.Strings(paths)
	var res []cli.Description
	for _, path := range paths {
		out, err := exec.Command(path, "--describe-command").Output()
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", filepath.Base(path), err)
		}
		var c cli.Description
		if err := json.Unmarshal(out, &c); err != nil {
			return nil, fmt.Errorf("describe %s: %w", filepath.Base(path), err)
		}
		res = append(res, c)
	}
	return res, nil
}

// render returns the text of every file by its path below the module.
func render(commands []cli.Description) map[string][]byte {
	files := map[string][]byte{"docs/commands.md": commandsPage(commands)}
	for _, c := range commands {
		files["docs/man/"+c.Name+".1"] = manPage(c, commands)
		files["docs/completion/"+c.Name+".bash"] = bashCompletion(c)
		files["docs/completion/"+c.Name+".fish"] = fishCompletion(c)
		files["docs/completion/_"+c.Name] = zshCompletion(c)
	}
	return files
}

// compare reports the files that are missing, not current, or left over from a command that is gone.
func compare(root string, files map[string][]byte) error {
	var wrong []string
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			wrong = append(wrong, name+" is not current")
		}
	}
	for _, dir := range []string{"docs/man", "docs/completion"} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if _, ok := files[dir+"/"+e.Name()]; !ok {
				wrong = append(wrong, dir+"/"+e.Name()+" belongs to no command")
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	sort.Strings(wrong)
	return fmt.Errorf("%s; run go run ./scripts/gen", strings.Join(wrong, ", "))
}
