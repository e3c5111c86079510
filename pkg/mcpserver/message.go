package mcpserver

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is one JSON-RPC message of a host.
type message struct {
	kind   kind
	id     json.RawMessage // as the host wrote it; nil unless kind is request
	method string
	params map[string]json.RawMessage
}

// kind says what a message wants.
type kind int

const (
	request      kind = iota // an answer
	notification             // none
	response                 // none: it is one, and we ask hosts nothing
)

// fault is what is wrong with a message. It is answered under id, or under null when that is nil.
type fault struct {
	id   json.RawMessage
	code int
	text string
}

// The members that the protocol knows. Go's decoder also takes names that differ in upper and lower case;
// such a second name must not change what a message means (MC-19), so it is taken out.
var (
	envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramNames    = []string{
		"name", "arguments", "_meta", "task", "protocolVersion", "capabilities", "clientInfo", "level", "cursor", "requestId",
		"reason", "uri", "ref", "argument", "context", "notifications",
	}
	metaNames = []string{"progressToken"}
)

// members decodes an object and takes out the members whose names are almost known.
func members(data []byte, known []string) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil, false
	}
	for name := range m {
		if !slices.Contains(known, name) && slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			delete(m, name)
		}
	}
	return m, true
}

// parse reads one message.
func parse(data []byte) (message, *fault) {
	if !json.Valid(data) || !utf8.Valid(data) {
		return message{}, &fault{code: mcp.PARSE_ERROR, text: "parse error: the message is no valid JSON"}
	}
	m, ok := members(data, envelopeNames)
	if !ok || m == nil {
		return message{}, &fault{code: mcp.INVALID_REQUEST, text: "invalid request: want an object"}
	}
	id, hasID := m["id"]
	if hasID && !validID(id) {
		return message{}, &fault{code: mcp.INVALID_REQUEST, text: "invalid request: the id must be a string or a number"}
	}
	if _, hasMethod := m["method"]; !hasMethod {
		if m["result"] != nil || m["error"] != nil {
			return message{kind: response}, nil
		}
		return message{}, &fault{id, mcp.INVALID_REQUEST, "invalid request: the method is missing"}
	}
	msg := message{kind: request, id: id}
	if !hasID {
		msg.kind = notification
	}
	if json.Unmarshal(m["method"], &msg.method) != nil {
		return msg, &fault{id, mcp.INVALID_REQUEST, "invalid request: the method must be a string"}
	}
	var version string
	if json.Unmarshal(m["jsonrpc"], &version) != nil || version != mcp.JSONRPC_VERSION {
		return msg, &fault{id, mcp.INVALID_REQUEST, `invalid request: want "jsonrpc":"2.0"`}
	}
	return msg, msg.readParams(m["params"])
}

// readParams reads the params, which may be missing or null.
func (m *message) readParams(data json.RawMessage) *fault {
	if isNull(data) {
		return nil
	}
	var ok bool
	if m.params, ok = members(data, paramNames); !ok {
		return &fault{m.id, mcp.INVALID_PARAMS, "invalid params: want an object"}
	}
	if meta, found := m.params["_meta"]; found && !isNull(meta) {
		known, ok := members(meta, metaNames)
		if !ok {
			return &fault{m.id, mcp.INVALID_PARAMS, "invalid params: _meta must be an object"}
		}
		m.params["_meta"] = encode(known)
	}
	if v := m.params["protocolVersion"]; m.method == string(mcp.MethodInitialize) && !isNull(v) && v[0] != '"' {
		return &fault{m.id, mcp.INVALID_PARAMS, "invalid params: protocolVersion must be a string"}
	}
	if m.method == string(mcp.MethodToolsCall) {
		return m.readArguments()
	}
	return nil
}

// readArguments takes arguments that are missing or null as none, and those that a host sends as JSON in a
// string.
func (m *message) readArguments() *fault {
	args := m.params["arguments"]
	var text string
	if json.Unmarshal(args, &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
		args = json.RawMessage(text)
	}
	if isNull(args) || bytes.Equal(args, []byte(`""`)) {
		args = json.RawMessage("{}")
	}
	if args[0] != '{' {
		return &fault{m.id, mcp.INVALID_PARAMS, "invalid params: arguments must be an object"}
	}
	m.params["arguments"] = args
	return nil
}

// validID reports whether an id may be one.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

func isNull(data json.RawMessage) bool { return len(data) == 0 || string(data) == "null" }

// meta returns a member of the params' _meta as the host wrote it; nil: there is none.
func (m *message) meta(name string) json.RawMessage {
	known, _ := members(m.params["_meta"], metaNames)
	if v := known[name]; !isNull(v) {
		return v
	}
	return nil
}

// modern reports whether the message says of itself which version of the protocol it is written in, as hosts
// do since the version without a handshake.
func (m *message) modern() bool {
	var version string
	json.Unmarshal(m.meta(mcp.MetaKeyProtocolVersion), &version)
	return mcp.IsModernProtocol(version)
}

// forLibrary writes a request anew, with another id: the library would round a large one, and hosts may use
// the same.
func (m *message) forLibrary(id json.RawMessage) json.RawMessage {
	out := map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "method": encode(m.method), "id": id}
	if m.params != nil {
		out["params"] = encode(m.params)
	}
	return encode(out)
}

// encode returns a value as JSON, with <, > and & as they are. A value that has no JSON form is a fault of ours.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// reply is the answer to a request. The id is spliced in, so that it is the host's own to the byte.
func reply(id json.RawMessage, member string, value json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"`+member+`":`), value, []byte("}"))
}

// rpcError is the error member of an answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) reply() []byte {
	return reply(f.id, "error", encode(rpcError{Code: f.code, Message: f.text}))
}

// notify is a notification to the host.
func notify(method string, params any) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{mcp.JSONRPC_VERSION, method, params})
}

// split takes a batch apart. A message that is no batch is a batch of one.
func split(data []byte) (parts []json.RawMessage, batch bool) {
	if len(data) == 0 || data[0] != '[' {
		return []json.RawMessage{data}, false
	}
	if json.Unmarshal(data, &parts) != nil {
		return []json.RawMessage{data}, false // parse says what is wrong
	}
	return parts, true
}
