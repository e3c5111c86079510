// Command bench-learning measures what learning is worth: 20 tasks cold, warm with what was learned, and as a control without learning.
// docs/bench-learning.md says how, and what the scripted model is. scripts/bench-learning is the way to call it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

func main() {
	b := &bench{}
	flag.StringVar(&b.bin, "bin", "bin", "directory of the built commands")
	flag.StringVar(&b.model, "model", "", "ask this model by the usual settings, instead of the scripted one: `PROVIDER/NAME`")
	flag.IntVar(&b.iterations, "max-iterations", 8, "the budget of each task, in calls of the model")
	asJSON := flag.Bool("json", false, "print JSON")
	check := flag.Bool("check", false, "end with 1 when learning is not worth what it should be with the scripted model")
	flag.Parse()
	passes, err := b.measure()
	if err == nil {
		err = show(os.Stdout, passes, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-learning:", err)
		os.Exit(1)
	}
	if missed := missed(passes); *check && len(missed) > 0 {
		for _, m := range missed {
			fmt.Fprintln(os.Stderr, "bench-learning: missed:", m)
		}
		os.Exit(1)
	}
}

// measure makes all passes.
func (b *bench) measure() (all []pass, err error) {
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "bench-learning-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	if b.model == "" {
		server := llmtest.New(llmtest.Script{Answer: answer})
		web := httptest.NewServer(server)
		defer web.Close()
		b.url = web.URL + "/v1"
		defer func() {
			if f := server.Failures(); err == nil && len(f) > 0 {
				err = fmt.Errorf("the scripted model: %s", f[0])
			}
		}()
	}
	for _, p := range []struct{ name, home, learn string }{
		{"cold", "learning", "wait"}, {"warm", "learning", "wait"}, {"control 1", "control", "off"}, {"control 2", "control", "off"},
	} {
		one, err := b.pass(p.name, filepath.Join(b.dir, p.home), p.learn)
		if err != nil {
			return all, fmt.Errorf("pass %s: %w", p.name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func show(w io.Writer, passes []pass, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(passes)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "pass\ttasks\tsuccess\titerations\ttokens\tof learning\twith a skill\tmade\trepaired\tused again")
	for _, p := range passes {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.0f\t%.0f\t%d\t%d\t%d\t%s\n", p.Name, p.Tasks, p.Success, p.Iterations, p.Tokens, p.Learning, p.Guided, p.Captured, p.Fixed, p.reuse())
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// missed tells where the machinery lost what it should carry.
func missed(passes []pass) (out []string) {
	cold, warm, control := passes[0], passes[1], passes[3]
	for _, m := range []struct {
		is   bool
		what string
	}{
		{warm.Success < warm.Tasks, "all tasks succeed with what was learned"},
		{warm.Iterations > control.Iterations/2, "half the iterations"},
		{warm.Tokens > 0.7*control.Tokens, "30 % fewer tokens"},
		{warm.Guided < warm.Tasks, "every task finds its skill"},
		{cold.Captured != len(kinds), "one skill for each kind, and no copy"},
		{warm.Captured+warm.Fixed > 0, "nothing is left to be learned"},
		{warm.UsedAgain < cold.Captured, "every captured skill is used again"},
		{passes[2].Success != control.Success || passes[2].Iterations != control.Iterations, "nothing changes without learning"},
	} {
		if m.is {
			out = append(out, m.what)
		}
	}
	return out
}
