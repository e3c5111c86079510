package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName is what model providers take.
const longestName = 64

// plainName makes of a name one that all model providers take: letters, digits, underscores and hyphens, a letter first.
func plainName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	s := b.String()
	if s == "" || s[0] < 'A' || s[0] > 'Z' && s[0] < 'a' || s[0] > 'z' {
		s = "t" + s
	}
	return s
}

// toolName is how models call a tool of a server: the server's name, two underscores, the tool's. It depends on these two
// alone as long as no other tool comes to the same, so a tool keeps its name whatever other servers there are. What had
// to be cut or changed so that it would be the same as another's gets a mark made of the whole.
func toolName(server, tool string, taken map[string]bool) string {
	name := serverPart(server) + "__" + strings.TrimLeft(plainTool(tool), "_")
	if len(name) > longestName || taken[name] || strings.HasSuffix(name, "__") {
		sum := sha256.Sum256([]byte(server + "\x00" + tool))
		mark := "_" + hex.EncodeToString(sum[:3])
		name = name[:min(len(name), longestName-len(mark))] + mark
	}
	taken[name] = true
	return name
}

// serverPart is a server's name without two underscores in a row, which end it.
func serverPart(server string) string {
	name := strings.TrimRight(plainName(server), "_")
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	return name
}

// plainTool is plainName for what stands behind a server's name, where a digit may be first.
func plainTool(name string) string { return plainName("t" + name)[1:] }
