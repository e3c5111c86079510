package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LookPath finds a program in the PATH of an environment, which need not be that of this process.
func LookPath(name string, environ []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %q in PATH: %w", name, fs.ErrNotExist)
}

// variable returns the last value of a name, as programs see it.
func variable(environ []string, name string) string {
	value := ""
	for _, v := range environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
