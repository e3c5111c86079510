package evolve

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// maxTypos is by how many letters a model may miss an id, and manyIDs the number of ids above which it is only one.
const (
	maxTypos = 3
	manyIDs  = 20
)

// repairID returns which of the offered ids a model meant: the same, else the only nearest one with the same name, else the only one of that
// name when nothing but the name was given.
func repairID(id string, offered []string) (string, bool) {
	if slices.Contains(offered, id) {
		return id, true
	}
	name, rest, full := strings.Cut(id, "__")
	limit := maxTypos
	if len(offered) > manyIDs {
		limit = 1
	}
	best, found, unique := limit+1, "", false
	for _, o := range offered {
		n, tail, ok := strings.Cut(o, "__")
		if n != name || !ok {
			continue
		}
		d := 0
		if full {
			d = smetrics.WagnerFischer(rest, tail, 1, 1, 1)
		}
		switch {
		case d < best:
			best, found, unique = d, o, true
		case d == best:
			unique = false
		}
	}
	return found, unique && best <= limit
}
