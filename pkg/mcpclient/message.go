package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// protocolVersion is the newest that begins with a handshake. Older servers answer with theirs; listing and calling
// tools is the same in all.
const protocolVersion = "2025-11-25"

// The methods that are used.
const (
	initialize  = "initialize"
	initialized = "notifications/initialized"
	cancelled   = "notifications/cancelled"
	listChanged = "notifications/tools/list_changed"
	listTools   = "tools/list"
	callTool    = "tools/call"
	ping        = "ping"
)

// noMethod is the JSON-RPC code for a method that is not known.
const noMethod = -32601

// errNotSent: the connection was over before a request went out, so nothing happened at the server.
var errNotSent = errors.New("the connection was over")

// LostError: a connection ended while a request waited for its answer.
type LostError struct{ Cause error }

func (e *LostError) Error() string { return e.Cause.Error() }
func (e *LostError) Unwrap() error { return e.Cause }

// RPCError is a server's refusal of a request.
type RPCError struct {
	Code    int
	Message string
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("the server refuses: %s (%d)", oneLine(e.Message, 500), e.Code)
}

type request struct {
	Version string `json:"jsonrpc"`
	ID      *int64 `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *errorObject    `json:"error,omitempty"`
}

type errorObject struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// message is what came from a server. Names count only as they are written, which Go's decoder into a struct would not
// care about.
type message struct {
	id     json.RawMessage // nil: none, or null
	method string
	result json.RawMessage
	err    *RPCError
}

func parseMessage(data []byte) (m message, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return m, err
	}
	if id := fields["id"]; len(id) > 0 && !bytes.Equal(id, []byte("null")) {
		m.id = id
	}
	if raw := fields["method"]; raw != nil {
		if err := json.Unmarshal(raw, &m.method); err != nil {
			return m, err
		}
	}
	m.result = fields["result"]
	if raw := fields["error"]; len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		m.err = parseError(raw)
	}
	return m, nil
}

// parseError reads an error as far as it can be read: whatever it looks like, the request failed.
func parseError(raw json.RawMessage) *RPCError {
	var e struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		e.Message = string(raw)
	}
	code, _ := e.Code.Int64()
	return &RPCError{Code: int(code), Message: e.Message}
}

// number is the id that we gave a request; 0 when it is none of ours. Some servers send it back as text.
func (m message) number() (n int64) {
	if json.Unmarshal(bytes.Trim(m.id, `"`), &n) != nil {
		return 0
	}
	return n
}

// definition is a tool as its server describes it.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema,omitempty"`
	Hints       struct {
		Title      string `json:"title,omitempty"`
		ReadOnly   bool   `json:"readOnlyHint,omitempty"`
		Idempotent bool   `json:"idempotentHint,omitempty"`
	} `json:"annotations,omitzero"`
}

// repeatable tells whether calling the tool twice is no worse than calling it once.
func (d definition) repeatable() bool { return d.Hints.ReadOnly || d.Hints.Idempotent }

// maxName bounds names of tools; the protocol says 128.
const maxName = 256

// parseDefinition reads one tool of a list. What is wrong with one tool is no reason to lose the others.
func parseDefinition(raw json.RawMessage) (d definition, err error) {
	if err := json.Unmarshal(raw, &d); err != nil {
		loose := definition{}
		_ = json.Unmarshal(raw, &struct {
			Name        *string          `json:"name"`
			Description *string          `json:"description"`
			Schema      *json.RawMessage `json:"inputSchema"`
		}{&loose.Name, &loose.Description, &loose.Schema}) // annotations and titles may be anything
		if d = loose; d.Name == "" {
			return d, err
		}
	}
	if d.Name == "" || len(d.Name) > maxName {
		return d, fmt.Errorf("a name of %d bytes", len(d.Name))
	}
	if d.Schema, err = rooted(d.Schema); err != nil {
		return d, fmt.Errorf("%s: %w", oneLine(d.Name, 80), err)
	}
	return d, nil
}

// maxSchema bounds the schema of one tool.
const maxSchema = 1 << 20

// rooted makes sure that a schema is one of an object, which all arguments are. A schema that leaves this out is
// completed.
func rooted(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("a schema of %d bytes", len(schema))
	}
	if len(schema) == 0 || string(schema) == "null" {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil {
		return nil, errors.New("its schema is no object")
	}
	switch t := strings.TrimSpace(string(fields["type"])); t {
	case `"object"`:
		return schema, nil
	case "", "null", `["object"]`, `["object","null"]`, `["object", "null"]`:
		fields["type"] = json.RawMessage(`"object"`)
		return json.Marshal(fields)
	default:
		return nil, fmt.Errorf("its schema is of type %.40s and not object", t)
	}
}

// oneLine makes one line of foreign text, at most about n bytes of it.
func oneLine(text string, n int) string {
	if len(text) > 8*n {
		text = text[:8*n]
	}
	text = visible(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}
