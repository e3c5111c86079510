package registry

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
)

func etag(seq uint64) string { return fmt.Sprintf("%q", fmt.Sprintf("r%d", seq)) }

// recordURL is the path of a record.
func recordURL(id string) string { return api.BasePath + "/records/" + escapeID(id) }

func escapeID(id string) string { return strings.ReplaceAll(url.PathEscape(id), "%2F", "/") }

// getRecord shows one record (GET /records/{record_id}).
func (s *Server) getRecord(c *call) error {
	if _, ok := s.view.find(c.caller, c.id); !ok {
		return noRecord(c.id)
	}
	return s.sendRecord(c, c.id)
}

// sendRecord answers with the current state of a record.
func (s *Server) sendRecord(c *call, id string) error {
	r, seq, err := s.read(c.r.Context(), id)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("ETag", etag(seq))
	if c.r.Method != http.MethodPost && matches(c.r.Header.Get("If-None-Match"), etag(seq)) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	out := r.public(id, s.view.downloads(id))
	if r.Diff != "" {
		diff, err := readBlob(c.r.Context(), s.storage, r.Diff)
		if err != nil {
			return err
		}
		out.ContentDiff = string(diff)
	}
	c.json(http.StatusOK, out)
	return nil
}

// matches tells whether a list of entity tags has one of them, or is the star.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == tag || one == "*" {
			return true
		}
	}
	return false
}

// download hands out an archive (GET /records/{record_id}/download).
func (s *Server) download(c *call) error {
	label, ok := s.view.find(c.caller, c.id)
	if !ok {
		return noRecord(c.id)
	}
	r, _, err := s.read(c.r.Context(), c.id)
	if err != nil {
		return err
	}
	return s.sendArchive(c, label, r)
}

// sendArchive answers with the archive of a record, or a part of it.
func (s *Server) sendArchive(c *call, label uint32, r *record) error {
	b, err := s.storage.OpenBlob(c.r.Context(), r.Archive)
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("record %q: archive is missing: %w", c.id, ErrDamaged)
	}
	if err != nil {
		return err
	}
	defer b.Close()
	raw, err := hex.DecodeString(r.Archive)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": skill.SanitizeName(r.Name) + ".zip"}))
	h.Set(api.HeaderDigest, "sha-256="+base64.StdEncoding.EncodeToString(raw))
	h.Set(api.HeaderFingerprint, r.Fingerprint)
	h.Set("ETag", `"`+r.Archive+`"`)
	if r.Signature != nil {
		h.Set(api.HeaderSignature, r.Signature.Header())
	}
	guard := &rangeGuard{recorder: c.w}
	http.ServeContent(guard, c.r, "", time.Time{}, b)
	if guard.refused {
		return refuse(api.ErrRange, "range %q lies outside of the %d bytes", clip(c.r.Header.Get("Range")), b.Size())
	}
	if c.r.Method == http.MethodGet && c.w.status == http.StatusOK && c.w.bytes == b.Size() {
		s.downloaded(label)
	}
	return nil
}

// rangeGuard keeps back the plain text that the standard library answers to a range that cannot be had.
type rangeGuard struct {
	*recorder
	refused bool
}

func (g *rangeGuard) WriteHeader(status int) {
	if g.refused = status == http.StatusRequestedRangeNotSatisfiable; !g.refused {
		g.recorder.WriteHeader(status)
	}
}

func (g *rangeGuard) Write(b []byte) (int, error) {
	if g.refused {
		return len(b), nil
	}
	return g.recorder.Write(b)
}
