package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Nothing that was worked on is lost because the platform refuses the key: it is sent, in order, when there is a good
// one, in this process or the next.
func TestKeyRefused(t *testing.T) {
	for _, restart := range []bool{false, true} {
		f := newFixture(t)
		var tries atomic.Int64
		refuse := func(gateway.Out) error { tries.Add(1); return gateway.Fatal("the token is wrong") }
		f.ch.fails(refuse)
		f.start()
		f.say(message("m1", "one"))
		f.say(message("m2", "two"))
		f.until("two tries", func() bool { return tries.Load() >= 2 })
		if restart {
			f.stop()
			f.ch.fails(nil)
			f.start()
		} else {
			f.ch.fails(nil)
		}
		if got := f.shows(2); !slices.Equal(got, []string{"answer to one", "answer to two"}) || len(f.runner.ran()) != 2 {
			t.Errorf("restart %v: got %q and %d runs", restart, got, len(f.runner.ran()))
		}
	}
}

// A file that cannot be fetched because the key is refused is waited for, and the task with it.
func TestKeyRefusedForFile(t *testing.T) {
	f := newFixture(t)
	f.ch.data["k"] = "content"
	tries := 0
	f.ch.fetch = func() error {
		if tries++; tries < 6 {
			return gateway.Fatal("the token is wrong")
		}
		return nil
	}
	f.start()
	m := message("m1", "")
	m.Attachments = []gateway.Attachment{{Kind: "file", Key: "k", Name: "a.txt"}}
	f.say(m)
	f.shows(1)
	if got := f.runner.ran(); len(got) != 1 || len(got[0].Channel.Attachments) != 1 || strings.Contains(got[0].Task, "could not be fetched") {
		t.Errorf("got %+v, want one task with its file", got)
	}
}

// only makes the sending of one text fail.
func only(text string, err error) func(gateway.Out) error {
	return func(out gateway.Out) error {
		if out.Text == text {
			return err
		}
		return nil
	}
}

// An answer that cannot be sent blocks its chat no longer than people want it to: /status tells of it and gets through,
// /stop drops it, and it does not come back.
func TestUnsentAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"key":   {gateway.Fatal("the token sec-ret is wrong"), "does not accept my key"},
		"later": {gateway.Later(time.Hour, errors.New("too many")), "so many messages only"},
		"fault": {errors.New("http://inside:80/sec-ret is down"), "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.ch.limits.Text = 1000
			f.ch.fails(only("answer to one", tt.err))
			f.start()
			f.say(message("m1", "one"))
			f.say(message("m2", "two"))
			f.until("it is tried", func() bool {
				h := f.health()
				return h.Unsent == 1 && h.Running == 0 && h.Waiting == 1
			})
			f.say(message("m3", "/status"))
			got := f.shows(1)[0]
			for _, want := range []string{"Nothing is running", "wait here: 1", "The answer to “one” cannot be sent, for ", tt.want} {
				if !strings.Contains(got, want) {
					t.Errorf("got status %q without %q", got, want)
				}
			}
			if strings.Contains(got, "sec-ret") || strings.Contains(got, "inside") {
				t.Errorf("got status %q, which tells of the inside", got)
			}
			f.say(message("m4", "/stop"))
			if got := f.shows(2)[1]; !strings.Contains(got, "waited and are dropped: 1") || !strings.Contains(got, "not sent yet and are dropped: 1") {
				t.Errorf("got %q", got)
			}
			f.until("nothing is unsent", func() bool { return f.health().Unsent == 0 })
			f.say(message("m5", "three"))
			f.shows(3)
			f.until("the transcript", func() bool { return len(f.transcript()) == 4 })
			f.stop()
			f.ch.fails(nil)
			f.start()
			f.say(message("m6", "four"))
			if got := f.shows(4); !slices.Equal(got[2:], []string{"answer to three", "answer to four"}) {
				t.Errorf("got %q: what was dropped came back", got)
			}
			if h := f.runner.ran()[2].History; len(h) != 3 || h[2].Content != "answer to three" {
				t.Errorf("got history %+v, want none of the answer that nobody saw", h)
			}
		})
	}
}

// Who writes where an answer is stuck is told why there is silence, now and then.
func TestToldOfUnsentAnswer(t *testing.T) {
	f := newFixture(t)
	f.ch.limits.Text = 1000
	var ahead atomic.Int64
	f.options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	f.ch.fails(only("answer to one", errors.New("down")))
	f.start()
	f.say(message("m1", "one"))
	f.until("it is tried", func() bool { return f.health().Unsent == 1 })
	f.say(message("m2", "two"))
	ahead.Store(int64(5 * time.Minute))
	f.say(message("m3", "three"))
	f.say(message("m4", "four"))
	if got := f.shows(1); len(got) != 1 || !strings.Contains(got[0], "Your message waits") || !strings.Contains(got[0], "“one” cannot be sent, for 5m") {
		t.Errorf("got %q, want one notice", got)
	}
	f.ch.fails(nil)
	if got := f.shows(5); !slices.Equal(got[1:], []string{"answer to one", "answer to two", "answer to three", "answer to four"}) {
		t.Errorf("got %q", got)
	}
}

// A notice that cannot be sent is dropped by /stop, one that is being sent is not; the answer to /stop itself comes.
func TestUnsentNotice(t *testing.T) {
	f := newFixture(t)
	f.ch.limits.Text = 1000
	help := false
	f.ch.fails(func(out gateway.Out) error {
		if strings.Contains(out.Text, "/files NAME") && !help {
			return errors.New("down")
		}
		return nil
	})
	f.start()
	f.say(message("m1", "/help"))
	f.until("it is tried", func() bool { return f.health().Unsent == 1 })
	f.say(message("m2", "/stop"))
	if got := f.shows(1); !strings.Contains(got[0], "dropped: 1") {
		t.Errorf("got %q", got)
	}
	f.say(message("m3", "/stop"))
	if got := f.shows(2); got[1] != "Nothing is running here." {
		t.Errorf("got %q", got)
	}
}

// The rest of an answer that is sent in parts is dropped, too.
func TestStopBetweenParts(t *testing.T) {
	f := newFixture(t)
	f.ch.limits.Pause = time.Hour
	f.runner.do = func(context.Context, wire.Task) (wire.Result, error) {
		return wire.Result{Status: "success", Response: strings.Repeat("word ", 100)}, nil
	}
	f.start()
	f.say(message("m1", "go"))
	f.shows(1)
	f.say(message("m2", "/stop"))
	if got := f.shows(2); !strings.Contains(got[1], "dropped: 1") {
		t.Errorf("got %q", got)
	}
	f.until("it is closed", func() bool { return len(f.transcript()) == 2 })
	if l := f.transcript()[1]; l["unsent"] != nil {
		t.Errorf("got line %v: a part of it was seen", l)
	}
}

// An answer is tried to be sent for a day, and at least for a while after each start.
func TestGivesUpSending(t *testing.T) {
	f := newFixture(t)
	var ahead atomic.Int64
	f.options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	var tries atomic.Int64
	f.ch.fails(func(out gateway.Out) error {
		if out.Text == "answer to one" {
			tries.Add(1)
			return gateway.Fatal("the token is wrong")
		}
		return nil
	})
	f.start()
	f.say(message("m1", "one"))
	f.until("it is tried", func() bool { return tries.Load() > 0 })
	f.stop()
	ahead.Store(int64(25 * time.Hour))
	n := tries.Load()
	f.start()
	f.until("it is tried after the start", func() bool { return tries.Load() > n+1 })
	ahead.Store(int64(26 * time.Hour))
	f.until("it is given up", func() bool { return len(f.transcript()) == 2 })
	if l := f.transcript()[1]; l["unsent"] != true {
		t.Errorf("got line %v, want one that nobody saw", l)
	}
}
