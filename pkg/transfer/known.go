package transfer

import (
	"regexp"
	"strings"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
)

// localID is the form of ids that this suite makes for itself; every other one is a registry's.
const localID = `__(?:imp|v[0-9]+)_[0-9a-f]{8}$`

// origins tells which record of a registry a folder or a local id goes back to.
type origins struct {
	store *store.Store
	local *regexp.Regexp
}

func newOrigins(s *store.Store) origins { return origins{s, regexp.MustCompile(localID)} }

// isLocal tells whether an id was made on this machine and means nothing to a registry.
func (o origins) isLocal(id string) bool { return o.local.MatchString(id) }

// folder returns the registry's id of the version that a folder holds or was made from; "" when there is none.
func (o origins) folder(dir string) (string, error) {
	ids, err := o.chain(dir)
	if err != nil || len(ids) == 0 || o.isLocal(ids[len(ids)-1]) {
		return "", err
	}
	return ids[len(ids)-1], nil
}

// chain returns the id of the version in a folder and those it was made from, up to the first that a registry gave.
func (o origins) chain(dir string) ([]string, error) {
	head, ok, err := o.store.HeadAt(dir)
	if err != nil {
		return nil, err
	}
	id := head.SkillID
	if !ok {
		id, _ = skill.ReadID(dir)
	}
	return o.walk(id)
}

// id returns a registry's id as it is, and of a local one the nearest ancestor in its line that a registry
// knows; "" when there is none.
func (o origins) id(id string) (string, error) {
	ids, err := o.walk(id)
	if err != nil || len(ids) == 0 || o.isLocal(ids[len(ids)-1]) {
		return "", err
	}
	return ids[len(ids)-1], nil
}

// walk follows an id back to what it restores or fixes, up to the first id that a registry gave.
func (o origins) walk(id string) ([]string, error) {
	var ids []string
	for id != "" && len(ids) < maxLine {
		ids = append(ids, id)
		if !o.isLocal(id) {
			break
		}
		rec, ok, err := o.store.Record(id)
		if err != nil {
			return nil, err
		}
		switch l := rec.Lineage; {
		case ok && l.Restores != "":
			id = l.Restores
		case ok && l.Origin == store.OriginFixed && len(l.ParentSkillIDs) == 1:
			id = l.ParentSkillIDs[0]
		default:
			id = ""
		}
	}
	return ids, nil
}

// maxLine bounds a walk through versions.
const maxLine = 10_000

// parents returns ids as a registry knows them, each once; one without such an ancestor stays as it is.
func (o origins) parents(ids []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, id := range ids {
		known, err := o.id(id)
		if err != nil {
			return nil, err
		}
		if known == "" {
			known = id
		}
		if !seen[known] {
			seen[known] = true
			out = append(out, known)
		}
	}
	return out, nil
}

// idTail is what tells folders of one name apart: the digits at the end of an id, else a hash of it.
func idTail(id string) string {
	if i := strings.LastIndexByte(id, '_'); i >= 0 && len(id)-i-1 == 8 && strings.Trim(id[i+1:], "0123456789abcdef") == "" {
		return id[i+1:]
	}
	hash := skill.DerivedID("", id)
	return hash[len(hash)-8:]
}
