package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func TestContentTexts(t *testing.T) {
	for got, want := range map[string]string{
		gateway.PlaceText(48.1371544, -11.5):              "Location: 48.137154, -11.500000",
		gateway.PlaceText(1, 2, "", "a\nb", "c"):          "Location: 1.000000, 2.000000 (a b, c)",
		gateway.ContactText("Ann", "+49 1", "", "+49 2"):  "Contact: Ann, +49 1, +49 2",
		gateway.ContactText(" "):                          "",
		gateway.PollText("Lunch?", []string{"a\nb", "c"}): "Poll: Lunch?\n- a b\n- c",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \n\t\u00a0": true, "\u200b\ufeff\u2060": true, "\u0301\ufe0f": true, "a": false, "?": false, "中": false, "👍🏽": false, "1": false} {
		if gateway.Blank(text) != want {
			t.Errorf("%q: got %v, want %v", text, !want, want)
		}
	}
}

// What has nothing to read never becomes a task: a direct chat is told so once, a group is not.
func TestNothingToRead(t *testing.T) {
	f := newFixture(t)
	f.options.Channels[0].Access.GroupPolicy = "all"
	release := make(chan struct{})
	f.runner.do = func(_ context.Context, t wire.Task) (wire.Result, error) {
		<-release
		return wire.Result{Status: "success", Response: "did " + t.Task}, nil
	}
	f.start()
	for i, text := range []string{"", " \n", "\u200b", "\ufe0f"} {
		m := message("m"+string(rune('0'+i)), text)
		f.say(m)
		m.Chat.Type, m.Chat.ID = gateway.Group, "g"
		f.say(m)
	}
	if got := f.shows(1); len(got) != 1 || !strings.Contains(got[0], "text and files only") {
		t.Errorf("got %q, want one notice", got)
	}
	f.say(message("n1", "first"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	f.say(message("n2", "second"))
	edit := message("n2", "\u200b")
	edit.Edited = true
	f.say(edit)
	close(release)
	if got := f.shows(3); !slices.Equal(got[1:], []string{"did first", "did second"}) {
		t.Errorf("got %q", got)
	}
}
