package roots_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/roots"
)

// plant makes a tree: "a/SKILL.md" is a file, "a/" a folder, "a -> b" a link.
func plant(t testing.TB, dir string, entries ...string) {
	t.Helper()
	for _, e := range entries {
		link, target, isLink := strings.Cut(e, " -> ")
		path := filepath.Join(dir, link)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case isLink:
			must(t, os.Symlink(target, path))
		case strings.HasSuffix(e, "/"):
			must(t, os.MkdirAll(path, 0o755))
		default:
			must(t, os.WriteFile(path, []byte("---\nname: x\ndescription: y\n---\n"), 0o644))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func walk(t testing.TB, dir string) *roots.Tree {
	t.Helper()
	tree, err := roots.Walk(context.Background(), roots.Root{Dir: dir, Origin: roots.FromFlag})
	must(t, err)
	return tree
}

func rels(tree *roots.Tree) []string {
	var out []string
	for _, f := range tree.Folders {
		out = append(out, f.Rel)
	}
	return out
}

// codes gives "code path-below-root" of each problem.
func codes(tree *roots.Tree) []string {
	var out []string
	for _, p := range tree.Problems {
		rel, err := filepath.Rel(tree.Root.Dir, p.Path)
		if err != nil {
			rel = p.Path
		}
		out = append(out, p.Code+" "+rel)
	}
	return out
}

func TestWalk(t *testing.T) {
	for _, tc := range []struct {
		name     string
		tree     []string
		want     []string
		problems []string
	}{
		{"empty root", nil, nil, []string{"no-skill-file ."}},
		{"flat", []string{"b/SKILL.md", "a/SKILL.md", "README.md"}, []string{"a", "b"}, nil},
		{"lower-case file", []string{"a/skill.md", "b/skill.md", "b/SKILL.md"}, []string{"a", "b"}, nil},
		{"groups", []string{"embedded/startup/SKILL.md", "web/startup/SKILL.md"}, []string{"embedded/startup", "web/startup"}, nil},
		{"names with dots", []string{".hidden/SKILL.md", "a.b/SKILL.md", "..c/SKILL.md"}, []string{"..c", ".hidden", "a.b"}, nil},
		{"other scripts", []string{"技能-审查/SKILL.md", "мой навык/SKILL.md"}, []string{"мой навык", "技能-审查"}, nil},
		{"ends at a skill", []string{"a/SKILL.md", "a/inner/SKILL.md"}, []string{"a"}, nil},
		{"root is a skill", []string{"SKILL.md", "sub/SKILL.md"}, []string{".", "sub"}, nil},
		{"never entered", []string{
			".git/x/SKILL.md", ".hg/x/SKILL.md", ".svn/x/SKILL.md", "node_modules/y/SKILL.md", "__pycache__/z/SKILL.md",
			".venv/x/SKILL.md", "venv/x/SKILL.md", ".cache/x/SKILL.md", ".os-stage-1-a/SKILL.md", "real/SKILL.md",
		}, []string{"real"}, nil},
		{"six levels", []string{"1/2/3/4/5/6/SKILL.md", "1/2/3/4/5/b/7/SKILL.md", "1/2/3/4/5/b/8/"},
			[]string{"1/2/3/4/5/6"}, []string{"too-deep 1/2/3/4/5/b/7"}},
		{"wrong case", []string{"a/Skill.md", "b/SKILL.md"}, []string{"b"}, []string{"skill-file-case a/Skill.md"}},
		{"skill file is a folder", []string{"a/SKILL.md/", "b/SKILL.md"}, []string{"b"}, []string{"skill-file-type a/SKILL.md"}},
		{"skill file is a link", []string{"real.txt", "a/SKILL.md -> ../real.txt"}, []string{"a"}, nil},
		{"skill file dangles", []string{"a/SKILL.md -> nowhere", "b/SKILL.md"}, []string{"b"}, []string{"link-dangling a/SKILL.md"}},
		{"forgotten skill file", []string{"a/README.md", "b/c/d/", "b/e/", "f/g/SKILL.md", "f/h/"},
			[]string{"f/g"}, []string{"no-skill-file a", "no-skill-file b", "no-skill-file f/h"}},
		{"not utf-8", []string{"a\xff/SKILL.md", "b/SKILL.md"}, []string{"b"}, []string{"path-not-utf8 a\xff"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, tc.tree...)
			check(t, walk(t, dir), tc.want, tc.problems)
		})
	}
}

func check(t *testing.T, tree *roots.Tree, want, problems []string) {
	t.Helper()
	if got := rels(tree); !slices.Equal(got, want) {
		t.Errorf("got folders %q, want %q", got, want)
	}
	if got := codes(tree); !slices.Equal(got, problems) {
		t.Errorf("got problems %q, want %q", got, problems)
	}
}

// DS-01, DS-02, DS-03 and DS-07.
func TestWalkLinks(t *testing.T) {
	for _, tc := range []struct {
		name     string
		tree     []string // below a folder that holds root/ and its neighbours
		want     []string
		problems []string
	}{
		{"to a skill outside", []string{"real/SKILL.md", "root/linked -> ../real"}, []string{"linked"}, nil},
		{"two links to one skill outside", []string{"real/SKILL.md", "root/b -> ../real", "root/a -> ../real"}, []string{"a"}, nil},
		{"to a skill in the root", []string{"root/z/SKILL.md", "root/a -> z"}, []string{"z"}, nil},
		{"link to a link", []string{"real/SKILL.md", "hop -> real", "root/a -> ../hop"}, []string{"a"}, nil},
		{"loop in a skill", []string{"root/demo/SKILL.md", "root/demo/demo -> ."}, []string{"demo"}, nil},
		{"loop in a group", []string{"root/g/a/SKILL.md", "root/g/up -> ..", "root/self -> ."}, []string{"g/a"}, nil},
		{"to itself", []string{"root/a/SKILL.md", "root/me -> me"}, []string{"a"}, []string{"link-dangling me"}},
		{"to everything", []string{"root/a/SKILL.md", "root/everything -> /"}, []string{"a"}, []string{"link-outside everything"}},
		{"to everything from a skill", []string{"root/trap/SKILL.md", "root/trap/everything -> /"}, []string{"trap"}, nil},
		{"to a group outside", []string{"others/x/SKILL.md", "root/a/SKILL.md", "root/more -> ../others"}, []string{"a"}, []string{"link-outside more"}},
		{"to a neighbour with the same beginning", []string{"root-2/x/SKILL.md", "root/a/SKILL.md", "root/more -> ../root-2"}, []string{"a"}, []string{"link-outside more"}},
		{"dangling", []string{"root/good1/SKILL.md", "root/good2/SKILL.md", "root/dead -> /nonexistent"}, []string{"good1", "good2"}, []string{"link-dangling dead"}},
		{"to a file", []string{"root/a/SKILL.md", "root/note -> a/SKILL.md"}, []string{"a"}, nil},
		{"to a group that is not entered", []string{"root/node_modules/pkg/skills/x/SKILL.md", "root/node_modules/pkg/skills/y/SKILL.md",
			"root/a -> node_modules/pkg/skills/y", "root/pkg -> node_modules/pkg/skills"}, []string{"a", "pkg/x"}, nil},
		{"to a name that is not entered", []string{"root/a/SKILL.md", "root/.git/x/SKILL.md", "root/git -> .git"}, []string{"a"}, nil},
		{"links over links", []string{"root/a/SKILL.md", "root/a/deep/x/SKILL.md", "root/a/deep/y -> ../../a", "root/a/deep/z -> ../more",
			"root/a/more/w/SKILL.md", "root/in -> a/deep"}, []string{"a", "in/x", "in/z/w"}, nil},
		{"one shared skill file", []string{"shared.md", "root/a/SKILL.md -> ../../shared.md", "out/SKILL.md -> ../shared.md", "root/b -> ../out"},
			[]string{"a", "b"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, tc.tree...)
			check(t, walk(t, filepath.Join(dir, "root")), tc.want, tc.problems)
		})
	}
}

func TestWalkRootIsALink(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "real/a/SKILL.md", "real/g/x/SKILL.md", "real/a/inner/y/SKILL.md", "real/more -> a/inner", "root -> real")
	tree := walk(t, filepath.Join(dir, "root"))
	check(t, tree, []string{"a", "g/x", "more/y"}, nil)
	if got, want := tree.Folders[0].Dir, filepath.Join(dir, "root", "a"); got != want {
		t.Errorf("got dir %q, want %q", got, want)
	}
}

func TestWalkNoRoot(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "file")
	check(t, walk(t, filepath.Join(dir, "gone")), nil, []string{"root-missing ."})
	check(t, walk(t, filepath.Join(dir, "file")), nil, []string{"root-not-folder ."})
}

func TestWalkCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := roots.Walk(ctx, roots.Root{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// DS-06: what lies in folders that are never entered costs nothing.
func TestWalkManyFilesAside(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "real/SKILL.md", "node_modules/y/SKILL.md")
	for i := range 50_000 {
		must(t, os.WriteFile(filepath.Join(dir, "node_modules", strconv.Itoa(i)), nil, 0o644))
	}
	tree := walk(t, dir)
	check(t, tree, []string{"real"}, nil)
	if len(tree.Dirs) != 1 {
		t.Errorf("got %d listed folders, want only the root", len(tree.Dirs))
	}
}

// The order of the disk and of goroutines must not show.
func TestWalkIsStable(t *testing.T) {
	dir := t.TempDir()
	for i := range 1000 {
		plant(t, dir, "g"+strconv.Itoa(i%7)+"/s"+strconv.Itoa(i)+"/SKILL.md")
	}
	first := walk(t, dir)
	if len(first.Folders) != 1000 || len(first.Dirs) != 8 {
		t.Fatalf("got %d skills and %d listed folders, want 1000 and 8", len(first.Folders), len(first.Dirs))
	}
	for range 5 {
		next := walk(t, dir)
		if !slices.Equal(next.Folders, first.Folders) || !slices.Equal(next.Dirs, first.Dirs) {
			t.Fatal("two walks over one tree differ")
		}
	}
}
