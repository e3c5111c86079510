package registry

import (
	"errors"
	"net/http"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
)

// own returns a record that the caller may change, and the number of its state. Its id is held until release.
func (s *Server) own(c *call) (r *record, seq uint64, release func(), err error) {
	if _, ok := s.view.find(c.caller, c.id); !ok {
		return nil, 0, nil, noRecord(c.id)
	}
	letGo := s.hold(c.id, hashKey("id "+c.id))
	defer func() {
		if err != nil {
			letGo()
		}
	}()
	r, seq, err = s.read(c.r.Context(), c.id)
	switch {
	case err != nil:
		return nil, 0, nil, err
	case r.DeletedAt != "":
		return nil, 0, nil, noRecord(c.id)
	case r.Owner != c.caller.Owner && c.caller.Scope != ScopeAdmin:
		return nil, 0, nil, refuse(api.ErrForbidden, "the record %q belongs to somebody else", c.id)
	}
	if want := c.r.Header.Get("If-Match"); want != "" && !matches(want, etag(seq)) {
		return nil, 0, nil, refuse(api.ErrChanged, "the record is in another state: %s", etag(seq))
	}
	return r, seq, letGo, nil
}

// changeRecord alters who sees a record, its tags, or whether it should be used (PATCH /records/{record_id}).
func (s *Server) changeRecord(c *call) error {
	var req api.Change
	if err := s.decode(c, &req); err != nil {
		return err
	}
	r, seq, release, err := s.own(c)
	if err != nil {
		return err
	}
	defer release()
	if err := s.alter(c, r, &req); err != nil {
		return err
	}
	r.UpdatedAt = formatTime(time.Now())
	if err := s.putChange(c, r, seq); err != nil {
		return err
	}
	return s.sendRecord(c, c.id)
}

// alter applies a change to a record.
func (s *Server) alter(c *call, r *record, req *api.Change) (err error) {
	if req.Visibility == nil && req.Groups == nil && req.Deprecated == nil && req.Tags == nil {
		return refuse(api.ErrInvalid, "nothing to change: want visibility, groups, deprecated or tags")
	}
	if req.Visibility != nil || req.Groups != nil {
		if err := s.alterVisibility(c, r, req); err != nil {
			return err
		}
	}
	if req.Deprecated != nil {
		if err := checkText("deprecated", *req.Deprecated, maxText); err != nil {
			return err
		}
		r.Deprecated = *req.Deprecated
	}
	if req.Tags != nil {
		r.Tags, err = tidyList("tags", *req.Tags)
	}
	return err
}

func (s *Server) alterVisibility(c *call, r *record, req *api.Change) (err error) {
	v, groups := r.Visibility, r.Groups
	if req.Visibility != nil {
		v = *req.Visibility
		if v != api.Group {
			groups = nil
		}
	}
	if req.Groups != nil {
		groups = *req.Groups
	}
	if r.Visibility, r.Groups, err = allowedVisibility(v, groups, c.caller); err != nil || r.Visibility == api.Private {
		return err
	}
	a, err := s.artifact(c.r.Context(), r.Archive)
	if err != nil {
		return err
	}
	return safeToShow(a)
}

// putChange stores a new state of an existing record.
func (s *Server) putChange(c *call, r *record, prev uint64) error {
	_, err := s.put(c.r.Context(), c.id, r, prev)
	if errors.Is(err, ErrConflict) {
		return refuse(api.ErrChanged, "the record was changed meanwhile")
	}
	return err
}

// deleteRecord removes a record (DELETE /records/{record_id}). Its id stays its owner's.
func (s *Server) deleteRecord(c *call) error {
	r, seq, release, err := s.own(c)
	if err != nil {
		return err
	}
	defer release()
	grave := &record{Owner: r.Owner, DeletedAt: formatTime(time.Now())}
	if err := s.putChange(c, grave, seq); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
