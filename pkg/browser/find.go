package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// names under which browsers of the family are installed, the first that is there counts.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell", "microsoft-edge"}

// bundles are where they are on a Mac.
var bundles = []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"}

// Find returns the path of an installed browser in the folders of a PATH, "" when there is none. On Windows none is found:
// files cannot be handed to it there.
func Find(path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	for _, name := range names {
		if found := lookPath(name, path); found != "" {
			return found
		}
	}
	for _, file := range bundles {
		if runtime.GOOS == "darwin" && runnable(file) {
			return file
		}
	}
	return ""
}

// Named returns the path of the browser that a user names, by its path or its name.
func Named(name, path string) (string, error) {
	if filepath.IsAbs(name) && runnable(name) {
		return name, nil
	}
	if found := lookPath(name, path); found != "" && !strings.ContainsRune(name, filepath.Separator) {
		return found, nil
	}
	return "", fmt.Errorf("there is no program %q: install Chromium, or give the path of the browser", name)
}

func lookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && runnable(file) {
			return file
		}
	}
	return ""
}

func runnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
