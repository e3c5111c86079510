package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
)

const (
	key      = "ek-of-the-bench"
	patience = 5 * time.Minute
)

type bench struct {
	bin                        string
	chats, each, rate, seconds int

	dir     string
	feishu  *feishutest.Server
	process *exec.Cmd
	hook    string
	f       figures
	mu      sync.Mutex
}

func (b *bench) run() (figures, error) {
	dir, err := os.MkdirTemp("", "bench-gateway-")
	if err != nil {
		return b.f, err
	}
	defer os.RemoveAll(dir)
	b.dir, b.feishu = dir, feishutest.New()
	b.feishu.EncryptKey = key
	defer b.feishu.Close()
	defer b.kill()
	if err := b.start(); err != nil {
		return b.f, err
	}
	if err := b.flood(); err != nil {
		return b.f, err
	}
	b.webhook()
	b.memory()
	return b.f, nil
}

func (b *bench) start() error {
	addr := filepath.Join(b.dir, "addr")
	os.Remove(addr)
	b.process = exec.Command(filepath.Join(b.bin, "openspace-gateway"), "run", "--addr-file", addr, "--log-level", "error")
	b.process.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "OPENSPACE_COMMUNICATION_PORT=0", "OPENSPACE_COMMUNICATION_MAX_PARALLEL=4",
		"FEISHU_ENABLED=true", "FEISHU_ALLOW_ALL_USERS=true", "FEISHU_APP_ID=" + feishutest.AppID, "FEISHU_APP_SECRET=" + feishutest.AppSecret,
		"FEISHU_VERIFICATION_TOKEN=" + feishutest.Token, "FEISHU_ENCRYPT_KEY=" + key, "FEISHU_DOMAIN=" + b.feishu.URL,
	}
	b.process.Stderr = os.Stderr
	if err := b.process.Start(); err != nil {
		return err
	}
	for start := time.Now(); time.Since(start) < patience; time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(addr); err == nil && len(data) > 0 {
			b.mu.Lock()
			b.hook = "http://" + strings.TrimSpace(string(data)) + "/feishu/webhook"
			b.feishu.Hook = b.hook
			b.mu.Unlock()
			return nil
		}
	}
	return fmt.Errorf("the gateway does not start")
}

func (b *bench) kill() {
	if b.process != nil && b.process.ProcessState == nil {
		b.process.Process.Kill()
		b.process.Wait()
	}
}

// flood writes all messages, with a kill in the middle, and counts the answers.
func (b *bench) flood() error {
	begin := time.Now()
	for i := range b.each {
		if i == b.each/2 {
			b.memory()
			b.kill()
			if err := b.start(); err != nil {
				return err
			}
		}
		var wait sync.WaitGroup
		lanes := make(chan struct{}, 32)
		for c := range b.chats {
			lanes <- struct{}{}
			wait.Go(func() {
				id := b.feishu.Say(gatewaytest.Saying{Chat: fmt.Sprint("c", c), Me: fmt.Sprint("u", c), Text: fmt.Sprintf("message %d.", i)})
				for !b.feishu.Acknowledged(id) {
					b.count(&b.f.Redelivered)
					time.Sleep(20 * time.Millisecond)
					b.feishu.Again(id)
				}
				<-lanes
			})
		}
		wait.Wait()
	}
	b.f.Messages = b.chats * b.each
	for start := time.Now(); len(b.feishu.Shown()) < b.f.Messages && time.Since(start) < patience; {
		time.Sleep(20 * time.Millisecond)
	}
	b.f.AnsweredMS = time.Since(begin).Milliseconds()
	time.Sleep(time.Second) // what comes twice comes now
	b.judge()
	b.memory()
	return nil
}

func (b *bench) count(n *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*n++
}

// judge looks whether each message was answered once, in order.
func (b *bench) judge() {
	got := map[string][]string{}
	for _, s := range b.feishu.Shown() {
		_, number, _ := strings.Cut(s.Text, "message ")
		got[s.Chat] = append(got[s.Chat], strings.TrimSuffix(number, "."))
	}
	for c := range b.chats {
		answers := got[fmt.Sprint("oc_c", c)]
		once := slices.Compact(slices.Sorted(slices.Values(answers)))
		b.f.Twice += len(answers) - len(once)
		b.f.Lost += b.each - len(once)
		if !slices.IsSortedFunc(answers, func(x, y string) int { m, _ := strconv.Atoi(x); n, _ := strconv.Atoi(y); return m - n }) {
			b.f.Disordered++
		}
	}
}

// memory reads the peak of the process that runs.
func (b *bench) memory() {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.process.Process.Pid))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			b.f.PeakMiB = max(b.f.PeakMiB, kib/1024)
		}
	}
}

// request is one to the webhook.
type request struct {
	body    []byte
	head    map[string]string
	genuine bool
}

// request is the i-th: one of five is genuine.
func (b *bench) request(i int) request {
	event := map[string]any{
		"sender":  map[string]any{"sender_id": map[string]any{"open_id": "ou_bench"}, "sender_type": "user"},
		"message": map[string]any{"message_id": fmt.Sprint("om_bench_", i), "chat_id": fmt.Sprint("oc_bench_", i%50), "chat_type": "p2p", "message_type": "text", "content": `{"text":"/help"}`},
	}
	body := b.feishu.Body(event)
	sealed, _ := json.Marshal(map[string]string{"encrypt": feishutest.Encrypt(key, body)})
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	head := map[string]string{"X-Lark-Request-Timestamp": stamp, "X-Lark-Request-Nonce": "n", "X-Lark-Signature": feishu.Sign(stamp, "n", key, sealed)}
	switch i % 5 {
	case 1: // forged: not encrypted, though the token is right
		return request{body: body}
	case 2: // replayed after a day
		old := strconv.FormatInt(time.Now().Add(-24*time.Hour).Unix(), 10)
		return request{body: sealed, head: map[string]string{"X-Lark-Request-Timestamp": old, "X-Lark-Request-Nonce": "n", "X-Lark-Signature": feishu.Sign(old, "n", key, sealed)}}
	case 3: // changed on the way, or signed with another key
		head["X-Lark-Signature"] = feishu.Sign(stamp, "n", "another key", sealed)
		return request{body: sealed, head: head}
	case 4: // oversized, or no JSON
		if i%2 == 0 {
			return request{body: bytes.Repeat([]byte("x"), 1<<20+1)}
		}
		return request{body: sealed[:len(sealed)/2], head: head}
	}
	return request{sealed, head, true}
}

// webhook makes requests at the rate and measures them.
func (b *bench) webhook() {
	n := b.rate * b.seconds
	times, genuine := make([]time.Duration, n), make([]bool, n)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var wait sync.WaitGroup
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(b.rate))))
		r := b.request(i)
		wait.Go(func() {
			start := time.Now()
			status := b.post(client, r)
			times[i], genuine[i] = time.Since(start), r.genuine
			if !r.genuine && status == http.StatusOK {
				b.count(&b.f.Passed)
			}
			if r.genuine && status == http.StatusOK {
				b.count(&b.f.Genuine)
			}
		})
	}
	wait.Wait()
	b.f.Requests, b.f.RatePerSecond = n, float64(n)/time.Since(begin).Seconds()
	var real []time.Duration
	for i, g := range genuine {
		if g {
			real = append(real, times[i])
		}
	}
	b.f.P50MS, b.f.P99MS, b.f.P99GenuineMS, b.f.WorstMS = quantile(times, 0.5), quantile(times, 0.99), quantile(real, 0.99), quantile(times, 1)
}

func (b *bench) post(client *http.Client, r request) int {
	req, err := http.NewRequest(http.MethodPost, b.hook, bytes.NewReader(r.body))
	if err != nil {
		return 0
	}
	for k, v := range r.head {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

func quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Microseconds()) / 1000
}
