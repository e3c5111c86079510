package recording

import "slices"

// blameless are the codes of failures that say nothing of the tool: what was asked of it was wrong, was not allowed, or
// was broken off; or what it ran had a status of its own.
var blameless = []string{"invalid", "usage", "not_found", "exists", "exit", "denied", "canceled", "unsafe", "too_long"}

// Blames tells whether a failure with this code says something of the tool itself.
func Blames(code string) bool { return !slices.Contains(blameless, code) }
