package api

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// archiveTime stands in every archive: the first moment that the format can express.
func archiveTime() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// WriteArchive writes files as the archive that a registry hands out: a zip with the files sorted by path,
// one fixed time and the modes 0644 and 0755. The same files give the same bytes, in whatever order they
// come.
func WriteArchive(w io.Writer, files []File) error {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	z := zip.NewWriter(w)
	for _, f := range sorted {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate, Modified: archiveTime()}
		h.SetMode(0o644)
		if f.Exec {
			h.SetMode(0o755)
		}
		if len(f.Data) == 0 {
			h.Method = zip.Store
		}
		out, err := z.CreateHeader(h)
		if err == nil {
			_, err = out.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("write archive entry %q: %w", f.Path, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}
