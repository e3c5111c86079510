/*
Command openspace-mcp offers the suite to agents over the Model Context Protocol.

Usage:

	openspace-mcp [flags]
	openspace-mcp install|uninstall --host NAME [flags]
	openspace-mcp tools [flags]

A host (Claude Code, Codex, Cursor, …) starts it and gets four tools: execute_task does a whole task, search_skills finds skills,
fix_skill mends one, upload_skill publishes one. "openspace-mcp install --host NAME" sets a host up; docs/hosts.md tells how to do it by hand.

Each tool runs another command of the suite: openspace-execute, openspace-search, openspace-fix-skill and openspace-upload-skill, which are looked for beside this program and
then in $PATH. They get this program's environment. Nothing is started before a tool is called. docs/mcp.md has the tools, their arguments and results, and what becomes of calls that take long.

# Transports

With --transport stdio, one JSON message a line is read from stdin and written to stdout, and nothing else; it ends when stdin does. sse and streamable-http listen on --host and --port for
both HTTP transports: /mcp is streamable HTTP, /sse and /messages/ the older one, and /healthz says that the server lives. auto, the default, is the first that applies: OPENSPACE_MCP_TRANSPORT; sse when --port is
given; sse when stdin and stdout are a terminal; stdio.

Over HTTP the tools run commands on this machine for whoever may call. So it listens on 127.0.0.1 unless told otherwise; on any other address it wants a token (--auth-token-file), or --insecure. Requests
of web pages of other machines, or to a name of the server that it does not know, are refused.

# Environment

OPENSPACE_MCP_TRANSPORT, OPENSPACE_MCP_HOST and OPENSPACE_MCP_PORT are what --transport, --host and --port are without the flag. They are not taken from .env.

# Exit status

	0    the host has closed its end
	2    usage: a flag, argument or setting is wrong
	5    failed: the address is in use, or stdin cannot be read
	130  ended by an interrupt
	143  ended by a termination signal

# Examples

	openspace-mcp install --host claude-code
	openspace-mcp --transport streamable-http --port 8081
	openspace-mcp --transport sse --host 0.0.0.0 --auth-token-file ~/.config/openspace/mcp-token
	openspace-mcp --tools all
	openspace-mcp tools --json
*/
package main
