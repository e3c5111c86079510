package toolsearch_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/toolsearch"
)

// shop is tools as servers have them.
var shop = []toolsearch.Tool{
	{"github", "create_issue", "Create a new issue in a GitHub repository", []string{"owner", "repo", "title", "body"}},
	{"github", "list_pull_requests", "List pull requests of a repository", []string{"owner", "repo", "state"}},
	{"github", "get_file_contents", "Get the contents of a file or directory from a repository", []string{"owner", "repo", "path"}},
	{"filesystem", "read_text_file", "Read the complete contents of a file from the file system as text", []string{"path", "head", "tail"}},
	{"filesystem", "list_directory", "Get a listing of all files and directories in a path", []string{"path"}},
	{"filesystem", "moveFile", "Move or rename files and directories", []string{"source", "destination"}},
	{"memory", "create_entities", "Create multiple new entities in the knowledge graph", []string{"entities"}},
	{"memory", "search_nodes", "Search for nodes in the knowledge graph based on a query", []string{"query"}},
	{"postgres", "query", "Run a read-only SQL query", []string{"sql"}},
	{"slack", "post_message", "Post a new message to a channel", []string{"channel_id", "text"}},
	{"slack", "add_reaction", "Add an emoji reaction to a message", []string{"channel_id", "timestamp", "reaction"}},
	{"weather", "get_forecast", "Get the weather forecast for a place", []string{"latitude", "longitude"}},
	{"calendar", "create_event", "Schedule an appointment with participants", []string{"start", "end", "attendees"}},
	{"browser", "navigate", "Open a page at a URL", []string{"url"}},
	{"images", "resize", "Change the size of a picture", []string{"width", "height"}},
}

func index(t testing.TB, tools []toolsearch.Tool) *toolsearch.Index {
	t.Helper()
	e, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	x, err := toolsearch.New(t.Context(), tools, e)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestRank(t *testing.T) {
	x := index(t, shop)
	for text, want := range map[string]string{
		"file a bug report as an issue in the repo acme/shop":    "create_issue",
		"which pull requests are open?":                          "list_pull_requests",
		"rename the file a.txt to b.txt":                         "moveFile",
		"will it rain in Oslo tomorrow":                          "get_forecast",
		"set up a meeting with Anna on Friday":                   "create_event",
		"how many rows has the table users, ask the database":    "query",
		"tell the channel #ops that the deploy is done":          "post_message",
		"make the photo smaller":                                 "resize",
		"use the memory server to remember that Bob likes cats":  "create_entities",
		"look at https://example.com/prices with a browser page": "navigate",
	} {
		got, err := x.Rank(t.Context(), text, nil)
		if err != nil || len(got) != len(shop) {
			t.Fatalf("got %d, %v", len(got), err)
		}
		var first []string
		for _, r := range got[:3] {
			first = append(first, shop[r.Index].Name)
		}
		if !slices.Contains(first, want) {
			t.Errorf("%q: got %q, want %s among them", text, first, want)
		}
	}
}

// Without words in common and in other writing there is an order all the same, and no NaN.
func TestRankAnything(t *testing.T) {
	x := index(t, append(slices.Clone(shop), toolsearch.Tool{}, toolsearch.Tool{Server: "文件", Name: "读取", Description: "读取文件内容"}))
	for _, text := range []string{"", "…", "读取文件", strings.Repeat("word ", 100_000), "\xff\x00"} {
		got, err := x.Rank(t.Context(), text, nil)
		if err != nil || len(got) != len(shop)+2 {
			t.Fatalf("got %d, %v", len(got), err)
		}
		for _, r := range got {
			if math.IsNaN(r.Score) || r.Score < 0 {
				t.Fatalf("%.20q: got %+v", text, r)
			}
		}
		if text == "读取文件" && got[0].Index != len(shop)+1 {
			t.Errorf("got %+v first", got[0])
		}
	}
	words, err := toolsearch.New(t.Context(), shop, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := words.Rank(t.Context(), "create an issue", nil); err != nil || shop[got[0].Index].Name != "create_issue" {
		t.Errorf("got %+v, %v without vectors", got, err)
	}
	if none, err := toolsearch.New(t.Context(), nil, nil); err != nil {
		t.Error(err)
	} else if got, err := none.Rank(t.Context(), "x", nil); err != nil || len(got) != 0 || len(none.Choose(got, 5)) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A tool that keeps failing goes behind others that fit, and not behind those that do not.
func TestPenaltyMovesDown(t *testing.T) {
	x := index(t, shop)
	got, err := x.Rank(t.Context(), "post a message to slack", func(i int) float64 {
		if shop[i].Name == "post_message" {
			return toolsearch.Use{Calls: 10, Rate: 0, Failures: 10}.Penalty()
		}
		return 1
	})
	if err != nil || shop[got[0].Index].Name != "add_reaction" {
		t.Errorf("got %s first, %v", shop[got[0].Index].Name, err)
	}
}

func TestChoose(t *testing.T) {
	var many []toolsearch.Tool
	for i := range 40 {
		many = append(many, toolsearch.Tool{Server: "a", Name: fmt.Sprintf("send_mail_%d", i), Description: "send a mail to people"})
	}
	many = append(many, toolsearch.Tool{Server: "b", Name: "send", Description: "send mail"}, toolsearch.Tool{Server: "c", Name: "paint", Description: "colour a wall"})
	x := index(t, many)
	ranked, err := x.Rank(t.Context(), "send a mail", nil)
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]int{}
	for _, r := range x.Choose(ranked, 8) {
		servers[many[r.Index].Server]++
	}
	if servers["a"] != 7 || servers["b"] != 1 || len(servers) != 2 {
		t.Errorf("got %v", servers)
	}
	if n := len(x.Choose(ranked, 100)); n != 42 {
		t.Errorf("got %d", n)
	}
}

func TestPenalty(t *testing.T) {
	for _, c := range []struct {
		use  toolsearch.Use
		want float64
	}{
		{toolsearch.Use{}, 1}, {toolsearch.Use{Calls: 2, Rate: 0, Failures: 2}, 1}, {toolsearch.Use{Calls: 10, Rate: 0.4}, 1}, {toolsearch.Use{Calls: 10, Rate: 0.2}, 0.65},
		{toolsearch.Use{Calls: 10, Rate: 0.9, Failures: 3}, 0.9}, {toolsearch.Use{Calls: 10, Rate: 0.9, Failures: 9}, 0.7}, {toolsearch.Use{Calls: 10, Rate: 0, Failures: 10}, 0.2},
	} {
		if got := c.use.Penalty(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: got %v, want %v", c.use, got, c.want)
		}
	}
}

// thousand is tools of fifty servers.
func thousand() []toolsearch.Tool {
	verbs := strings.Fields("create list get update delete search send move copy merge close open sync export import rename tag archive restore watch")
	things := strings.Fields("issue file message event invoice user table picture page ticket")
	var all []toolsearch.Tool
	for i := range 1000 {
		verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		all = append(all, toolsearch.Tool{
			Server: fmt.Sprintf("server%d", i/20), Name: verb + "_" + thing, Arguments: []string{"id", "name", thing + "_id", "limit"},
			Description: fmt.Sprintf("This tool can %s one %s of the workspace number %d and returns what came of it as JSON, with its id, times and owner.", verb, thing, i/20),
		})
	}
	return all
}

func BenchmarkRank1000(b *testing.B) {
	x := index(b, thousand())
	for b.Loop() {
		ranked, err := x.Rank(context.Background(), "close the ticket about the broken invoice export and send a message to its owner with the picture attached", nil)
		if err != nil || len(x.Choose(ranked, 40)) != 40 {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew1000(b *testing.B) {
	all := thousand()
	for b.Loop() {
		index(b, all)
	}
}
