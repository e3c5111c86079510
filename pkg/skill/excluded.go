package skill

import "strings"

// Excluded says why a file at a slash path below a skill folder never belongs to the skill, judged by its name and the names of the
// folders it lies in: one of the Reason constants, or "". It is for archives and uploads; Files knows ignore files and links as well.
func Excluded(path string) string {
	parts := strings.Split(path, "/")
	for i, name := range parts {
		if reason := excluded(name, i < len(parts)-1); reason != "" {
			return reason
		}
	}
	return ""
}
