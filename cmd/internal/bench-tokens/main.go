// Command bench-tokens measures what the machinery around a model costs: tokens per task, compared with what the Python system sends for the same
// conversation; what providers can keep of them from call to call; the time to the first call of the model among many skills; the time that
// the loop itself takes. The model is a scripted one over real HTTP, everything else is real. scripts/bench-tokens is the way to call it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// figures is what is measured.
type figures struct {
	Tasks     []taskFigures `json:"tasks"`
	Skills    int           `json:"skills"`
	ColdMS    float64       `json:"process_to_first_call_ms"` // median
	WarmMS    float64       `json:"request_to_first_call_ms"` // median, of a process that runs
	OverheadM float64       `json:"iteration_overhead_ms"`    // median
}

// taskFigures are those of one scripted task.
type taskFigures struct {
	Name   string   `json:"name"`
	Ours   spent    `json:"ours"`
	Former compared `json:"python"`
}

func main() {
	bin := flag.String("bin", "bin", "directory of the built commands")
	samples := flag.String("samples", "samples", "directory of the samples")
	skills := flag.Int("skills", 3000, "look for skills among `N` of them")
	asJSON := flag.Bool("json", false, "print JSON")
	check := flag.Bool("check", false, "end with 1 when a target is missed")
	flag.Parse()
	f, err := measure(*bin, *samples, *skills)
	if err == nil {
		err = show(f, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-tokens:", err)
		os.Exit(1)
	}
	if missed := f.missed(); len(missed) > 0 {
		for _, m := range missed {
			fmt.Fprintln(os.Stderr, "bench-tokens: missed:", m)
		}
		if *check {
			os.Exit(1)
		}
	}
}

func measure(bin, samples string, skills int) (f figures, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return f, err
	}
	if samples, err = filepath.Abs(samples); err != nil {
		return f, err
	}
	dir, err := os.MkdirTemp("", "bench-tokens-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	b := &bench{bin: filepath.Join(bin, "openspace-execute"), samples: samples, dir: dir}
	for _, t := range tasks() {
		one, err := b.conversation(t)
		if err != nil {
			return f, fmt.Errorf("task %s: %w", t.name, err)
		}
		f.Tasks = append(f.Tasks, one)
	}
	f.Skills = skills
	if err := b.times(&f, skills); err != nil {
		return f, err
	}
	return f, nil
}

// The targets.
const (
	mostToFirst  = 60.0
	mostOverhead = 3.0
)

// missed says which targets are not reached.
func (f figures) missed() (out []string) {
	all := f.all()
	for _, t := range append(f.Tasks, all) {
		if ours, own := t.Ours.fresh(), t.Former.Own.fresh(); ours >= own {
			out = append(out, fmt.Sprintf("%s: %d tokens paid in full, and %d by the Python system with its own tools", t.Name, ours, own))
		}
	}
	for _, p := range []spent{all.Former.Own, all.Former.Same} {
		if all.Ours.Input >= p.Input {
			out = append(out, fmt.Sprintf("tokens sent: %d, and %d by the Python system", all.Ours.Input, p.Input))
		}
	}
	if f.WarmMS > mostToFirst {
		out = append(out, fmt.Sprintf("request to first call: %.1f ms, at most %.0f", f.WarmMS, mostToFirst))
	}
	if f.OverheadM > mostOverhead {
		out = append(out, fmt.Sprintf("overhead per iteration: %.2f ms, at most %.0f", f.OverheadM, mostOverhead))
	}
	return out
}

// all is the sum of the tasks.
func (f figures) all() taskFigures {
	sum := taskFigures{Name: "all"}
	for _, t := range f.Tasks {
		sum.Ours.add(t.Ours)
		sum.Former.Own.add(t.Former.Own)
		sum.Former.Same.add(t.Former.Same)
		sum.Former.Keeps.add(t.Former.Keeps)
	}
	return sum
}

func (s *spent) add(o spent) {
	s.Calls += o.Calls
	s.Input += o.Input
	s.Kept += o.Kept
	s.Output += o.Output
}

// fresh is what is paid in full: what a provider cannot keep, and a tenth of what it can.
func (s spent) fresh() int { return s.Input - s.Kept + s.Kept/10 }

func (s spent) share() float64 {
	if s.Input == 0 {
		return 0
	}
	return 100 * float64(s.Kept) / float64(s.Input)
}

func show(f figures, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\tours\t\t\tPython, its own tools\t\t\tits own, skill kept\t\twith our tools\t\t")
	fmt.Fprintln(w, "task\tcalls\tsent\tcacheable\tin full\tsent\tcacheable\tin full\tsent\tin full\tsent\tin full\t")
	for _, t := range append(f.Tasks, f.all()) {
		o, p := t.Ours, t.Former
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f %%\t%d\t%d\t%.0f %%\t%d\t%d\t%d\t%d\t%d\t\n", t.Name, o.Calls, o.Input, o.share(), o.fresh(),
			p.Own.Input, p.Own.share(), p.Own.fresh(), p.Keeps.Input, p.Keeps.fresh(), p.Same.Input, p.Same.fresh())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nwith %d skills: %.1f ms from the start of the process to the first call of the model, %.1f ms from the task to it in a process that runs\n",
		f.Skills, f.ColdMS, f.WarmMS)
	fmt.Printf("%.2f ms between a reply and the next request, the tool's work included\n", f.OverheadM)
	return nil
}
