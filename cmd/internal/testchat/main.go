// Command testchat plays people and a chat platform, for scripts.
//
//	testchat --platform feishu|feishu-long|slack|telegram|whatsapp --script FILE --addr-file FILE [--gateway-addr FILE] [--encrypt-key KEY]
//
// It serves a fake of the platform on loopback and writes its address into the address file. Then it takes
// the steps of the script one after the other:
//
//	{"say": {"chat": "c1", "me": "ann", "text": "…", "file": "NAME", "content": "…", "group": true, "mention": true}}
//	{"again": true}                       deliver what was said last once more
//	{"key": "refused"}                    from now on the platform refuses the key, or with "good" takes it again
//	{"await": "FILE"}                     wait until there is such a file
//	{"tell": "FILE"}                      make such a file
//	{"forge": true}                       send to the webhook of feishu what it must refuse
//	{"expect": "REGEXP"}                  the next message of the bot
//	{"expect_file": "NAME", "content": "REGEXP"}
//
// In a text, $NAME stands for a variable. For the webhooks of feishu and whatsapp it needs the address of the gateway, from the file that --gateway-addr names.
// What the bot sends goes to stdout. The exit status is 1 when something else came than was expected, nothing
// came, or something came at the end that was not.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/slack/slacktest"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram/telegramtest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/whatsapptest"
)

const (
	patience = 60 * time.Second
	quiet    = 300 * time.Millisecond // in which nothing more may come
)

type step struct {
	Say *struct {
		Chat    string `json:"chat"`
		Me      string `json:"me"`
		Text    string `json:"text"`
		File    string `json:"file"`
		Content string `json:"content"`
		Group   bool   `json:"group"`
		Mention bool   `json:"mention"`
	} `json:"say"`
	Again      bool   `json:"again"`
	Key        string `json:"key"`
	Await      string `json:"await"`
	Tell       string `json:"tell"`
	Forge      bool   `json:"forge"`
	Expect     string `json:"expect"`
	ExpectFile string `json:"expect_file"`
	Content    string `json:"content"`
}

func main() {
	platform := flag.String("platform", "", "play `NAME`: feishu, feishu-long, slack, telegram or whatsapp")
	script := flag.String("script", "", "play the steps in `FILE`")
	addrFile := flag.String("addr-file", "", "write the address it listens on into `FILE`")
	gateway := flag.String("gateway-addr", "", "read the address of the gateway from `FILE`")
	key := flag.String("encrypt-key", "", "encrypt with `KEY`")
	flag.Parse()
	if err := play(*platform, *script, *addrFile, *gateway, *key); err != nil {
		fmt.Fprintln(os.Stderr, "testchat:", err)
		os.Exit(1)
	}
}

func play(platform, script, addrFile, gateway, key string) error {
	data, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	var steps []step
	if err := json.Unmarshal(data, &steps); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	p, addr, closer, err := open(platform, key, gateway != "")
	if err != nil {
		return err
	}
	defer closer()
	if err := atomicfile.Write(addrFile, []byte(addr+"\n"), 0o644, atomicfile.NoSync()); err != nil {
		return err
	}
	if gateway != "" {
		at, err := await(gateway)
		if err != nil {
			return err
		}
		switch p := p.(type) {
		case *feishutest.Server:
			p.Hook = "http://" + at + "/feishu/webhook"
		case *whatsapptest.Server:
			p.Hook = "http://" + at + "/whatsapp/webhook"
		}
	}
	return (&game{p: p, pushes: gateway != ""}).play(steps)
}

func open(platform, key string, hook bool) (gatewaytest.Platform, string, func(), error) {
	switch platform {
	case "feishu", "feishu-long":
		s := feishutest.New()
		s.EncryptKey = key
		return s, s.URL, s.Close, nil
	case "slack":
		s := slacktest.New()
		return s, s.URL, s.Close, nil
	case "telegram":
		s := telegramtest.New()
		return s, s.URL, s.Close, nil
	case "whatsapp":
		s := whatsapptest.New()
		return s, s.URL, s.Close, nil
	}
	return nil, "", nil, fmt.Errorf("no platform %q", platform)
}

// await waits for a file that is not empty, and returns what is in it.
func await(path string) (string, error) {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return strings.TrimSpace(string(data)), nil
		}
	}
	return "", fmt.Errorf("%s has not come", path)
}

type game struct {
	p      gatewaytest.Platform
	pushes bool   // what is not acknowledged is delivered again
	last   string // what was said last
	seen   int
}

func (g *game) play(steps []step) error {
	for i, s := range steps {
		if err := g.step(s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	time.Sleep(quiet)
	if shown := g.p.Shown(); len(shown) > g.seen {
		return fmt.Errorf("more came than was expected: %q", shown[g.seen].Text)
	}
	return nil
}

func (g *game) step(s step) error {
	switch {
	case s.Say != nil:
		say := gatewaytest.Saying{Chat: s.Say.Chat, Me: s.Say.Me, Text: os.ExpandEnv(s.Say.Text), Group: s.Say.Group, Mention: s.Say.Mention}
		if s.Say.File != "" {
			say.File = &gatewaytest.Upload{Name: s.Say.File, MIME: "text/plain", Data: []byte(s.Say.Content)}
		}
		g.last = g.p.Say(say)
		for start := time.Now(); g.pushes && !g.p.Acknowledged(g.last) && time.Since(start) < patience; {
			time.Sleep(50 * time.Millisecond) // a platform does so, with longer pauses
			g.p.Again(g.last)
		}
		return nil
	case s.Again:
		g.p.Again(g.last)
		return nil
	case s.Key != "":
		n := 0
		if s.Key == "refused" {
			n = 1
		}
		g.p.Fail(n, gatewaytest.KeyRefused)
		return nil
	case s.Await != "":
		_, err := await(s.Await)
		return err
	case s.Tell != "":
		return os.WriteFile(s.Tell, []byte("told\n"), 0o600)
	case s.Forge:
		return forge(g.p.(*feishutest.Server))
	}
	got, err := g.next()
	if err != nil {
		return err
	}
	if s.ExpectFile != "" {
		fmt.Printf("file %s: %s\n", got.Name, got.Data)
		if got.Name != s.ExpectFile || !regexp.MustCompile(s.Content).Match(got.Data) {
			return fmt.Errorf("got the file %q with %q, text %q", got.Name, got.Data, got.Text)
		}
		return nil
	}
	fmt.Println("text:", got.Text)
	if got.Name != "" || !regexp.MustCompile(s.Expect).MatchString(got.Text) {
		return fmt.Errorf("got %q, file %q, want %q", got.Text, got.Name, s.Expect)
	}
	return nil
}

func (g *game) next() (gatewaytest.Shown, error) {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(10 * time.Millisecond) {
		if shown := g.p.Shown(); len(shown) > g.seen {
			g.seen++
			return shown[g.seen-1], nil
		}
	}
	return gatewaytest.Shown{}, fmt.Errorf("nothing came")
}
