package llm

import (
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// diverged says where a request leaves the recording.
func (r *replayer) diverged(asked []storedMessage, rest rest) string {
	var best *recorded
	most := -1
	for _, x := range r.list {
		if n := score(x, asked); n > most {
			best, most = x, n
		}
	}
	if best == nil {
		return "the recording has no exchanges"
	}
	where := fmt.Sprintf("exchange %d of the recording comes nearest", best.n)
	n := common(best.alike, asked)
	switch {
	case n < len(asked) && n < len(best.alike):
		return where + ", " + parts(n, best.alike[n], asked[n])
	case n < len(asked):
		return fmt.Sprintf("%s: it has %d messages, the request has %d; the first one more is of the %s: %s", where, len(best.alike), len(asked), asked[n].Role, cutText(asked[n].Content, 0))
	case n < len(best.alike):
		return fmt.Sprintf("%s: it has %d messages, the request has only %d", where, len(best.alike), len(asked))
	case best.used && keyOf(best.alike, best.rest) == keyOf(asked, rest):
		return fmt.Sprintf("exchange %d is the same request and has answered already: it was asked more often than in the recording", best.n)
	}
	return where + ": " + restParts(best, rest)
}

// score says how near an exchange comes: equal messages count most, then equal length, then that it is not used.
func score(x *recorded, asked []storedMessage) int {
	n := 4 * common(x.alike, asked)
	if len(x.alike) == len(asked) {
		n += 2
	}
	if !x.used {
		n++
	}
	return n
}

// common returns how many messages at the beginning are equal.
func common(a, b []storedMessage) int {
	n := 0
	for n < len(a) && n < len(b) && next([32]byte{}, a[n]) == next([32]byte{}, b[n]) {
		n++
	}
	return n
}

// parts says where two messages part.
func parts(i int, was, is storedMessage) string {
	where := fmt.Sprintf("but message %d", i+1)
	if was.Role != is.Role {
		return fmt.Sprintf("%s is of the %s there and of the %s here: %s", where, was.Role, is.Role, cutText(is.Content, 0))
	}
	a, b := was.Content, is.Content
	if a == b {
		a, b = beside(was), beside(is)
	}
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("%s (%s) parts at byte %d: recorded %s, now %s", where, was.Role, at, cutText(a, at), cutText(b, at))
}

// beside is what a message has beside its text, as JSON.
func beside(m storedMessage) string {
	m.Content = ""
	data, err := jsonl.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// cutText quotes a text around a byte.
func cutText(s string, at int) string {
	const before, after = 40, 120
	from, to := max(0, at-before), min(len(s), at+after)
	text := fmt.Sprintf("%q", strings.ToValidUTF8(s[from:to], ""))
	if from > 0 {
		text = "…" + text
	}
	if to < len(s) {
		text += "…"
	}
	return text
}

// restParts says what differs when all messages are equal.
func restParts(x *recorded, r rest) string {
	a, _ := jsonl.Marshal(x.rest)
	b, _ := jsonl.Marshal(r)
	return fmt.Sprintf("the limits and choices are others: recorded %s, now %s", a, b)
}
