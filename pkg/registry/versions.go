package registry

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
)

// maxVersions bounds the answer to a question for versions.
const maxVersions = 1000

// versions tells the line of a skill (GET /records/{record_id}/versions).
func (s *Server) versions(c *call) error {
	if _, ok := s.view.find(c.caller, c.id); !ok {
		return noRecord(c.id)
	}
	line, unresolved, err := s.line(c.r.Context(), c.caller, c.id)
	if err != nil {
		return err
	}
	out := api.Versions{Items: []api.Record{}, Latest: c.id, Unresolved: orEmpty(unresolved)}
	owner := ""
	for _, v := range line {
		if v.RecordID == c.id {
			owner = v.Owner
		}
	}
	for _, v := range line {
		if v.Owner == owner && v.Deprecated == "" {
			out.Latest = v.RecordID
		}
		out.Items = append(out.Items, v)
	}
	c.json(http.StatusOK, out)
	return nil
}

// line follows the fixes of a skill both ways as far as the caller sees, and returns them oldest first, with
// the parents that lead nowhere.
func (s *Server) line(ctx context.Context, who *caller, id string) (line []api.Record, unresolved []string, err error) {
	queue, seen := []string{id}, map[string]bool{id: true}
	add := func(id string) {
		if !seen[id] && len(seen) < maxVersions {
			seen[id] = true
			queue = append(queue, id)
		}
	}
	for len(queue) > 0 {
		id, queue = queue[0], queue[1:]
		r, _, err := s.read(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		line = append(line, r.public(id, s.view.downloads(id)))
		for _, parent := range r.ParentSkillIDs {
			if _, ok := s.view.find(who, parent); !ok {
				unresolved = append(unresolved, parent)
			} else if r.Origin == api.Fixed {
				add(parent)
			}
		}
		for _, child := range s.view.fixesOf(who, id) {
			add(child)
		}
	}
	slices.SortFunc(line, func(a, b api.Record) int { return strings.Compare(a.CreatedAt, b.CreatedAt) })
	return line, unresolved, nil
}

// fixesOf returns the fixes of a skill that a caller sees.
func (v *view) fixesOf(c *caller, id string) (out []string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, label := range v.fixes[id] {
		if e := &v.entries[label]; v.sees(c, e) {
			out = append(out, e.id)
		}
	}
	return out
}
