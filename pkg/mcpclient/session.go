package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	maxPages = 200  // of one list of tools
	maxTools = 2000 // of one server
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
func (s *session) list(ctx context.Context) (all []definition, notes []string, err error) {
	if !s.tools {
		return nil, nil, nil
	}
	seen, cursor := map[string]bool{}, ""
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
			d, err := parseDefinition(one)
			if err != nil {
				notes = append(notes, fmt.Sprintf("a tool is left out: %v", err))
				continue
			}
			if !seen["tool "+d.Name] {
				seen["tool "+d.Name] = true
				all = append(all, d)
			}
		}
		switch cursor = got.Next; {
		case cursor == "":
			return all, notes, nil
		case seen["page "+cursor]:
			return all, append(notes, "its list of tools goes in circles; what came until then is used"), nil
		case page+1 >= maxPages || len(all) >= maxTools:
			return all[:min(len(all), maxTools)], append(notes, fmt.Sprintf("it has more tools than are read: %d", len(all))), nil
		}
		seen["page "+cursor] = true
	}
}
