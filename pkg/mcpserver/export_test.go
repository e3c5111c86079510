package mcpserver

import "time"

// EndIdle ends the sessions that nobody has used since a time.
func (h *HTTP) EndIdle(since time.Time) { h.endIdle(since) }
