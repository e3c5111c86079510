package settings

import "github.com/xrash/smetrics"

// Known returns the names of all settings of the suite, sorted: the flags of its commands and what has no
// flag. The suite's test compares it with the commands.
func Known() []string {
	return []string{
		"all", "body", "color", "dry_run", "errors", "exact", "explain", "format", "home", "host_skill_dirs", "json",
		"jsonl", "limit", "min_score", "no_refresh", "no_sidecar", "plain", "policy", "prefix", "profile",
		"skill_dirs", "source", "strict", "verify",
	}
}

// Nearest returns the word that was probably meant: the one with the fewest changed letters, at most a
// third of the longer word, rounded up. It is "" when none is near.
func Nearest(word string, among []string) string {
	best, res := 0, ""
	for _, w := range among {
		d := smetrics.WagnerFischer(word, w, 1, 1, 1)
		if d <= (max(len(word), len(w))+2)/3 && (res == "" || d < best) {
			best, res = d, w
		}
	}
	return res
}
