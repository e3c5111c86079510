// Package mcpclient makes tools of a user's MCP servers.
//
// It owns the connections to servers (children over pipes, addresses over HTTP), when they are started, ended and
// started again, the cache of what tools they have, the names under which models see these, the schemas that models are
// shown, and what becomes of results. Which servers there are, and which of their tools a model is shown, is decided
// elsewhere.
//
// # What it guarantees
//
// Whatever a server does, a call ends when its context or its limit of time does, and so does a listing. A server that
// does not start, crashes, hangs or talks nonsense takes nothing from the others: it is named in a warning. A call is
// repeated after a crash only when it was never sent, or when the tool says that repeating it does no harm. What is kept
// of a server's output is bounded: messages, stderr, pages, tools, pictures. Close ends all children with what they
// started.
//
// A Pool is shared by the tasks of a process and safe for concurrent use. Nothing is started before a tool of the server
// is called, or its tools are asked for and the cache does not know them.
package mcpclient
