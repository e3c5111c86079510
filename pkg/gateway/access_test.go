package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/slack"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram"
)

// Nobody is let in by default; a name is no id; strangers leave nothing on the disk.
func TestAccess(t *testing.T) {
	f := newFixture(t)
	f.options.Channels[0].Access.AllowedUsers = []string{"ann", "+49170"}
	f.start()
	stranger := message("m1", "hi")
	stranger.From = gateway.Person{ID: "eve", Name: "ann"}
	f.say(stranger)
	nobody := message("m2", "hi")
	nobody.From = gateway.Person{}
	f.say(nobody)
	if _, err := os.Stat(filepath.Join(f.options.Config.DataDir, "sessions")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no folder of sessions", err)
	}
	alias := message("m3", "by alias") // CG-09
	alias.From = gateway.Person{ID: "lid:7", Aliases: []string{"+49170"}}
	f.say(alias)
	if got := f.shows(1); got[0] != "answer to by alias" {
		t.Errorf("got %q", got)
	}
}

// CG-05: in a group only what is meant for us is answered, unless the group is set otherwise.
func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name, policy, own  string
		mention, reply     bool
		dm, groups, direct bool
		want               bool
	}{
		{"plain", "reply_or_mention", "", false, false, true, true, false, false},
		{"mention", "reply_or_mention", "", true, false, true, true, false, true},
		{"reply", "reply_or_mention", "", false, true, true, true, false, true},
		{"reply, mentions only", "mention_only", "", false, true, true, true, false, false},
		{"mention, mentions only", "mention_only", "", true, false, true, true, false, true},
		{"all", "all", "", false, false, true, true, false, true},
		{"opened for this group", "mention_only", "all", false, false, true, true, false, true},
		{"closed for this group", "all", "disabled", true, false, true, true, false, false},
		{"disabled", "disabled", "", true, false, true, true, false, false},
		{"no groups", "all", "", true, false, true, false, false, false},
		{"direct", "disabled", "", false, false, true, false, true, true},
		{"no direct", "all", "", true, false, false, true, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			a := &f.options.Channels[0].Access
			a.GroupPolicy, a.AllowDM, a.AllowGroups = "all", true, true
			f.start()
			chat := gateway.Chat{ID: "g", Type: gateway.Group}
			if tt.direct {
				chat.Type = gateway.Direct
			}
			first := message("m0", "first")
			first.Chat, first.Mentioned = chat, true
			f.say(first)
			f.shows(1)
			f.until("it is in the transcript", func() bool { return len(f.transcript()) == 2 })
			f.stop()
			a.GroupPolicy, a.AllowDM, a.AllowGroups = tt.policy, tt.dm, tt.groups
			if tt.own != "" {
				a.Groups = map[string]string{"g": tt.own}
			}
			f.start() // B41: that the answer is ours is known after a restart
			m := message("m1", "second")
			m.Chat, m.Mentioned = chat, tt.mention
			if tt.reply {
				m.ReplyTo = "out-1"
			}
			f.say(m)
			if tt.want {
				f.shows(2)
			} else if time.Sleep(10 * time.Millisecond); len(f.ch.texts()) != 1 {
				t.Errorf("got %q", f.ch.texts())
			}
		})
	}
}

func TestPairing(t *testing.T) {
	f := newFixture(t)
	f.start()
	eve := func(id, text string) gateway.Message {
		m := message(id, text)
		m.From = gateway.Person{ID: "eve"}
		return m
	}
	code, _, err := gateway.NewPairingCode(f.options.Config.DataDir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.say(eve("m1", "/pair WRONG123"))
	f.say(eve("m2", "hello"))
	group := eve("m3", "/pair "+code)
	group.Chat.Type = gateway.Group
	f.say(group)
	f.say(eve("m4", "/pair "+strings.ToLower(code)))
	if got := f.shows(1); len(got) != 1 || !strings.Contains(got[0], "let in") {
		t.Fatalf("got %q", got)
	}
	f.say(eve("m5", "hello again"))
	if got := f.shows(2); got[1] != "answer to hello again" {
		t.Errorf("got %q", got)
	}
	f.say(eve("m5a", "/pair")) // without a code it is no task either
	mallory := eve("m6", "/pair "+code)
	mallory.From.ID = "mallory"
	f.say(mallory)
	mallory.ID, mallory.Text = "m7", "hello"
	f.say(mallory)
	if time.Sleep(10 * time.Millisecond); len(f.ch.texts()) != 2 {
		t.Errorf("a code was used twice: %q", f.ch.texts())
	}
	code, _, _ = gateway.NewPairingCode(f.options.Config.DataDir, time.Now())
	for i := range 10 {
		f.say(eve(fmt.Sprint("w", i), "/pair WRONG123"))
	}
	mallory.ID, mallory.Text = "m8", "/pair "+code
	f.say(mallory)
	mallory.ID, mallory.Text = "m9", "hello"
	f.say(mallory)
	if time.Sleep(10 * time.Millisecond); len(f.ch.texts()) != 2 {
		t.Errorf("a code lives on after ten wrong ones: %q", f.ch.texts())
	}
}

// Entries of allowed_users that can be nobody's are told of.
func TestDoubts(t *testing.T) {
	bot, err := telegram.New(telegram.Config{BotToken: "1:x", APIBase: "https://x"})
	if err != nil {
		t.Fatal(err)
	}
	app, err := slack.New(slack.Config{AppToken: "xapp-1-A1-1-x", BotToken: "xoxb-x", APIBase: "https://x"})
	if err != nil {
		t.Fatal(err)
	}
	lark, err := feishu.New(feishu.Config{AppID: "cli_1", AppSecret: "s", Domain: "lark"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ch  gateway.Channel
		id  string
		bad bool
	}{
		{bot, "12345678", false}, {bot, "@ann", true}, {bot, "ann@example.com", true}, {bot, "1234 5678", true}, {bot, "+4917", true}, {bot, "-100123", true}, {bot, "007", true},
		{app, "U012AB3CD", false}, {app, "W012AB3CD", false}, {app, "@ann", true}, {app, "ann", true}, {app, "C012AB3CD", true}, {app, "u012ab", true},
		{lark, "ou_1", false}, {lark, "on_1", false}, {lark, "3a5b", false}, {lark, "oc_1", true}, {lark, "ou_1 ou_2", true},
		{newChannel("x"), "anything", false}, {newChannel("x"), "two words", true},
	} {
		got := gateway.Joined{Channel: tt.ch, Access: gateway.Access{AllowedUsers: []string{tt.id}}}.Doubts()
		if (len(got) > 0) != tt.bad || tt.bad && !strings.Contains(got[0], "lets nobody in") {
			t.Errorf("%s %q: got %q, want a doubt: %v", tt.ch.Account(), tt.id, got, tt.bad)
		}
	}
}
