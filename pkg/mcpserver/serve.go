package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// incoming is what came in one line or body: a message, or several in a batch.
type incoming struct {
	parts []part
	batch bool
}

// part is a message, or what is wrong with it.
type part struct {
	message
	fault *fault
}

// receive reads what came.
func receive(data []byte) incoming {
	raw, batch := split(bytes.TrimSpace(data))
	in := incoming{batch: batch}
	if batch && (len(raw) == 0 || len(raw) > maxBatch) {
		f := &fault{code: mcp.INVALID_REQUEST, text: fmt.Sprintf("invalid request: a batch has from 1 to %d messages", maxBatch)}
		return incoming{parts: []part{{fault: f}}}
	}
	for _, r := range raw {
		m, f := parse(r)
		in.parts = append(in.parts, part{m, f})
	}
	return in
}

// some reports whether there is a message for which is is true.
func (in incoming) some(is func(part) bool) bool {
	for _, p := range in.parts {
		if is(p) {
			return true
		}
	}
	return false
}

// wantsAnswer reports whether anything is to be answered.
func (p part) wantsAnswer() bool { return p.kind == request }

// slow reports whether the answer may take long, so that others must not wait for it.
func (p part) slow() bool {
	return p.fault == nil && p.wantsAnswer() && (p.method == string(mcp.MethodToolsCall) || p.method == string(mcp.MethodSubscriptionsListen))
}

func (p part) initializes() bool { return p.fault == nil && p.method == string(mcp.MethodInitialize) }

// serve does what a host asks for and returns the answer, or nil when there is none. Notifications about what
// is under way go to emit.
func (s *Server) serve(ctx context.Context, ses *session, in incoming, emit func([]byte)) []byte {
	answers := make([][]byte, len(in.parts))
	var wait sync.WaitGroup
	for i, p := range in.parts {
		switch {
		case !p.wantsAnswer():
			if p.kind == notification && p.fault == nil {
				ses.notified(p.message)
			}
		case p.fault != nil:
			answers[i] = p.fault.reply()
		case in.batch:
			wait.Go(func() { answers[i] = s.one(ctx, ses, p.message, emit) })
		default:
			answers[i] = s.one(ctx, ses, p.message, emit)
		}
	}
	wait.Wait()
	return join(answers, in.batch)
}

// one answers a request that can be canceled meanwhile.
func (s *Server) one(ctx context.Context, ses *session, m message, emit func([]byte)) []byte {
	ctx, done := ses.begin(ctx, m.id)
	defer done()
	return s.answer(ctx, ses, m, emit)
}

// join makes one answer of those there are.
func join(answers [][]byte, batch bool) []byte {
	var some [][]byte
	for _, a := range answers {
		if a != nil {
			some = append(some, a)
		}
	}
	switch {
	case len(some) == 0:
		return nil
	case !batch:
		return some[0]
	}
	return append(append([]byte("["), bytes.Join(some, []byte(","))...), ']')
}
