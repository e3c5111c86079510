package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	maxPages = 200  // of one list of tools
	maxTools = 2000 // of one server
	maxNotes = 5    // about single tools
)

// session is a connection on which the handshake is done.
type session struct {
	link
	tools bool // the server says that it has some
}

// shake does the handshake.
func shake(ctx context.Context, l link, version string) (*session, error) {
	raw, err := l.call(ctx, initialize, map[string]any{
		"protocolVersion": protocolVersion, "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "openspace", "version": version},
	})
	if err != nil {
		return nil, err
	}
	var got struct {
		Version      string                     `json:"protocolVersion"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, fmt.Errorf("read the answer to initialize: %w", err)
	}
	if got.Version != "" {
		l.speak(got.Version)
	}
	if err := l.notify(ctx, initialized, nil); err != nil {
		return nil, err
	}
	_, has := got.Capabilities["tools"]
	return &session{link: l, tools: has || len(got.Capabilities) == 0}, nil
}

// list asks for all tools. What cannot be used of them is named in the notes.
func (s *session) list(ctx context.Context) ([]definition, []string, error) {
	if !s.tools {
		return nil, nil, nil
	}
	seen, cursor := map[string]bool{}, ""
	tools := newCatalogue()
	for page := 0; ; page++ {
		var params struct {
			Cursor string `json:"cursor,omitempty"`
		}
		params.Cursor = cursor
		raw, err := s.call(ctx, listTools, params)
		if err != nil {
			return nil, nil, err
		}
		var got struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			return nil, nil, fmt.Errorf("read the list of tools: %w", err)
		}
		for _, one := range got.Tools {
			tools.take(one)
		}
		switch cursor = got.Next; {
		case cursor == "":
		case seen[cursor]:
			tools.note("its list of tools goes in circles; what came until then is used")
		case page+1 >= maxPages || len(tools.all) > maxTools:
			tools.more = true
		default:
			seen[cursor] = true
			continue
		}
		all, notes := tools.result()
		return all, notes, nil
	}
}

// catalogue is the list of a server's tools while it is read.
type catalogue struct {
	all   []definition
	names map[string]bool
	notes []string
	bad   int  // tools that cannot be used
	more  bool // there are more than were read
}

func newCatalogue() *catalogue { return &catalogue{names: map[string]bool{}} }

func (c *catalogue) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// take takes one tool, each name once.
func (c *catalogue) take(raw json.RawMessage) {
	d, err := parseDefinition(raw)
	switch {
	case err != nil:
		if c.bad++; c.bad <= maxNotes {
			c.note("a tool is left out: %v", err)
		}
	case !c.names[d.Name]:
		c.names[d.Name] = true
		c.all = append(c.all, d)
	}
}

// result is what is used of the list, and what is wrong with it.
func (c *catalogue) result() ([]definition, []string) {
	if c.bad > maxNotes {
		c.note("%d more tools are left out for such reasons", c.bad-maxNotes)
	}
	if len(c.all) > maxTools {
		c.all, c.more = c.all[:maxTools], true
	}
	if c.more {
		c.note("it has more tools than are read; the first %d are used", len(c.all))
	}
	return c.all, c.notes
}
