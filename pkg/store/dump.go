package store

import (
	"fmt"
	"io"

	"github.com/goccy/go-json"
)

// dumped is a record with its counters, as Dump writes it.
type dumped struct {
	Type string `json:"type"`
	Record
	Counters
}

// dumpedEvent is any other event; its payload has the key that it has in the
// journal.
type dumpedEvent struct {
	Type string `json:"type"`
	event
}

// Dump writes everything as JSON lines: each record as it is now with its
// counters (type "record"), then the other events in the order of the journal
// (type "analysis", "processed", "mark", "tool", "attempt").
func (s *Store) Dump(w io.Writer) error {
	write := func(v any) error {
		line, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	}
	for rec, err := range s.All(false) {
		if err != nil {
			return fmt.Errorf("dump: %w", err)
		}
		c, err := s.Counters(rec.SkillID)
		if err == nil {
			err = write(dumped{"record", rec, c})
		}
		if err != nil {
			return fmt.Errorf("dump: %w", err)
		}
	}
	var p position
	var failed error
	err := s.j.replay(&p, func(_ place, line []byte) {
		var e event
		if failed != nil || line == nil || decode(line, &e) != nil || e.Commit != nil {
			return
		}
		failed = write(dumpedEvent{e.Op, e})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}
