package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/plainclient"
	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/lexical"
)

// bench is a registry under measurement.
type bench struct {
	options
	texts  []string
	dir    string
	f      *figures
	server *exec.Cmd
	c      *plainclient.Client
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// start starts the server and makes a key.
func (b *bench) start() error {
	addrFile := b.path("addr")
	os.Remove(addrFile)
	log, err := os.OpenFile(b.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	b.server = exec.Command(filepath.Join(b.bin, "openspace-registry"), "serve", "--data", b.path("data"), "--listen", "127.0.0.1:0", "--addr-file", addrFile)
	b.server.Stderr = log
	if err := b.server.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if addr, err := os.ReadFile(addrFile); err == nil {
			return b.connect("http://" + strings.TrimSpace(string(addr)))
		}
		if time.Now().After(end) {
			return fmt.Errorf("the server does not start; see %s", log.Name())
		}
	}
}

// connect makes the key, the first time.
func (b *bench) connect(base string) error {
	if b.c == nil {
		out, err := exec.Command(filepath.Join(b.bin, "openspace-registry"), "keys", "add", "bench", "--data", b.path("data"), "--plain").Output()
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		key, _, _ := strings.Cut(string(out), "\t")
		b.c = plainclient.New(key)
	}
	b.c.Base = base + api.BasePath
	return nil
}

func (b *bench) stop() {
	if b.server != nil && b.server.Process != nil {
		b.server.Process.Signal(syscall.SIGTERM)
		b.server.Wait()
	}
	b.server = nil
}

// command runs a command of the suite with lines on stdin, and returns its stdout and how long it took.
func (b *bench) command(name string, lines []string, args ...string) ([]byte, time.Duration, error) {
	cmd := exec.Command(filepath.Join(b.bin, name), args...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	cmd.Env = append(os.Environ(), "OPENSPACE_API_KEY="+b.c.Key, "OPENSPACE_API_BASE="+b.c.Base, "OPENSPACE_HOME="+b.path("home"))
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if code := cmd.ProcessState.ExitCode(); code == 3 {
		err = nil // some were refused; the count says how many
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, errOut.String())
	}
	return out, took, err
}

// upload publishes the real skills by the command, twice.
func (b *bench) upload() error {
	var dirs []string
	for i, text := range b.texts {
		dir := b.path(fmt.Sprintf("skills/skill-%05d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	b.f.Jobs = b.jobs
	for _, rate := range []*float64{&b.f.UploadRate, &b.f.AgainRate} {
		out, took, err := b.command("openspace-upload-skill", dirs, "--jobs", fmt.Sprint(b.jobs), "--visibility", "private", "--jsonl")
		if err != nil {
			return err
		}
		b.f.Skills = bytes.Count(out, []byte(`{"type":"upload"`))
		if b.f.Skills < len(dirs)*9/10 {
			return fmt.Errorf("only %d of %d skills were uploaded", b.f.Skills, len(dirs))
		}
		*rate = float64(b.f.Skills) / took.Seconds()
	}
	return nil
}

// imports downloads them all into another place.
func (b *bench) imports() error {
	records, err := b.c.List()
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range records {
		ids = append(ids, r.RecordID)
	}
	out, took, err := b.command("openspace-download-skill", ids, "--jobs", fmt.Sprint(b.jobs), "--into", b.path("imported"), "--jsonl")
	if err != nil {
		return err
	}
	// What the scan blocks goes to quarantine: it was downloaded too.
	n := bytes.Count(out, []byte(`{"type":"imported"`)) + bytes.Count(out, []byte(`"code":"unsafe"`))
	if n < len(ids)*9/10 {
		return fmt.Errorf("only %d of %d skills were imported", n, len(ids))
	}
	b.f.ImportRate = float64(n) / took.Seconds()
	return nil
}

// fill publishes variants of the real skills until there are enough records.
func (b *bench) fill() error {
	there, err := b.c.List()
	if err != nil {
		return err
	}
	var next atomic.Int64
	next.Store(int64(len(there)))
	var wg sync.WaitGroup
	failed := make([]error, b.jobs)
	start := time.Now()
	for j := range b.jobs {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(j)))
			for failed[j] == nil {
				i := int(next.Add(1)) - 1
				if i >= b.records {
					return
				}
				_, failed[j] = b.c.Publish(fmt.Sprintf("filled-%06d__clo_%08x", i, i), vary(r, b.texts[i%len(b.texts)], b.texts[r.IntN(len(b.texts))]))
			}
		})
	}
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	b.f.Records = max(b.records, len(there))
	if n := b.records - len(there); n > 0 {
		b.f.FillRate = float64(n) / time.Since(start).Seconds()
	}
	time.Sleep(2 * time.Second) // let the upkeep end
	b.f.Memory, b.f.MemoryPeak = b.memory("VmRSS"), b.memory("VmHWM")
	b.f.Data = float64(diskUsage(b.path("data"))) / 1e6
	return nil
}

// memory reads a line of the server's status, in MB.
func (b *bench) memory(name string) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.server.Process.Pid))
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, name+": %f kB", &kb); n == 1 {
			return kb / 1000
		}
	}
	return 0
}

// searches times queries one after the other.
func (b *bench) searches() error {
	r := rand.New(rand.NewPCG(7, 7))
	words := func() string { return b.words(r, 6) }
	task := func() string {
		for {
			if t := b.texts[r.IntN(len(b.texts))]; len(t) > 3000 {
				return strings.ToValidUTF8(t[1000:2200], "")
			}
		}
	}
	for _, s := range []struct {
		query       func() string
		limit       int
		median, p95 *float64
	}{{words, 20, &b.f.Search, &b.f.Search95}, {task, 20, &b.f.SearchTask, nil}, {words, 300, &b.f.Search300, nil}} {
		times, err := timeSearches(b.c, s.query, s.limit, 300)
		if err != nil {
			return err
		}
		*s.median = times[len(times)/2]
		if s.p95 != nil {
			*s.p95 = times[len(times)*95/100]
		}
	}
	b.f.MemorySearch = b.memory("VmRSS")
	return nil
}

// words returns n content words of one real skill.
func (b *bench) words(r *rand.Rand, n int) string {
	for {
		fields := strings.Fields(b.texts[r.IntN(len(b.texts))])
		var words []string
		for try := 0; try < 200 && len(words) < n; try++ {
			w := strings.ToLower(strings.Trim(fields[r.IntN(len(fields))], ".,:;()[]`*\"'"))
			if len(w) > 3 && !lexical.StopWord(w) {
				words = append(words, w)
			}
		}
		if len(words) == n {
			return strings.Join(words, " ")
		}
	}
}

// restart times how long the server takes to be there again.
func (b *bench) restart() error {
	b.stop()
	start := time.Now()
	if err := b.start(); err != nil {
		return err
	}
	b.f.Start = time.Since(start).Seconds()
	b.f.MemoryRestart = b.memory("VmRSS")
	return nil
}
