package registry

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// record is what a document of KindRecord holds.
type record struct {
	Name           string         `json:"name,omitempty"`
	Description    string         `json:"description,omitempty"`
	Visibility     string         `json:"visibility,omitempty"`
	Groups         []string       `json:"groups,omitempty"`
	Origin         string         `json:"origin,omitempty"`
	ParentSkillIDs []string       `json:"parent_skill_ids,omitempty"`
	Tags           []string       `json:"tags,omitempty"`
	Level          string         `json:"level,omitempty"`
	CreatedBy      string         `json:"created_by,omitempty"`
	ChangeSummary  string         `json:"change_summary,omitempty"`
	License        string         `json:"license,omitempty"`
	Version        string         `json:"version,omitempty"`
	Owner          string         `json:"owner"`
	Fingerprint    string         `json:"fingerprint,omitempty"`
	Archive        string         `json:"archive,omitempty"`
	SizeBytes      int64          `json:"size_bytes,omitempty"`
	FileCount      int            `json:"file_count,omitempty"`
	Diff           string         `json:"diff,omitempty"`
	SafetyFlags    []string       `json:"safety_flags,omitempty"`
	Signature      *api.Signature `json:"signature,omitempty"`
	Deprecated     string         `json:"deprecated,omitempty"`
	CreatedAt      string         `json:"created_at,omitempty"`
	UpdatedAt      string         `json:"updated_at,omitempty"`
	DeletedAt      string         `json:"deleted_at,omitempty"`
}

// decodeRecord reads the data of a document.
func decodeRecord(d Doc) (*record, error) {
	r := new(record)
	if err := json.Unmarshal(d.Data, r); err != nil {
		return nil, err
	}
	return r, nil
}

// doc returns the document of a record.
func (r *record) doc(id string) (Doc, error) {
	data, err := jsonl.Marshal(r)
	d := Doc{Kind: KindRecord, ID: id, Data: data}
	for _, hash := range []string{r.Archive, r.Diff} {
		if hash != "" {
			d.Blobs = append(d.Blobs, hash)
		}
	}
	return d, err
}

// public returns a record as the API shows it.
func (r *record) public(id string, downloads int64) api.Record {
	return api.Record{
		RecordID: id, Name: r.Name, Description: r.Description, Visibility: r.Visibility, Groups: r.Groups, Origin: r.Origin,
		ParentSkillIDs: orEmpty(r.ParentSkillIDs), Tags: orEmpty(r.Tags), Level: r.Level, CreatedBy: r.CreatedBy, ChangeSummary: r.ChangeSummary,
		ArtifactID: "art_" + r.Archive, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Owner: r.Owner, Fingerprint: r.Fingerprint,
		Digest: "sha256:" + r.Archive, SizeBytes: r.SizeBytes, FileCount: r.FileCount, Downloads: downloads, License: r.License, Version: r.Version,
		Deprecated: r.Deprecated, SafetyFlags: r.SafetyFlags, Signature: r.Signature,
	}
}

// row returns a record as a search shows it.
func (r *record) row(id string, downloads int64, rank float64) api.Row {
	return api.Row{
		RecordID: id, Name: r.Name, Description: r.Description, Visibility: r.Visibility, CreatedBy: r.CreatedBy, Origin: r.Origin, Tags: orEmpty(r.Tags),
		SearchRank: rank, Owner: r.Owner, Fingerprint: r.Fingerprint, Downloads: downloads, Deprecated: r.Deprecated, SafetyFlags: r.SafetyFlags,
		SignedBy: r.Signature.KeyID(),
	}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// timeForm is how times are written: they sort as text.
const timeForm = "2006-01-02T15:04:05.000000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeForm) }

// nanos is a time for comparing; 0 for one that cannot be read.
func nanos(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return t.UnixNano()
}

// reserved are the words of the API's own paths below /records.
var reserved = []string{"metadata", "download", "versions", "embeddings", "search"}

// ValidRecordID tells whether a text can be a record id: what skill.ValidID allows, and slashes inside, as
// old clients make them of names that have one. No part between slashes may be empty, begin with a dot or be
// the last word of one of the API's paths.
func ValidRecordID(id string) bool {
	if len(id) > 240 || !skill.ValidID(strings.ReplaceAll(id, "/", "_")) {
		return false
	}
	for i, part := range strings.Split(id, "/") {
		if part == "" || part[0] == '.' || slices.Contains(reserved, part) && (i > 0 || !strings.Contains(id, "/")) {
			return false
		}
	}
	return true
}
