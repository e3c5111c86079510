package registry

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// overhead is what a multipart body may have beyond its files, for each file.
const overhead = 2048

// smallBody is what any number of uploads may have in memory at once; few larger ones are unpacked at a time.
const smallBody = 1 << 20

// stage takes the files of a skill (POST /artifacts/stage).
func (s *Server) stage(c *call) error {
	kind, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return refuse(api.ErrMediaType, "want multipart/form-data")
	}
	if e := c.r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return refuse(api.ErrMediaType, "content encoding %q is not understood", e)
	}
	if params["boundary"] == "" {
		return refuse(api.ErrBadRequest, "multipart without a boundary")
	}
	body, done, err := s.arrived(c)
	if err != nil {
		return err
	}
	defer done()
	in := incoming{limits: s.o.Limits}
	if err := in.read(multipart.NewReader(body, params["boundary"])); err != nil {
		s.drain(c)
		return err
	}
	if err := in.settle(); err != nil {
		return err
	}
	return s.keepStaged(c, &in)
}

// keepStaged stores what was sent and tells its id.
func (s *Server) keepStaged(c *call, in *incoming) error {
	a, archive, err := pack(in.files, s.o.Policy)
	if err != nil {
		return err
	}
	if in.total > smallBody && in.total > a.size*int64(s.o.Limits.Ratio) {
		return refuse(api.ErrTooLarge, "the files are %d times as large as their archive, at most %d is allowed", in.total/a.size, s.o.Limits.Ratio)
	}
	if a.skill == nil {
		e := refuse(api.ErrInvalid, "%s holds no text that can be read", skill.FileName)
		e.Path = skill.FileName
		return e
	}
	if a.hash, err = s.storage.PutBlob(c.r.Context(), archive); err != nil {
		return err
	}
	s.artifacts.put(a)
	c.json(http.StatusOK, api.Staged{ArtifactID: s.artifactID(a.hash, c.caller.Owner),
		Stats: api.Stats{FileCount: a.files, SizeBytes: in.total, Fingerprint: a.fingerprint, LeftOut: in.left}})
	return nil
}

// incoming is an upload on its way.
type incoming struct {
	limits Limits
	files  []api.File
	left   []api.LeftOut
	paths  api.PathSet
	parts  int
	total  int64
}

// read reads all parts.
func (in *incoming) read(r *multipart.Reader) error {
	for {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return partError(err)
		}
		if in.parts++; in.parts > in.limits.Files {
			return refuse(api.ErrTooLarge, "more than %d files", in.limits.Files)
		}
		if err := in.part(part); err != nil {
			return err
		}
	}
}

// partError is bodyError for the multipart reader, which has a limit of its own.
func partError(err error) error {
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return refuse(api.ErrTooLarge, "the header of a part is too long")
	}
	return bodyError(err)
}

// part reads one file.
func (in *incoming) part(p *multipart.Part) error {
	name, exec, err := api.ParsePart(p.Header)
	if errors.Is(err, api.ErrNoFile) {
		return nil
	}
	if err != nil {
		return refuse(api.ErrBadRequest, "%v", err)
	}
	path, err := api.CleanPath(name)
	if err != nil {
		return err
	}
	if reason := skill.Excluded(path); reason != "" {
		in.left = append(in.left, api.LeftOut{Path: path, Reason: reason})
		return nil
	}
	if err := in.paths.Add(path); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(p, in.limits.File+1))
	if err != nil {
		return partError(err)
	}
	in.total += int64(len(data))
	if int64(len(data)) > in.limits.File || in.total > in.limits.Total {
		e := refuse(api.ErrTooLarge, "file %q: at most %d bytes a file and %d in all are allowed", path, in.limits.File, in.limits.Total)
		e.Path = path
		return e
	}
	in.files = append(in.files, api.File{Path: path, Exec: exec, Data: data})
	return nil
}

// settle makes sure that SKILL.md is at the top. One folder around everything is taken off.
func (in *incoming) settle() error {
	if len(in.files) == 0 {
		return refuse(api.ErrInvalid, "no files")
	}
	top, _, _ := strings.Cut(in.files[0].Path, "/")
	wrapped := false
	for _, f := range in.files {
		if f.Path == skill.FileName {
			return nil
		}
		wrapped = wrapped || f.Path == top+"/"+skill.FileName
	}
	for _, f := range in.files {
		wrapped = wrapped && strings.HasPrefix(f.Path, top+"/")
	}
	if !wrapped {
		return refuse(api.ErrInvalid, "no %s at the top", skill.FileName)
	}
	for i := range in.files {
		in.files[i].Path = in.files[i].Path[len(top)+1:]
	}
	return nil
}

// artifactID is the id of a staged artifact: its hash, and a sign that this owner staged it.
func (s *Server) artifactID(hash, owner string) string {
	s.view.mu.RLock()
	mac := hmac.New(sha256.New, s.view.secret)
	s.view.mu.RUnlock()
	fmt.Fprintf(mac, "%s\x00%s", hash, owner)
	return "art_" + hash + "_" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// stagedHash returns the hash of an artifact that a caller staged.
func (s *Server) stagedHash(id string, c *caller) (string, bool) {
	rest, ok := strings.CutPrefix(id, "art_")
	hash, _, _ := strings.Cut(rest, "_")
	return hash, ok && validHash(hash) && hmac.Equal([]byte(id), []byte(s.artifactID(hash, c.Owner)))
}
