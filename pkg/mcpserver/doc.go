// Package mcpserver offers the suite to agents over the Model Context Protocol.
//
// It owns the tools that hosts see (names, arguments, schemas, results), the transports (stdio, streamable
// HTTP, SSE), and the life of a call: its progress, its end when the host cancels it or goes away, and its
// limits. It holds no search, no model and no store: every tool runs another command of the suite through
// package pipe and hands on what that says. It is the only package that imports the server of the MCP
// library, which knows the protocol's messages; lines, ids, sessions and streams are ours, because the
// library reads without a bound, rounds large ids and sends the notifications of one call to another.
//
// What it guarantees:
//
//   - nothing is started or read before a tool is called;
//   - whatever one message holds, the next one is answered; an id comes back byte for byte; a notification is never answered;
//   - a call that the host cancels, or whose connection ends, ends the processes that it started, and gets no answer;
//   - a tool that fails gives a result that says so, with a code and what to do; protocol errors are for faults of the protocol.
//
// A Server is safe for concurrent use. docs/mcp.md describes all of it for people.
package mcpserver
