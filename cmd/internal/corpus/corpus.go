// Package corpus reads the test data that is not part of the repository: files of JSON lines, and the real
// skills among them.
package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Skill is one real skill.
type Skill struct {
	ID   string `json:"id"`       // its path in the collection that it comes from
	Text string `json:"skill_md"` // of its SKILL.md
}

// Skills reads the real skills.
func Skills(file string) (skills []Skill, err error) {
	err = Lines(file, func(line []byte) error {
		var s Skill
		err := json.Unmarshal(line, &s)
		skills = append(skills, s)
		return err
	})
	return skills, err
}

// Lines calls f with each line of a file, which may be compressed (.gz).
func Lines(file string, f func([]byte) error) error {
	h, err := os.Open(file)
	if err != nil {
		return err
	}
	defer h.Close()
	var in io.Reader = h
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(h); err != nil {
			return fmt.Errorf("read %q: %w", file, err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if err := f(lines.Bytes()); err != nil {
			return fmt.Errorf("read %q: line %d: %w", file, n, err)
		}
	}
	return lines.Err()
}

// Texts reads the texts of the real skills.
func Texts(file string) (texts []string, err error) {
	skills, err := Skills(file)
	for _, s := range skills {
		texts = append(texts, s.Text)
	}
	return texts, err
}
