package roots

import "github.com/openspace-dev/openspace/pkg/skill"

// Named is a skill's name and the place of its root in the order of roots (0 is the first).
type Named struct {
	Root int
	Name string
}

// Shadows tells for each of all the index of the entry that shadows it, or -1: a skill is shadowed when an earlier root
// has a skill of the same name ([skill.NameKey]), and then by the first such skill of the earliest such root. Skills of
// one name within a root do not shadow each other.
func Shadows(all []Named) []int {
	keys := make([]string, len(all))
	first := make(map[string]int, len(all))
	for i, n := range all {
		keys[i] = skill.NameKey(n.Name)
		if j, ok := first[keys[i]]; !ok || n.Root < all[j].Root {
			first[keys[i]] = i
		}
	}
	by := make([]int, len(all))
	for i, n := range all {
		if by[i] = first[keys[i]]; all[by[i]].Root == n.Root {
			by[i] = -1
		}
	}
	return by
}
