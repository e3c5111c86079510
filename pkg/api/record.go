package api

// BasePath is where the API stands on a registry's host; clients are given URLs that end in it.
const BasePath = "/api/v1"

// Headers beyond those of HTTP.
const (
	HeaderKey         = "X-API-Key"           // the caller's key
	HeaderRequestID   = "X-Request-Id"        // set on every answer; one sent by the client is kept when it is 1 to 64 of [A-Za-z0-9._-]
	HeaderFingerprint = "X-Skill-Fingerprint" // of a downloaded artifact
	HeaderSignature   = "X-Skill-Signature"   // of a downloaded artifact, in the form of Signature.Header
	HeaderDigest      = "Digest"              // of a downloaded artifact: sha-256= and the standard base64 of the archive's SHA-256 (RFC 3230)
	HeaderFileMode    = "X-File-Mode"         // of a multipart part: 0755 for a file that can be executed
)

// Limits of the API.
const (
	MaxSearch    = 300 // rows of one search
	DefaultPage  = 200 // records of one page of a listing
	MaxPage      = 1000
	DefaultFound = 20 // rows of a search that asks for no number
)

// The visibilities. A group record is visible to every key of one of its groups; old clients know it as
// group_only and take it for private.
const (
	Public  = "public"
	Private = "private"
	Group   = "group_only"
)

// The origins of a skill.
const (
	Imported = "imported"
	Captured = "captured"
	Derived  = "derived"
	Fixed    = "fixed"
)

// Level is what a record says when nothing else is known.
const Level = "workflow"

// Record is a published skill. Lists are never null.
type Record struct {
	RecordID       string   `json:"record_id"`
	Name           string   `json:"name"`
	Description    string   `json:"description"`
	Visibility     string   `json:"visibility"`
	Groups         []string `json:"groups,omitempty"` // of a group record, for those who can see it
	Origin         string   `json:"origin"`
	ParentSkillIDs []string `json:"parent_skill_ids"` // may name skills that the registry does not know
	Tags           []string `json:"tags"`
	Level          string   `json:"level"`
	CreatedBy      string   `json:"created_by"`
	ChangeSummary  string   `json:"change_summary"`
	ContentDiff    string   `json:"content_diff,omitempty"` // only when one record is asked for
	ArtifactID     string   `json:"artifact_id"`
	CreatedAt      string   `json:"created_at"` // RFC 3339, UTC
	UpdatedAt      string   `json:"updated_at"`

	Owner       string     `json:"owner"`                // of the key that published it
	Fingerprint string     `json:"fingerprint"`          // of the content, see Fingerprint
	Digest      string     `json:"digest"`               // of the archive: sha256: and hex
	SizeBytes   int64      `json:"size_bytes"`           // of the archive
	FileCount   int        `json:"file_count"`           // in the archive
	Downloads   int64      `json:"download_count"`       // of the artifact
	License     string     `json:"license,omitempty"`    // as the skill says
	Version     string     `json:"version,omitempty"`    // as the skill says
	Deprecated  string     `json:"deprecated,omitempty"` // why it should not be used any more; absent: it may be
	SafetyFlags []string   `json:"safety_flags,omitempty"`
	Signature   *Signature `json:"signature,omitempty"`

	Embedding []float32 `json:"embedding,omitempty"` // only when asked for, and only of registries that have vectors
}

// Row is one record found by a search, best first.
type Row struct {
	RecordID    string    `json:"record_id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Visibility  string    `json:"visibility"`
	CreatedBy   string    `json:"created_by"`
	Origin      string    `json:"origin"`
	Tags        []string  `json:"tags"`
	SearchRank  float64   `json:"search_rank"` // above 0 and below 1, larger is better
	Embedding   []float32 `json:"embedding,omitempty"`

	Owner       string   `json:"owner"`
	Fingerprint string   `json:"fingerprint"`
	Downloads   int64    `json:"download_count"`
	Deprecated  string   `json:"deprecated,omitempty"`
	SafetyFlags []string `json:"safety_flags,omitempty"`
	SignedBy    string   `json:"signed_by,omitempty"` // KeyID of the signature
}

// Page is one page of a listing.
type Page struct {
	Items      []Record `json:"items"`
	HasMore    bool     `json:"has_more"`
	NextCursor *string  `json:"next_cursor"` // null on the last page; opaque
}

// Search asks for records.
type Search struct {
	Query string   `json:"query"`
	Limit int      `json:"limit,omitempty"` // at most MaxSearch; absent: DefaultFound
	Level string   `json:"level,omitempty"` // only records of this level
	Tags  []string `json:"tags,omitempty"`  // only records with one of these tags
}

// Staged answers an upload of files.
type Staged struct {
	ArtifactID string `json:"artifact_id"`
	Stats      Stats  `json:"stats"`
}

// Stats tells what became of the files of an upload.
type Stats struct {
	FileCount   int       `json:"file_count"` // kept
	SizeBytes   int64     `json:"size_bytes"` // of the files kept
	Fingerprint string    `json:"fingerprint,omitempty"`
	LeftOut     []LeftOut `json:"left_out,omitempty"`
}

// LeftOut is a file that was sent and is not part of the artifact.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Create publishes a staged artifact. Name and description come from its SKILL.md.
type Create struct {
	RecordID       string     `json:"record_id"`
	ArtifactID     string     `json:"artifact_id"`
	Origin         string     `json:"origin"`
	Visibility     string     `json:"visibility"`
	Groups         []string   `json:"groups,omitempty"` // of a group record; without any it is private
	ParentSkillIDs []string   `json:"parent_skill_ids"`
	Tags           []string   `json:"tags"`
	Level          string     `json:"level"`
	CreatedBy      string     `json:"created_by,omitempty"`
	ChangeSummary  string     `json:"change_summary,omitempty"`
	ContentDiff    *string    `json:"content_diff,omitempty"`
	Signature      *Signature `json:"signature,omitempty"`
}

// Change alters a record. What is nil stays as it is.
type Change struct {
	Visibility *string   `json:"visibility,omitempty"`
	Groups     *[]string `json:"groups,omitempty"`
	Deprecated *string   `json:"deprecated,omitempty"` // "" takes it back
	Tags       *[]string `json:"tags,omitempty"`
}

// Versions is the line of a skill: the records that are fixes of one another, oldest first, as far as the
// caller may see them.
type Versions struct {
	Items      []Record `json:"items"`
	Latest     string   `json:"latest"`     // record id of the newest one that is not deprecated, of the same owner as the one asked for; that one itself when there is none
	Unresolved []string `json:"unresolved"` // parents that the registry does not know, or does not show to the caller
}

// CheckParents says how many parents an origin allows: none for imported and captured, one for fixed, at
// least one for derived. It returns "" when n is right, else a sentence; known is false for an origin outside
// the list, of which nothing is asked.
func CheckParents(origin string, n int) (problem string, known bool) {
	switch origin {
	case Imported, Captured:
		if n != 0 {
			return "origin " + origin + " allows no parent", true
		}
	case Derived:
		if n == 0 {
			return "origin derived needs at least one parent", true
		}
	case Fixed:
		if n != 1 {
			return "origin fixed needs exactly one parent", true
		}
	default:
		return "", false
	}
	return "", true
}

// FoldVisibility returns a visibility as a client shows it: group_only is private to everyone outside.
func FoldVisibility(v string) string {
	if v == Group {
		return Private
	}
	return v
}
