package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxName is how many bytes of an id a folder's name has.
const maxName = 100

// folderName returns the name of the folder for a task's id: a single path element that is plain on every
// file system. A name that differs from the id ends with a part of the id's hash.
func folderName(id string) string {
	name := strings.TrimLeft(strings.Map(plain, id), ".-")
	if len(name) > maxName {
		name = name[:maxName]
	}
	if name == id && id != "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.TrimLeft(name+"-"+hex.EncodeToString(sum[:4]), "-")
}

func plain(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '_'
}

// maxSame is how many folders the same id may have.
const maxSame = 10_000

// makeFolder makes a folder for the id that did not exist before.
func makeFolder(dir, id string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := folderName(id)
	for n := 1; n <= maxSame; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		err := os.Mkdir(path, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("%q has %d recordings already", id, maxSame)
}
