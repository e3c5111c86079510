// Command bench-gateway measures openspace-gateway on this machine, with a fake Feishu and tasks that answer
// at once.
//
//	bench-gateway --bin DIR [--chats 200] [--each 5] [--rate 200] [--seconds 20] [--json]
//
// It first writes so many messages in so many chats at once, kills the gateway in the middle and starts it
// again, and looks whether each message was answered once and in order. Then it makes requests to the webhook
// at a steady rate, most of them forged, and measures how long each takes. Called as openspace-execute it is
// the task: DIR holds a copy of it under that name.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// figures are what is measured.
type figures struct {
	Messages      int     `json:"messages"`
	Lost          int     `json:"lost"`
	Twice         int     `json:"twice"`
	Disordered    int     `json:"chats_out_of_order"`
	Redelivered   int     `json:"redelivered"` // what was not acknowledged when the gateway was killed
	AnsweredMS    int64   `json:"answered_ms"` // from the first message to the last answer, with kill and start
	PeakMiB       float64 `json:"peak_mib"`
	Requests      int     `json:"requests"`
	Genuine       int     `json:"genuine"`
	Passed        int     `json:"forged_that_passed"`
	P50MS         float64 `json:"webhook_p50_ms"`
	P99MS         float64 `json:"webhook_p99_ms"`
	P99GenuineMS  float64 `json:"webhook_p99_genuine_ms"`
	WorstMS       float64 `json:"webhook_worst_ms"`
	RatePerSecond float64 `json:"requests_per_second"`
}

func main() {
	if filepath.Base(os.Args[0]) == "openspace-execute" {
		task()
		return
	}
	b := &bench{}
	flag.StringVar(&b.bin, "bin", "", "take the commands from `DIR`")
	flag.IntVar(&b.chats, "chats", 200, "write in `N` chats")
	flag.IntVar(&b.each, "each", 5, "write `N` messages in each chat")
	flag.IntVar(&b.rate, "rate", 200, "make `N` requests a second")
	flag.IntVar(&b.seconds, "seconds", 20, "make requests for `N` seconds")
	asJSON := flag.Bool("json", false, "write JSON")
	flag.Parse()
	f, err := b.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-gateway:", err)
		os.Exit(1)
	}
	if *asJSON {
		json.NewEncoder(os.Stdout).Encode(f)
		return
	}
	fmt.Printf("%d messages in %d chats, killed in the middle: %d lost, %d answered twice, %d chats out of order, %d delivered again, in %v\n",
		f.Messages, b.chats, f.Lost, f.Twice, f.Disordered, f.Redelivered, time.Duration(f.AnsweredMS)*time.Millisecond)
	fmt.Printf("memory of the gateway: at most %.1f MiB\n", f.PeakMiB)
	fmt.Printf("webhook: %d requests at %.0f a second, %d genuine; p50 %.1f ms, p99 %.1f ms, of genuine ones %.1f ms, worst %.1f ms; %d forged ones passed\n",
		f.Requests, f.RatePerSecond, f.Genuine, f.P50MS, f.P99MS, f.P99GenuineMS, f.WorstMS, f.Passed)
}

// task answers a task at once.
func task() {
	line, err := jsonl.NewReader(os.Stdin).Next()
	var t wire.Task
	if err == nil {
		err = jsonl.Unmarshal(line.Data, &t)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(5)
	}
	out := jsonl.NewWriter(os.Stdout)
	out.Write(wire.Result{ID: t.ID, Status: "success", Response: "answer to " + t.Task}.Typed())
	out.Write(wire.Summary{In: 1, Out: 1}.Typed())
	out.Flush()
}
