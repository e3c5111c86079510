package roots_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/roots"
)

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "a/", "b/", "link -> a", "file", "home/skills/", "bare/")
	in := func(names ...string) []string {
		var out []string
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	for _, tc := range []struct {
		name              string
		flag, env, config []string
		home              string
		want              []string // "origin path"
		problems          []string
	}{
		{"nothing", nil, nil, nil, "", nil, nil},
		{"all, in order", nil, in("b"), in("a"), "home", []string{"env b", "config a", "home home/skills"}, nil},
		{"flag alone", in("a"), in("b"), in("b"), "home", []string{"flag a"}, nil},
		{"blank flag is none", []string{" ", ""}, in("b"), nil, "", []string{"env b"}, nil},
		{"missing flag is still a flag", in("gone"), in("b"), nil, "home", nil, []string{"root-missing gone"}},
		{"blanks around", []string{"  " + filepath.Join(dir, "a") + "\t"}, nil, nil, "", []string{"flag a"}, nil},
		{"once, first place", in("link", "a", "b", "b/"), nil, nil, "", []string{"flag link", "flag b"}, nil},
		{"once over origins", nil, in("a"), in("link"), "", []string{"env a"}, nil},
		{"not a folder", in("file", "b"), nil, nil, "", []string{"flag b"}, []string{"root-not-folder file"}},
		{"home without skills", nil, nil, nil, "bare", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := tc.home
			if home != "" {
				home = filepath.Join(dir, home)
			}
			list, problems := roots.Resolve(tc.flag, tc.env, tc.config, home)
			var got []string
			for _, r := range list {
				rel, _ := filepath.Rel(dir, r.Dir)
				got = append(got, r.Origin+" "+rel)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got roots %q, want %q", got, tc.want)
			}
			tree := &roots.Tree{Root: roots.Root{Dir: dir}, Problems: problems}
			if got := codes(tree); !slices.Equal(got, tc.problems) {
				t.Errorf("got problems %q, want %q", got, tc.problems)
			}
		})
	}
}

func TestResolveRelative(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "skills/")
	t.Chdir(dir)
	list, _ := roots.Resolve([]string{"./skills"}, nil, nil, "")
	if len(list) != 1 || list[0].Dir != filepath.Join(dir, "skills") {
		t.Errorf("got %v, want the absolute path of skills", list)
	}
}

// DS-04.
func TestShadows(t *testing.T) {
	for _, tc := range []struct {
		name string
		all  []roots.Named
		want []int
	}{
		{"none", nil, []int{}},
		{"earlier root wins", []roots.Named{{0, "goal"}, {1, "goal"}}, []int{-1, 0}},
		{"in any order", []roots.Named{{1, "goal"}, {0, "goal"}}, []int{1, -1}},
		{"other case", []roots.Named{{0, "Goal"}, {1, "goal"}}, []int{-1, 0}},
		{"accent forms", []roots.Named{{0, "caf\u00e9"}, {1, "cafe\u0301"}}, []int{-1, 0}},
		{"one root keeps both", []roots.Named{{0, "startup"}, {0, "startup"}}, []int{-1, -1}},
		{"first of the earliest", []roots.Named{{2, "a"}, {1, "a"}, {1, "a"}, {2, "a"}}, []int{1, -1, -1, 1}},
		{"other names", []roots.Named{{0, "a"}, {1, "b"}}, []int{-1, -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := roots.Shadows(tc.all); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
