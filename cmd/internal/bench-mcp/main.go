// Command bench-mcp measures openspace-mcp over stdio: the time from the start of the process to the answer
// of tools/list, and what search_skills takes more than the search itself.
//
//	bench-mcp --bin DIR [--runs 100] [--searches 1000]
//
// The commands are taken from DIR, the skills from $OPENSPACE_HOST_SKILL_DIRS. It writes one line a
// measurement: the median, and the slowest of a hundred.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "take the commands from `DIR`")
	runs := flag.Int("runs", 100, "start the server `N` times")
	searches := flag.Int("searches", 1000, "search `N` times")
	flag.Parse()
	if err := measure(*bin, *runs, *searches); err != nil {
		fmt.Fprintln(os.Stderr, "bench-mcp:", err)
		os.Exit(5)
	}
}

func measure(bin string, runs, searches int) error {
	server := filepath.Join(bin, "openspace-mcp")
	var starts []time.Duration
	for range runs {
		d, err := start(server)
		if err != nil {
			return err
		}
		starts = append(starts, d)
	}
	report("start to the answer of tools/list", starts)
	direct, err := ask(exec.Command(filepath.Join(bin, "openspace-search"), "--jsonl", "--source", "local", "-"), searches,
		`{"type":"query","id":"%d","query":"fill a pdf form","limit":5,"done":true}`, `"type":"result"`)
	if err != nil {
		return err
	}
	through, err := ask(exec.Command(server), searches,
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search_skills","arguments":{"query":"fill a pdf form","limit":5,"source":"local"}}}`, `"result"`)
	if err != nil {
		return err
	}
	a, b := report("search by openspace-search", direct), report("search by search_skills", through)
	fmt.Printf("%-36s %8s\n", "search_skills takes more", (b - a).Round(time.Microsecond))
	return nil
}

// start measures one start.
func start(server string) (time.Duration, error) {
	cmd := exec.Command(server)
	in, out, err := pipes(cmd)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	err = until(out, `"tools":[`)
	took := time.Since(began)
	in.Close()
	return took, errors.Join(err, cmd.Wait())
}

// ask measures questions that are put one after the other.
func ask(cmd *exec.Cmd, n int, question, end string) (took []time.Duration, err error) {
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for i := range n + 20 { // the first ones open the index
		began := time.Now()
		fmt.Fprintf(in, question+"\n", i)
		if err := until(out, end); err != nil {
			return nil, err
		}
		if i >= 20 {
			took = append(took, time.Since(began))
		}
	}
	in.Close()
	return took, cmd.Wait()
}

func pipes(cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	return in, bufio.NewReaderSize(out, 1<<20), err
}

// until reads to the line that holds a text.
func until(out *bufio.Reader, text string) error {
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		if strings.Contains(line, text) {
			return nil
		}
	}
}

func report(what string, took []time.Duration) (median time.Duration) {
	slices.Sort(took)
	median = took[len(took)/2]
	fmt.Printf("%-36s %8s median, %8s of 99 %%\n", what, median.Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond))
	return median
}
