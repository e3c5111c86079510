package registry

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/skill"
)

const (
	// discoveryPath is where installers of other makers look for skills (Agent Skills discovery, version 0.2.0).
	discoveryPath   = "/.well-known/agent-skills"
	discoverySchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
)

// offered is one skill of the discovery index.
type offered struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // always archive
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// discover lists the public skills for installers of other makers (GET /.well-known/agent-skills/index.json).
func (s *Server) discover(c *call) error {
	if s.o.Closed && c.caller == anonymous {
		return refuse(api.ErrUnauthorized, "this registry shows nothing without a key")
	}
	ids := s.view.offered()
	tag := sha256.New()
	for _, id := range ids {
		fmt.Fprintf(tag, "%s\x00%d\x00", id.id, id.created)
	}
	h := c.w.Header()
	h.Set("ETag", `"`+hex.EncodeToString(tag.Sum(nil)[:16])+`"`)
	h.Set("Cache-Control", "public, max-age=60")
	if matches(c.r.Header.Get("If-None-Match"), h.Get("ETag")) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	return s.writeOffers(c, ids)
}

// writeOffers writes the index a skill at a time. Of two skills of one name the older line keeps it.
func (s *Server) writeOffers(c *call, ids []listed) error {
	w := bufio.NewWriterSize(c.w, 64<<10)
	fmt.Fprintf(w, `{"$schema":%q,"skills":[`, discoverySchema)
	names := map[string]string{} // name → owner
	sep := "\n"
	for _, l := range ids {
		r, _, err := s.read(c.r.Context(), l.id)
		if err != nil {
			return err
		}
		key := skill.NameKey(r.Name)
		if owner, taken := names[key]; taken && owner != r.Owner || r.Visibility != api.Public {
			continue
		}
		names[key] = r.Owner
		line, err := jsonl.Marshal(offered{r.Name, "archive", r.Description, discoveryPath + "/" + escapeID(l.id) + ".zip", "sha256:" + r.Archive})
		if err != nil {
			return err
		}
		w.WriteString(sep)
		w.Write(line)
		sep = ",\n"
	}
	w.WriteString("\n]}\n")
	return w.Flush()
}

// offered lists the public records that are not deprecated and that no fix by their owner replaces, oldest first.
func (v *view) offered() []listed {
	return v.list(anonymous, listed{}, math.MaxInt, func(e *entry) bool {
		if e.withdrawn {
			return false
		}
		for _, label := range v.fixes[e.id] {
			if f := &v.entries[label]; !f.deleted && !f.withdrawn && f.vis == public && f.owner == e.owner {
				return false
			}
		}
		return true
	})
}

// discovered hands out the archive of a public record (GET /.well-known/agent-skills/{record_id}.zip).
func (s *Server) discovered(c *call) error {
	if s.o.Closed && c.caller == anonymous {
		return refuse(api.ErrUnauthorized, "this registry shows nothing without a key")
	}
	return s.download(c)
}

// whoami is what a caller is told about itself and the limits it is held to.
type whoami struct {
	Owner  string   `json:"owner"`
	KeyID  string   `json:"key_id"`
	Scope  string   `json:"scope"`
	Groups []string `json:"groups"`
	Limits bounds   `json:"limits"`
}

type bounds struct {
	FileBytes     int64 `json:"file_bytes"`
	TotalBytes    int64 `json:"total_bytes"`
	Files         int   `json:"files"`
	RatePerSecond int   `json:"rate_per_second"`
}

// me tells a caller who it is (GET /me).
func (s *Server) me(c *call) error {
	l := s.o.Limits
	c.json(http.StatusOK, whoami{c.caller.Owner, c.caller.ID, c.caller.Scope, orEmpty(c.caller.Groups), bounds{l.File, l.Total, l.Files, l.Rate}})
	return nil
}

// health tells whether the registry works (GET /healthz).
func (s *Server) health(c *call) error {
	if err := s.follow(c.r.Context()); err != nil {
		return refuse(api.ErrUnavailable, "the storage cannot be read")
	}
	c.json(http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// isDiskTrouble tells whether the disk is full or will not be written.
func isDiskTrouble(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
