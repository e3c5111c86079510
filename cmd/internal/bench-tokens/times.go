package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// rounds is how often each time is measured.
const rounds = 9

// times measures among many skills: from the start of a process, and from a task on stdin, to the first request that reaches the model; and between
// replies and the requests after them.
func (b *bench) times(f *figures, skills int) error {
	home := filepath.Join(b.dir, "home-of-many")
	if err := many(filepath.Join(home, "skills"), skills); err != nil {
		return err
	}
	work := filepath.Join(b.dir, "work-of-many")
	if err := put(filepath.Join(work, "notes.txt"), table(5)); err != nil {
		return err
	}
	var cold, gaps []float64
	for i := range rounds + 1 {
		m, end := b.serve(home, steps(20))
		began := time.Now()
		if out, err := b.command(home, m.url, "--workspace-dir", work, "Look at notes.txt a few times and say what is in it.").Output(); err != nil {
			end()
			return fmt.Errorf("%w: %.1000s", err, out)
		}
		end()
		if i == 0 {
			continue // builds the index
		}
		cold = append(cold, ms(m.arrived[0].Sub(began)))
		gaps = append(gaps, m.gaps()...)
	}
	f.ColdMS, f.OverheadM = median(cold), median(gaps)
	warm, err := b.warm(home, work)
	f.WarmMS = median(warm)
	return err
}

// running is a model that serves.
type running struct {
	*model
	url string
}

func (b *bench) serve(home string, t scripted) (running, func()) {
	m := &model{t: t}
	web := httptest.NewServer(stamped(m, llmtest.New(llmtest.Script{Answer: m.answer})))
	return running{m, web.URL}, web.Close
}

// stamped notes when an answer has been written.
func stamped(m *model, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.answered = append(m.answered, time.Now())
	})
}

// steps is a task whose model reads a file n times.
func steps(n int) scripted {
	t := scripted{name: "steps"}
	for i := range n {
		t.replies = append(t.replies, calls(call("read_file", map[string]any{"path": "notes.txt", "limit": 1 + i%3})))
	}
	t.replies = append(t.replies, llmtest.Reply{Text: "Five orders."})
	return t
}

// gaps are the times between a reply and the request that follows it in the same task.
func (m *model) gaps() (out []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := 2; i < len(m.arrived) && i-1 < len(m.answered); i++ { // the first request is the choice, the second one begins the work
		out = append(out, ms(m.arrived[i].Sub(m.answered[i-1])))
	}
	return out
}

// warm sends tasks to one process, one after the other.
func (b *bench) warm(home, work string) (out []float64, err error) {
	m, end := b.serve(home, scripted{name: "warm", replies: []llmtest.Reply{{Text: "Nothing to do."}}})
	defer end()
	c := b.command(home, m.url, "--workspace-dir", work, "-")
	stdin, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	results := make(chan struct{}, rounds+1)
	go lines(stdout, func(kind string) {
		if kind == "result" {
			results <- struct{}{}
		}
	})
	for i := range rounds + 1 {
		m.mu.Lock()
		before := len(m.arrived)
		m.mu.Unlock()
		began := time.Now()
		if _, err := fmt.Fprintf(stdin, "Task %d: put the invoices of the month into one spreadsheet and mail it to the accountant.\n", i); err != nil {
			return nil, err
		}
		select {
		case <-results:
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("no result within a minute")
		}
		m.mu.Lock()
		if i > 0 && len(m.arrived) > before {
			out = append(out, ms(m.arrived[before].Sub(began)))
		}
		m.mu.Unlock()
	}
	stdin.Close()
	return out, c.Wait()
}

// many makes n skills of made-up words, with one that fits a few tasks.
func many(dir string, n int) error {
	topics := []string{"invoice", "spreadsheet", "image", "podcast", "database", "container", "contract", "calendar", "deployment", "survey", "recipe", "translation"}
	verbs := []string{"convert", "summarise", "check", "merge", "split", "publish", "repair", "compare", "schedule", "archive"}
	for i := range n {
		topic, verb := topics[i%len(topics)], verbs[i/len(topics)%len(verbs)]
		name := fmt.Sprintf("%s-%s-%d", verb, topic, i)
		text := fmt.Sprintf("---\nname: %s\ndescription: %s each %s of a kind, number %d, with notes for the reader and a mail to the accountant.\n---\n# %s\n\n%s\n",
			name, strings.ToUpper(verb[:1])+verb[1:], topic, i, name, strings.Repeat(fmt.Sprintf("Open the %s, %s it, and look at part %d of the result. ", topic, verb, i%97), 30))
		if err := put(filepath.Join(dir, name, "SKILL.md"), text); err != nil {
			return err
		}
	}
	time.Sleep(100 * time.Millisecond) // let the stamps be trusted
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
