package store

// MemorySide is files that are in memory: their content by slash path, and which of them can be executed.
func MemorySide(content map[string][]byte, exec map[string]bool) Side {
	files := make(map[string]TreeFile, len(content))
	for path, data := range content {
		f := TreeFile{Path: path, Mode: modePlain, Size: int64(len(data)), SHA256: sumOf(data)}
		if exec[path] {
			f.Mode = modeExec
		}
		files[path] = f
	}
	return Side{files, func(f TreeFile) ([]byte, error) { return content[f.Path], nil }}
}
