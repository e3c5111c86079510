package task

import (
	"context"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// Web is what tasks have of the web beside fetch_url, and who sees pictures.
type Web struct {
	Search      *tools.Search // nil: the web is not searched; its Ask is set by the task
	SearchModel string        // that searches, for the provider model
	Browser     string        // path of an installed Chromium; empty: there is no browser
	Sees        string        // whether the model is shown pictures: on, off, or else what is known of it
	Eyes        string        // the model that describes pictures to one that does not see; empty: nobody does
}

// web puts what a task has of the web into its tools, and finds out who sees.
func (r *run) web() error {
	w := r.s.Web
	r.env.Web = tools.Web{Search: w.Search, Browser: w.Browser}
	if w.Search != nil && w.Search.Provider == "model" {
		m, err := r.other(w.SearchModel)
		if err != nil {
			return fmt.Errorf("web search: %w", err)
		}
		s := *w.Search
		s.Ask = func(ctx context.Context, query string) (string, error) { return r.askFor(ctx, m, query) }
		r.env.Web.Search = &s
	}
	r.sees = w.Sees == "on" || w.Sees != "off" && llm.Sees(r.model.Name())
	if !r.sees && w.Eyes != "" && w.Sees != "off" {
		m, err := r.other(w.Eyes)
		if err != nil {
			return fmt.Errorf("the model for pictures: %w", err)
		}
		r.eyes = m
	}
	r.env.Vision = r.sees || r.eyes != nil
	return nil
}

// other opens a model beside that of the task.
func (r *run) other(name string) (llm.Model, error) { return r.s.Model(name, r.model.places.list) }

// searchPrompt is what a model is told that searches the web.
const searchPrompt = `Search the web for what the user asks and answer with what you find: facts, numbers, names and dates, each with the address of the page that says so. No introduction, no advice, at most 600 words. Say so when the pages disagree or when you find nothing.`

// askFor has a model search the web. What it takes is counted for the task.
func (r *run) askFor(ctx context.Context, m llm.Model, query string) (string, error) {
	began := time.Now()
	reply, err := m.Chat(ctx, llm.Request{Messages: []llm.Message{{Role: llm.System, Content: searchPrompt}, {Role: llm.User, Content: query}}})
	r.used(reply.Usage, 0, "web_search", time.Since(began))
	return reply.Message.Content, err
}
