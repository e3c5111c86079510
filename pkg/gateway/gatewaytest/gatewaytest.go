// Package gatewaytest says what every chat channel must do: a suite of tests over a fake of its platform on
// loopback. The test of a channel is a call of Run.
package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// Patience is how long a test waits for what must happen. It is not how long tests take.
const Patience = time.Minute

// Saying is something that somebody writes on the fake platform. Me is their id.
type Saying struct {
	Chat    string
	Group   bool
	Me      string
	Text    string // without mentions
	Mention bool   // our account is mentioned before the text
	Others  bool   // somebody else, whose name is Robin, is mentioned before the text
	ReplyTo string
	File    *Upload
	Own     bool // our own account wrote it: an echo
	Kind    Kind // in place of a text
}

// Kind is a message that is neither a text nor a file.
type Kind string

// The kinds.
const (
	Place   Kind = "place"   // 48.137154, 11.576124, named Marienplatz
	Contact Kind = "contact" // Ann Lee, +491701234567
	Poll    Kind = "poll"    // Lunch? Pizza, Salad
	Sticker Kind = "sticker"
	Odd     Kind = "odd"     // something without a text that people have sent
	Service Kind = "service" // the platform says that somebody joined, a title was changed, or the like
)

// Upload is a file that somebody sends.
type Upload struct {
	Name, MIME string
	Data       []byte
}

// Shown is what the people of a chat see of us.
type Shown struct {
	Chat, ReplyTo, ID string
	Text              string // as the platform stores it, with its marks
	Mentions          []string
	Name              string // of a file
	Data              []byte
}

// Failure is a way in which the platform refuses to send.
type Failure int

// The failures.
const (
	Limited    Failure = iota // too many: again in a second
	Refused                   // never
	Broken                    // the server has a fault, nothing is shown
	Lost                      // it is shown, but the answer never arrives
	Stuck                     // no answer until the caller goes away
	KeyRefused                // our key is void for everything, until Fail is called again with 0
)

// Platform is a fake platform.
type Platform interface {
	// Say delivers a message to the channel and returns its id.
	Say(s Saying) (id string)
	// Again delivers a message once more, as a platform does that missed an acknowledgement.
	Again(id string)
	// Edit changes the text of a message that was said.
	Edit(id, text string)
	// Acknowledged reports whether the channel has taken the message over.
	Acknowledged(id string) bool
	// Shown lists what we have sent, in order.
	Shown() []Shown
	// Fail makes the next n tries to send fail.
	Fail(n int, how Failure)
	// Forget removes a message, so that nobody can answer it any more.
	Forget(id string)
	// Break cuts every connection to the channel, once.
	Break()
	// Signs counts the messages that carry a sign of our work at this moment, or how often we said that we
	// type.
	Signs() int
}

// Fixture is one channel with its platform.
type Fixture struct {
	Channel  gateway.Channel
	Platform Platform

	LongestSaying int    // how long a message may be there; 0: 100 KB
	Redelivers    bool   // what Take refused comes again by itself or by Again
	NoGroups      bool   // all chats are between two
	NoReplies     bool   // in a direct chat nothing shows which message is answered
	NoKey         bool   // there is no key that the platform could refuse while we are connected
	Kinds         []Kind // what can be said by Saying.Kind
}

// Run runs the suite. setup makes a fresh fixture that ends with the test.
func Run(t *testing.T, setup func(t *testing.T) Fixture) {
	for _, c := range slices.Concat(receiving(), sending()) {
		t.Run(c.name, func(t *testing.T) {
			f := setup(t)
			c.run(t, &running{Fixture: f, t: t})
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, r *running)
}

// running is a fixture whose channel may be running.
type running struct {
	Fixture
	t *testing.T

	mu     sync.Mutex
	taken  []gateway.Message
	refuse int // so many messages are not taken over
	states []bool
	stop   func()
}

// start runs the channel until stop, or the end of the test.
func (r *running) start() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- r.Channel.Run(ctx, gateway.Host{Take: r.take, State: r.state, Log: slog.New(slog.DiscardHandler)})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				r.t.Errorf("Run returned %v when it was to end", err)
			}
		case <-time.After(Patience):
			r.t.Error("Run has not ended")
		}
	})
	r.t.Cleanup(r.stop)
	r.until("the channel is up", func() bool { return len(r.states) > 0 && r.states[len(r.states)-1] })
}

func (r *running) take(_ context.Context, m gateway.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse > 0 {
		r.refuse--
		return context.DeadlineExceeded
	}
	if err := Sound(m); err != nil {
		r.t.Errorf("got %+v: %v", m, err)
	}
	r.taken = append(r.taken, m)
	return nil
}

// Sound says what is wrong with a message, whatever the platform sent.
func Sound(m gateway.Message) error {
	switch {
	case m.ID == "":
		return errors.New("it has no id")
	case m.Chat.ID == "":
		return errors.New("it has no chat")
	case m.Chat.Type != gateway.Direct && m.Chat.Type != gateway.Group:
		return fmt.Errorf("its chat is of the type %q", m.Chat.Type)
	case m.From.ID == "" || slices.Contains(m.From.Aliases, ""):
		return errors.New("who wrote it has no id, or an empty one")
	}
	for _, a := range m.Attachments {
		if a.Key == "" || a.Name == "" || !slices.Contains([]string{"image", "audio", "video", "file"}, a.Kind) {
			return fmt.Errorf("the attachment %+v cannot be fetched", a)
		}
	}
	return nil
}

func (r *running) state(up bool, _ string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states = append(r.states, up)
}

// until waits for a condition over taken and states.
func (r *running) until(what string, ok func() bool) {
	r.t.Helper()
	for start := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		r.mu.Lock()
		done := ok()
		r.mu.Unlock()
		if done {
			return
		}
		if time.Since(start) > Patience {
			r.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// next says something and returns it as it was taken. Platforms may deliver a message twice: it is the first with an id
// that was not there before.
func (r *running) next(s Saying) gateway.Message {
	r.t.Helper()
	n := r.count()
	r.Platform.Say(s)
	var got gateway.Message
	r.until("the message arrives", func() bool {
		for _, m := range r.taken[n:] {
			if !slices.ContainsFunc(r.taken[:n], func(old gateway.Message) bool { return old.ID == m.ID }) {
				got = m
				return true
			}
		}
		return false
	})
	return got
}

func (r *running) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.taken)
}

// soon is a context for one call.
func (r *running) soon() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	r.t.Cleanup(cancel)
	return ctx
}
