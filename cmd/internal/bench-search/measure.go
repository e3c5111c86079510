package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/search"
)

// bench is one generated store.
type bench struct {
	texts      []string
	root, home string
	bin        string
	options    index.Options
}

func measureSize(texts []string, n int, bin string) (f figures, err error) {
	dir, err := os.MkdirTemp("", "bench-search-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	b := &bench{texts: texts, root: filepath.Join(dir, "skills"), home: filepath.Join(dir, "home"), bin: bin}
	b.options = index.Options{Dir: search.IndexDir(b.home)}
	bytes, err := generate(texts, n, b.root)
	if err != nil {
		return f, err
	}
	f.Skills, f.TextMB = n, float64(bytes)/1e6
	for _, step := range []func(*figures) error{b.build, b.warm, b.change, b.cold, b.memory} {
		if err := step(&f); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (b *bench) open() (*index.Index, error) {
	return index.Open(context.Background(), roots.Root{Dir: b.root, Origin: "flag"}, b.options)
}

// build times the first build. It uses all cores, so the processor time tells what one core does.
func (b *bench) build(f *figures) error {
	cpu, start := processorTime(), time.Now()
	x, err := b.open()
	if err != nil {
		return err
	}
	f.BuildSeconds = time.Since(start).Seconds()
	f.BuildMBPerCore = f.TextMB / (processorTime() - cpu).Seconds()
	f.IndexMB = float64(diskUsage(b.options.Dir)) / 1e6
	return x.Close()
}

// warm times queries in one process.
func (b *bench) warm(f *figures) error {
	x, err := b.open()
	if err != nil {
		return err
	}
	defer x.Close()
	r := rand.New(rand.NewPCG(7, 7))
	f.Words6 = b.queries(x, func() string { return strings.Join(b.words(r, 6), " ") })
	f.Task1200 = b.queries(x, func() string { return b.task(r) })
	return nil
}

// queries returns the median time of 200 queries, after 20 that do not count.
func (b *bench) queries(x *index.Index, next func() string) float64 {
	set := index.Set{x}
	return median(220, 20, func() time.Duration {
		text := next()
		start := time.Now()
		scores, err := set.Score(lexical.ParseQuery(text))
		if err != nil {
			panic(err)
		}
		for _, m := range scores.Top(10) {
			if _, err := set.Doc(m.Ref); err != nil {
				panic(err)
			}
		}
		return time.Since(start)
	})
}

// words returns n different content words of one real skill.
func (b *bench) words(r *rand.Rand, n int) (words []string) {
	for len(words) < n {
		fields := strings.Fields(b.texts[r.IntN(len(b.texts))])
		words = words[:0]
		for try := 0; try < 200 && len(words) < n; try++ {
			w := strings.ToLower(strings.Trim(fields[r.IntN(len(fields))], ".,:;()[]`*\"'"))
			if len(w) > 3 && !lexical.StopWord(w) && !slices.Contains(words, w) && len(lexical.ParseQuery(w).Groups) == 1 {
				words = append(words, w)
			}
		}
	}
	return words
}

// task returns 1,200 characters of a real skill's prose.
func (b *bench) task(r *rand.Rand) string {
	for {
		if t := b.texts[r.IntN(len(b.texts))]; len(t) > 3000 {
			return strings.ToValidUTF8(t[1000:2200], "")
		}
	}
}

// change times how long it takes to see that nothing changed, and how long to take in one changed folder once
// it was noticed.
func (b *bench) change(f *figures) (failed error) {
	opened := func() (took time.Duration) {
		x, err := b.open()
		if err != nil {
			failed = err
			return 0
		}
		defer x.Close()
		return x.Took()
	}
	f.Notice = median(20, 3, func() time.Duration {
		start := time.Now()
		opened()
		return time.Since(start)
	})
	i := 0
	f.Change = median(30, 3, func() time.Duration {
		i++
		file := filepath.Join(b.root, fmt.Sprintf("skill-%06d", i), "SKILL.md")
		text := fmt.Sprintf("%s\nchanged %d\n", b.texts[i], i)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			failed = err
		}
		time.Sleep(60 * time.Millisecond) // let the stamp be trusted, so that the next round has only its own change
		return opened()
	})
	return failed
}

// cold times whole processes.
func (b *bench) cold(f *figures) error {
	r := rand.New(rand.NewPCG(9, 9))
	var failed error
	process := func(flags ...string) func() time.Duration {
		return func() time.Duration {
			args := append([]string{"--skill-dirs", b.root}, flags...)
			args = append(args, "--", strings.Join(b.words(r, 6), " "))
			cmd := exec.Command(filepath.Join(b.bin, "openspace-search"), args...)
			cmd.Env = append(os.Environ(), "OPENSPACE_HOME="+b.home)
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				failed = fmt.Errorf("openspace-search: %w: %s", err, out)
			}
			return time.Since(start)
		}
	}
	f.Cold = median(40, 3, process())
	f.ColdUnchecked = median(40, 3, process("--no-refresh"))
	return failed
}

// memory reads the anonymous memory of a process that has answered one query.
func (b *bench) memory(f *figures) error {
	cmd := exec.Command(filepath.Join(b.bin, "openspace-search"), "-", "--skill-dirs", b.root)
	cmd.Env = append(os.Environ(), "OPENSPACE_HOME="+b.home)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintln(in, strings.Join(b.words(rand.New(rand.NewPCG(1, 1)), 6), " "))
	bufio.NewReader(out).ReadString('\n')
	f.AnonMB = anonymous(cmd.Process.Pid)
	in.Close()
	return cmd.Wait()
}

// anonymous returns the resident memory of a process that is not mapped from a file, in MB.
func anonymous(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, l := range strings.Split(string(status), "\n") {
		var kb float64
		if n, _ := fmt.Sscanf(l, "RssAnon: %f kB", &kb); n == 1 {
			return kb / 1000
		}
	}
	return 0
}

// median runs f n times and returns the median of all but the first skip times, in milliseconds.
func median(n, skip int, f func() time.Duration) float64 {
	var times []time.Duration
	for i := range n {
		if d := f(); i >= skip {
			times = append(times, d)
		}
	}
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// diskUsage returns the size of all files below dir.
func diskUsage(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if fi, err := e.Info(); err == nil {
				size += fi.Size()
			}
		}
		return nil
	})
	return size
}
