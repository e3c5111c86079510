package mcpclient

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// Server is how a server is reached. Variables in its fields are put in already.
type Server struct {
	Name    string
	Kind    string // stdio, http or sse; http falls back to sse when the server knows no other
	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every server gets
	Dir     string            // absolute; empty: the pool's
	URL     string
	Headers map[string]string

	Timeout      time.Duration // of a call; 0: 2 minutes
	StartTimeout time.Duration // until the tools are known; 0: a minute
	Allow, Deny  []string      // names of tools, with * and ?; no Allow: all
	MaxMessage   int64         // bytes of one message; 0: 64 MiB
	Where        string        // where it is configured, for messages
}

// The kinds of servers.
const (
	Stdio = "stdio"
	HTTP  = "http"
	SSE   = "sse"
)

// Defaults of a server.
const (
	callTime   = 2 * time.Minute
	startTime  = time.Minute
	maxMessage = 64 << 20
)

// filled puts the defaults in.
func (s Server) filled() Server {
	s.Timeout = cmp.Or(s.Timeout, callTime)
	s.StartTimeout = cmp.Or(s.StartTimeout, startTime)
	s.MaxMessage = cmp.Or(s.MaxMessage, maxMessage)
	return s
}

// hash is of everything that can change which tools a server has. It stands in the cache, so secrets go in through the
// hash only.
func (s Server) hash() string {
	s.Timeout, s.StartTimeout, s.MaxMessage, s.Where, s.Allow, s.Deny = 0, 0, 0, "", nil, nil
	data, _ := json.Marshal(s) // nothing in it can fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// offers tells whether a tool is to be used.
func (s Server) offers(tool string) bool {
	fits := func(pattern string) bool { return wild(pattern, tool) }
	return (len(s.Allow) == 0 || slices.ContainsFunc(s.Allow, fits)) && !slices.ContainsFunc(s.Deny, fits)
}

// wild compares a name with a pattern: a star stands for any text, a question mark for one byte. It takes the star that
// came last back step by step, so it never takes more than the product of both lengths.
func wild(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*':
			p, n = p+1, n+1
		case p < len(pattern) && pattern[p] == '*':
			star, mark, p = p, n, p+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
