package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// label marks a result as the output of a tool, so that it cannot be taken for the words of the user or of
// the loop. Which tool it was the message says by the call's id.
func label(e Execution) string {
	attributes := ""
	if e.Server != "" {
		attributes += ` server="` + plainAttribute(e.Server) + `"`
	}
	if e.Result.Failed() {
		code := e.Result.Code
		if code == "" {
			code = "yes"
		}
		attributes += ` failed="` + plainAttribute(code) + `"`
	}
	return fence("result", attributes, e.Result.Content)
}

// plainAttribute takes out what could end an attribute.
func plainAttribute(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"<>`, r) {
			return '_'
		}
		return r
	}, s)
}

// fence puts a text between marks that it does not contain: when it has the closing mark inside, the marks
// get a number made of the text. The same text always has the same marks, so that requests stay alike.
func fence(name, attributes, text string) string {
	mark := name
	for contains(text, "</"+mark) {
		sum := sha256.Sum256([]byte(mark + text))
		mark = name + "-" + hex.EncodeToString(sum[:4])
	}
	return "<" + mark + attributes + ">\n" + strings.TrimRight(text, "\n") + "\n</" + mark + ">"
}

// contains ignores case, as a reader of marks would.
func contains(text, mark string) bool {
	return strings.Contains(text, "</") && strings.Contains(strings.ToLower(text), mark)
}
