package safety_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill/skilltest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fakeTool, clickFix and fixture are why a real skill may be blocked.
const (
	fakeTool = "published malware: demands that a password-locked archive from a stranger's releases be run first, and a command from a paste site on macOS"
	clickFix = "published malware: demands a password-locked AuthTool.exe, and on macOS a base64 command that decodes to curl from a bare IP address into bash"
	fixture  = "a scanner's own sample of an attack: "
)

// blocked lists every real skill that the default policy blocks, and why that is
// right. A new one fails the test until somebody has read it and can say so.
var blocked = map[string]string{
	"openclaw/skills/hightower6eu/clawhubcli/SKILL.md":                                      fakeTool,
	"openclaw/skills/hightower6eu/polym/SKILL.md":                                           fakeTool,
	"openclaw/skills/hightower6eu/update/SKILL.md":                                          fakeTool,
	"openclaw/skills/hightower6eu/updater/SKILL.md":                                         fakeTool,
	"openclaw/skills/jordanprater/twittertrends/SKILL.md":                                   fakeTool,
	"openclaw/skills/jordanprater/yahoofinance/SKILL.md":                                    fakeTool,
	"openclaw/skills/jordanprater/youtube-summarize/SKILL.md":                               fakeTool,
	"openclaw/skills/jordanprater/youtube-thumbnail-grabber/SKILL.md":                       fakeTool,
	"openclaw/skills/jordanprater/youtube-video-downloader/SKILL.md":                        fakeTool,
	"openclaw/skills/aslaep123/base-agent/SKILL.md":                                         clickFix,
	"openclaw/skills/aslaep123/bybit-agent/SKILL.md":                                        clickFix,
	"openclaw/skills/aslaep123/reddit-trends/SKILL.md":                                      clickFix,
	"openclaw/skills/danman60/proxy-scrap/SKILL.md":                                         clickFix,
	"openclaw/skills/gpaitai/polymarket-bot/SKILL.md":                                       clickFix,
	"openclaw/skills/zaycv/linkedin-job-application/SKILL.md":                               clickFix,
	"openclaw/skills/zaycv/polymarket-assistant/SKILL.md":                                   clickFix,
	"openclaw/skills/zaycv/polymarket-trading/SKILL.md":                                     "published malware: demands that PolymarketAuth.exe from a password-locked archive be run before use",
	"openclaw/skills/aslaep123/polymarket-traiding-bot/SKILL.md":                            "published malware: demands PolymarketAuthTool.exe from a password-locked archive",
	"openclaw/skills/fobonacci404/evilweather/SKILL.md":                                     "appends a foreign SSH key to root's authorized_keys behind a weather request",
	"openclaw/skills/c-goro/skillguard/test-fixtures/malicious-skill/SKILL.md":              fixture + "forged system message that asks for all API keys",
	"openclaw/skills/c-goro/skillguard/test-fixtures/evasive-03-prompt-subtle/SKILL.md":     fixture + "a hidden comment sends all API keys to a verification service and forbids to mention it",
	"openclaw/skills/c-goro/skillguard/test-fixtures/evasive-06-unicode-injection/SKILL.md": fixture + "words split by characters without width ask for environment variables",
	"openclaw/skills/c-goro/skillguard/test-fixtures/evasive-10-roleplay/SKILL.md":          fixture + "a writing exercise collects credentials and posts them",
}

// TestReal scans 3,063 real skills: only those that somebody defends may be
// blocked, few may be warned about, and the counts by rule are a golden file, so
// that the effect of a changed rule is seen.
func TestReal(t *testing.T) {
	skills := skilltest.Reals(t)
	verdicts := map[safety.Verdict]int{}
	counts := map[string]int{}
	for _, s := range skills {
		r := safety.Scan([]safety.Text{{Path: "SKILL.md", Data: []byte(s.Text)}}, safety.DefaultPolicy())
		verdicts[r.Verdict]++
		if reason := blocked[s.ID]; (r.Verdict == safety.Block) != (reason != "") {
			t.Errorf("%s: got %s, want blocked because %q: %v", s.ID, r.Verdict, reason, r.Findings)
		}
		seen := map[string]bool{}
		for _, f := range r.Findings {
			seen[fmt.Sprintf("%-26s %s", f.Rule, f.Severity)] = true
		}
		for k := range seen {
			counts[k]++
		}
	}
	if len(skills) < 3000 || verdicts[safety.Block] != len(blocked) {
		t.Errorf("got %d skills and %d blocked, want 3,063 and %d", len(skills), verdicts[safety.Block], len(blocked))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Real skills by verdict, then by rule and severity. Written by go test -run TestReal -update.\n")
	for _, v := range []safety.Verdict{safety.Block, safety.Warn, safety.Allow} {
		fmt.Fprintf(&b, "%s %d\n", v, verdicts[v])
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%-35s %d\n", k, counts[k])
	}
	golden(t, filepath.Join("testdata", "real.golden"), b.String())
}

// TestRealWithoutNames checks that what is known as malware is found by what it
// does as well, and not only by its name.
func TestRealWithoutNames(t *testing.T) {
	p, err := safety.ParsePolicy("allow=known-malware")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range skilltest.Reals(t) {
		if blocked[s.ID] == "" {
			continue
		}
		if r := safety.Scan([]safety.Text{{Path: "SKILL.md", Data: []byte(s.Text)}}, p); r.Verdict != safety.Block {
			t.Errorf("%s: got %s, want block without the known names: %v", s.ID, r.Verdict, r.Findings)
		}
	}
}

// golden compares got with a file, or writes it under -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	t.Errorf("%s differs; run go test -update when that is meant", file)
	old, now := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range now {
		if !slices.Contains(old, line) {
			t.Log("got", line)
		}
	}
	for _, line := range old {
		if !slices.Contains(now, line) {
			t.Log("want", line)
		}
	}
}
