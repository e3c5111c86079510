package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

// metadata lists everything that the caller sees (GET /records/metadata).
func (s *Server) metadata(c *call) error {
	return s.listPage(c, func(*entry) bool { return true })
}

// listRecords lists records by owner, visibility and state (GET /records).
func (s *Server) listRecords(c *call) error {
	q := c.r.URL.Query()
	owner, vis, deprecated := q.Get("owner"), q.Get("visibility"), q.Get("deprecated")
	if owner == "me" {
		owner = c.caller.Owner
	}
	switch vis {
	case "", api.Public, api.Private, api.Group:
	default:
		return refuse(api.ErrBadRequest, "visibility=%q: want public, private or %s", clip(vis), api.Group)
	}
	switch deprecated {
	case "", "true", "false":
	default:
		return refuse(api.ErrBadRequest, "deprecated=%q: want true or false", clip(deprecated))
	}
	s.view.mu.RLock()
	number, known := s.view.owners.number[owner]
	s.view.mu.RUnlock()
	return s.listPage(c, func(e *entry) bool {
		return (owner == "" || known && e.owner == number) && (vis == "" || e.vis == visibilityOf(vis)) &&
			(deprecated == "" || e.withdrawn == (deprecated == "true"))
	})
}

// listPage answers with one page of the records that pass a filter, oldest first.
func (s *Server) listPage(c *call, keep func(*entry) bool) error {
	limit, err := c.query("limit", api.DefaultPage, 1, api.MaxPage)
	if err != nil {
		return err
	}
	after, err := parseCursor(c.r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	found := s.view.list(c.caller, after, limit+1, keep)
	page := api.Page{Items: []api.Record{}, HasMore: len(found) > limit}
	if page.HasMore {
		found = found[:limit]
		next := found[limit-1].cursor()
		page.NextCursor = &next
	}
	for _, l := range found {
		r, _, err := s.read(c.r.Context(), l.id)
		if err != nil {
			return err
		}
		if r.DeletedAt == "" {
			page.Items = append(page.Items, r.public(l.id, s.view.downloads(l.id)))
		}
	}
	c.json(http.StatusOK, page)
	return nil
}

// cursor names a place in a listing.
func (l listed) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", l.created, l.id))
}

func parseCursor(text string) (l listed, err error) {
	if text == "" {
		return l, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		created, id, ok := strings.Cut(string(data), " ")
		l.id = id
		if _, err = fmt.Sscan(created, &l.created); ok && err == nil {
			return l, nil
		}
	}
	return l, refuse(api.ErrBadRequest, "cursor %q is not one of ours", clip(text))
}

// searchRecords finds records (POST /records/embeddings/search).
func (s *Server) searchRecords(c *call) error {
	var req api.Search
	if err := s.decode(c, &req); err != nil {
		return err
	}
	switch {
	case req.Limit < 0:
		return refuse(api.ErrInvalid, "limit %d: want 1 to %d", req.Limit, api.MaxSearch)
	case req.Limit == 0:
		req.Limit = api.DefaultFound
	}
	req.Limit = min(req.Limit, api.MaxSearch)
	if err := checkText("query", req.Query, maxText); err != nil {
		return err
	}
	rows, err := s.find(c.r.Context(), c.caller, req)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, rows)
	return nil
}

// find returns the best records that a caller sees; deprecated ones are left out.
func (s *Server) find(ctx context.Context, who *caller, req api.Search) ([]api.Row, error) {
	keep := func(label uint32) bool {
		s.view.mu.RLock()
		e := s.view.entries[label]
		ok := s.view.sees(who, &e) && !e.withdrawn
		s.view.mu.RUnlock()
		return ok && (req.Level == "" && len(req.Tags) == 0 || s.fits(ctx, e.id, req))
	}
	mended := s.mended.Load()
	query := lexical.ParseQuery(req.Query)
	found, err := s.search.Search(query, req.Limit, keep)
	if errors.Is(err, index.ErrDamaged) {
		if err = s.mendIndex(ctx, mended, err); err == nil {
			found, err = s.search.Search(query, req.Limit, keep)
		}
	}
	if err != nil {
		return nil, err
	}
	rows := []api.Row{}
	for _, f := range found {
		if row, ok := s.rowOf(ctx, f); ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// fits tells whether a record has the level and one of the tags that a search asks for.
func (s *Server) fits(ctx context.Context, id string, req api.Search) bool {
	r, _, err := s.read(ctx, id)
	if err != nil || req.Level != "" && r.Level != req.Level {
		return false
	}
	return len(req.Tags) == 0 || slices.ContainsFunc(req.Tags, func(t string) bool { return slices.Contains(r.Tags, t) })
}

func (s *Server) rowOf(ctx context.Context, f index.Found) (api.Row, bool) {
	s.view.mu.RLock()
	id := s.view.entries[f.Label].id
	s.view.mu.RUnlock()
	r, _, err := s.read(ctx, id)
	if err != nil || r.DeletedAt != "" {
		return api.Row{}, false
	}
	return r.row(id, s.view.downloads(id), f.Score), true
}
