package mcpserver

import _ "embed"

// instructions tell a host's model what the server is for.
//
//go:embed instructions.md
var instructions string
