package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// Limits of a server. What is over one is refused with a result that says so.
const (
	maxCalls    = 256 // tools/call at once, of all hosts together
	maxBatch    = 100 // messages in a batch
	closingTime = 8 * time.Second
)

// Options say how a server works.
type Options struct {
	Version string   // told to hosts
	Tools   []string // names of the tools that are offered; empty: DefaultTools
	Tasks   int      // tasks at once; 0: 16

	// Beat is how often a host that wants to hear of progress hears something; 0: 4 s, as some give up after
	// a silence of 10 s.
	Beat time.Duration

	// Find returns the path of a command of the suite.
	Find    func(name string) (string, error)
	Dir     string   // working directory of what is started
	Environ []string // its environment

	Log func(format string, args ...any) // lines for people; nil: none
}

// Server is what hosts talk to, over any number of connections.
type Server struct {
	o     Options
	lib   *server.MCPServer
	ids   atomic.Uint64 // of requests, as the library sees them
	slots chan struct{}
	runs  *runner
	find  *searchers
	tasks *tasks

	ctx  context.Context // of everything that is started
	stop context.CancelFunc
	work sync.WaitGroup // children and background tasks
}

// New returns a server. It starts nothing.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	o.Tasks, o.Beat = cmp.Or(o.Tasks, 16), cmp.Or(o.Beat, 4*time.Second)
	s := &Server{o: o, slots: make(chan struct{}, maxCalls)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.runs = &runner{s}
	s.find, s.tasks = newSearchers(s.runs), newTasks(s.runs, o.Tasks)
	s.lib = server.NewMCPServer("OpenSpace", o.Version,
		server.WithTitle("OpenSpace"), server.WithInstructions(instructions), server.WithToolCapabilities(false), server.WithLogging())
	offered, err := s.offered(o.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range offered {
		s.lib.AddTool(t.definition(), s.handler(t))
	}
	return s, nil
}

// DefaultTools are the tools that a server offers unless told otherwise. Some hosts allow four.
func DefaultTools() []string {
	return []string{"execute_task", "search_skills", "fix_skill", "upload_skill"}
}

// AllTools are the names of all tools.
func AllTools() []string { return append(DefaultTools(), "task_status", "task_result") }

// offered returns the tools of these names; "all" stands for every one.
func (s *Server) offered(names []string) ([]tool, error) {
	if len(names) == 0 {
		names = DefaultTools()
	}
	if slices.Contains(names, "all") {
		names = AllTools()
	}
	known := s.catalogue(slices.Contains(names, "task_result"))
	var res []tool
	for _, name := range names {
		t, ok := known[name]
		if !ok {
			return nil, wire.Errorf(wire.Usage, "there is no tool %q", name).
				WithHint("the tools are %s, or all of them: all", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		res = append(res, t)
	}
	return res, nil
}

// Close ends every process that the server started, and waits for that.
func (s *Server) Close() error {
	s.stop()
	done := make(chan struct{})
	go func() {
		for _, p := range s.find.pools {
			p.close()
		}
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closingTime):
		return fmt.Errorf("stop: commands of the suite did not end within %s", closingTime)
	}
}

// answer runs one request and returns what goes back to the host, or nil when nothing may. Notifications
// about the request go to emit while it runs.
func (s *Server) answer(ctx context.Context, ses *session, m message, emit func([]byte)) (line []byte) {
	c := &call{session: ses, token: m.meta("progressToken"), emit: emit}
	defer func() {
		c.answered()
		if v := recover(); v != nil {
			s.o.Log("internal fault in %s: %v", m.method, v)
			line = (&fault{m.id, mcp.INTERNAL_ERROR, "internal fault"}).reply()
		}
	}()
	ctx = s.lib.WithContext(context.WithValue(ctx, callKey{}, c), ses)
	id := json.RawMessage(strconv.FormatUint(s.ids.Add(1), 10))
	if m.method == string(mcp.MethodSubscriptionsListen) {
		id = m.id // it stands in what the library says
		defer ses.forward(emit)()
	}
	res := s.lib.HandleMessage(ctx, m.forLibrary(id))
	if ctx.Err() != nil {
		return nil // the host has taken it back, or is gone
	}
	switch r := res.(type) {
	case mcp.JSONRPCResponse:
		return reply(m.id, "result", encode(r.Result))
	case mcp.JSONRPCError:
		return reply(m.id, "error", encode(r.Error))
	}
	return (&fault{m.id, mcp.INTERNAL_ERROR, fmt.Sprintf("no answer to %s", m.method)}).reply()
}
