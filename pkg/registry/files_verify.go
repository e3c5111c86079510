package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/journal"
)

// Problem is something that Verify found.
type Problem struct {
	Code    string // stable, kebab-case
	Path    string // of the file
	Message string
	Hint    string
}

// Verify checks every line of the journal, every blob against its name, and that each record has its blobs,
// that its archive has its fingerprint and its signature fits. It returns how many records and blobs it
// looked at. Everything it finds is told; only what keeps it from looking on is an error.
func (s *Files) Verify(ctx context.Context, report func(Problem) error) (checked int, err error) {
	if err := s.verifyLines(ctx, report); err != nil {
		return 0, err
	}
	err = s.eachBlob(func(hash string, _ fs.FileInfo) error {
		checked++
		data, err := readBlob(ctx, s, hash)
		sum := sha256.Sum256(data)
		if err == nil && hex.EncodeToString(sum[:]) == hash {
			return ctx.Err()
		}
		return report(Problem{"blob-damaged", s.blobPath(hash), "the bytes of the blob are not those of its name",
			"restore it from a backup; until then what it holds cannot be downloaded"})
	})
	if err != nil {
		return checked, err
	}
	err = Records(ctx, s, func(r api.Record) error {
		checked++
		if problem := s.verifyRecord(ctx, r); problem != nil {
			return report(*problem)
		}
		return ctx.Err()
	})
	return checked, err
}

func (s *Files) verifyLines(ctx context.Context, report func(Problem) error) error {
	return s.j.Replay(new(journal.Position), func(at journal.Place, text []byte, good bool) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		why := "the line does not carry its checksum"
		if good {
			if _, ok := decodeLine(text); ok {
				return nil
			}
			why = "the line means nothing to this version"
		}
		return report(Problem{"line-damaged", s.j.Path(at.Seg), fmt.Sprintf("at byte %d: %s", at.Off, why),
			"what it said is lost: publish the record again, or make the key again"})
	})
}

// verifyRecord tells what is wrong with a record, nil for nothing.
func (s *Files) verifyRecord(ctx context.Context, r api.Record) *Problem {
	path := s.BlobPath(r.Digest)
	data, err := readBlob(ctx, s, r.Digest[len("sha256:"):])
	if errors.Is(err, ErrNotFound) {
		return &Problem{"blob-missing", path, fmt.Sprintf("the archive of the record %q is missing", r.RecordID), "restore it from a backup, or delete the record"}
	}
	var files []api.File
	if err == nil {
		files, err = unpack(data)
	}
	switch {
	case err != nil:
		return &Problem{"archive-damaged", path, fmt.Sprintf("the archive of the record %q: %v", r.RecordID, err), "restore it from a backup"}
	case api.Fingerprint(files) != r.Fingerprint:
		return &Problem{"fingerprint", path, fmt.Sprintf("the archive of the record %q has another fingerprint than the record", r.RecordID), "restore both from a backup"}
	case r.Signature != nil && r.Signature.Verify(r.Fingerprint, r.Name) != nil:
		return &Problem{"signature", path, fmt.Sprintf("the signature of the record %q does not fit", r.RecordID), "have it published again"}
	}
	return nil
}
