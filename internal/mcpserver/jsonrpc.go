package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// message is the frame of a JSON-RPC message. The SDK answers an invalid
// frame with a plain 400 or with the names of its own types; here it gets a JSON-RPC
// error, after which a client can go on.
type message struct {
	id     json.RawMessage // nil: a notification
	method string          // empty: a response
	params json.RawMessage
}

// refuse is the JSON-RPC error of a message that is not passed on.
func refuse(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fault.Clip(fmt.Sprintf(format, args...), fault.MaxMessage)}
}

// maxID bounds the id of a message, in bytes of JSON.
const maxID = 256

// readMessage reads the frame of a body that is strict JSON.
func readMessage(body []byte) (m message, err error) {
	if bytes.HasPrefix(body, []byte("[")) {
		return m, refuse(jsonrpc.CodeInvalidRequest, "Batches are not supported. Send one message per request.")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return m, refuse(jsonrpc.CodeInvalidRequest, "A message is a JSON object.")
	}
	id, given := fields["id"]
	if given && !bytes.ContainsAny(id[:1], `"-0123456789`) {
		return m, refuse(jsonrpc.CodeInvalidRequest, "The id of a request is a string or a number.")
	}
	if len(id) > maxID { // each answer repeats it
		return m, refuse(jsonrpc.CodeInvalidRequest, "The id of a request is too long.")
	}
	if m.id, m.params = id, fields["params"]; string(m.params) == "null" { // as if it had none
		m.params = nil
	}
	if !isError(fields["error"]) {
		return m, refuse(jsonrpc.CodeInvalidRequest, "The error of a response is an object with a code, which is a whole number, and a message.")
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return m, refuse(jsonrpc.CodeInvalidRequest, `A message has "jsonrpc": "2.0".`)
	}
	method, given := fields["method"]
	_, result := fields["result"]
	_, failed := fields["error"]
	switch response := !given && (result || failed); {
	case response && m.id == nil:
		return m, refuse(jsonrpc.CodeInvalidRequest, "A response has the id of its request.")
	case response:
		return m, nil
	}
	if json.Unmarshal(method, &m.method) != nil || m.method == "" {
		return m, refuse(jsonrpc.CodeInvalidRequest, "The method of a message is a string.")
	}
	return m, nil
}

// isError reports whether the error of a message, if it has one, is what the SDK can read.
func isError(raw json.RawMessage) bool {
	var members map[string]json.RawMessage // by their exact names
	if raw == nil {
		return true
	}
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	var code int64
	var message string
	return (members["code"] == nil || json.Unmarshal(members["code"], &code) == nil) &&
		(members["message"] == nil || json.Unmarshal(members["message"], &message) == nil)
}

// params are the types that the SDK reads a method's params into; true means
// that they may be missing.
var params = map[string]struct {
	of       func() any
	optional bool
}{
	"initialize":               {of: func() any { return new(mcp.InitializeParams) }},
	"ping":                     {of: func() any { return new(mcp.PingParams) }, optional: true},
	"server/discover":          {of: func() any { return new(mcp.DiscoverParams) }, optional: true},
	"tools/list":               {of: func() any { return new(mcp.ListToolsParams) }, optional: true},
	"tools/call":               {of: func() any { return new(mcp.CallToolParamsRaw) }},
	"prompts/list":             {of: func() any { return new(mcp.ListPromptsParams) }, optional: true},
	"prompts/get":              {of: func() any { return new(mcp.GetPromptParams) }},
	"resources/list":           {of: func() any { return new(mcp.ListResourcesParams) }, optional: true},
	"resources/templates/list": {of: func() any { return new(mcp.ListResourceTemplatesParams) }, optional: true},
	"resources/read":           {of: func() any { return new(mcp.ReadResourceParams) }},
	"resources/subscribe":      {of: func() any { return new(mcp.SubscribeParams) }},
	"resources/unsubscribe":    {of: func() any { return new(mcp.UnsubscribeParams) }},
	"subscriptions/listen":     {of: func() any { return new(mcp.SubscriptionsListenParams) }},
	"completion/complete":      {of: func() any { return new(mcp.CompleteParams) }},
	"logging/setLevel": {of: func() any {
		return new(struct {
			Level string `json:"level"`
		})
	}},
	"notifications/initialized":        {of: func() any { return new(mcp.InitializedParams) }, optional: true},
	"notifications/cancelled":          {of: func() any { return new(mcp.CancelledParams) }, optional: true},
	"notifications/progress":           {of: func() any { return new(mcp.ProgressNotificationParams) }},
	"notifications/roots/list_changed": {of: func() any { return new(mcp.InitializedParams) }, optional: true},
}

func (m message) notification() bool { return m.id == nil }

// known reports whether the method exists, as a request or as a notification.
func (m message) known() bool {
	_, known := params[m.method]
	return known && m.notification() == strings.HasPrefix(m.method, "notifications/")
}

func (m message) unknown() *jsonrpc.Error {
	return refuse(jsonrpc.CodeMethodNotFound, "There is no method %q.", fault.Clip(m.method, 80))
}

// checkParams refuses params that the SDK could not read, by their JSON names.
func (m message) checkParams() error {
	declared, known := params[m.method]
	switch {
	case !known:
		return nil
	case len(m.params) == 0 && declared.optional:
		return nil
	case len(m.params) == 0 || m.params[0] != '{':
		return refuse(jsonrpc.CodeInvalidParams, "%s needs params, which are an object.", m.method)
	}
	err := json.Unmarshal(m.params, declared.of())
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return refuse(jsonrpc.CodeInvalidParams, "The params of %s have a field %q of the wrong type.", m.method, fault.Clip(wrong.Field, 80))
	}
	return refuse(jsonrpc.CodeInvalidParams, "The params of %s do not have their shape.", m.method)
}

// needsModern reports whether a method is of the modern version alone.
func (m message) needsModern() bool {
	return m.method == "server/discover" || m.method == "subscriptions/listen"
}

// The refusals of messages out of their order, over HTTP and stdio.
const (
	initializeFirst   = "Send initialize first"
	initializedBefore = "This session has been initialized before."
)

// needsSession reports whether a message of a handshake version may come only after
// initialize.
func (m message) needsSession() bool {
	return m.method != "" && !m.notification() && m.method != "initialize" && m.method != "ping"
}

// rejectMessage answers a message with a JSON-RPC error.
func rejectMessage(w http.ResponseWriter, status int, id json.RawMessage, why *jsonrpc.Error) error {
	return httpx.JSON(w, status, errorMessage(id, why))
}

// errorMessage is the JSON-RPC error of a message; its id is null when it has none.
func errorMessage(id json.RawMessage, why *jsonrpc.Error) map[string]any {
	if id == nil {
		id = json.RawMessage("null")
	}
	return map[string]any{"jsonrpc": "2.0", "id": id, "error": why}
}

// plainNumber matches the numbers that the SDK carries as they are. It cuts off the
// fraction of others, and the sign of zero.
var plainNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`)

// substitute begins the text that the SDK gets in place of an id which it would change.
const substitute = "countersign/number:"

// frame is how an answer of the SDK begins, and substituted with a substitute as its id.
const (
	frame       = `{"jsonrpc":"2.0","id":`
	substituted = frame + `"` + substitute
)

// substituteID puts a text in place of an id that the SDK would change, and reports
// whether there is one. The id is put back into the answer by restoreID.
func substituteID(m message, body []byte) (_ []byte, changed bool, err error) {
	if m.method == "notifications/cancelled" {
		params, err := withText(m.params, "requestId")
		if err == nil && params != nil {
			body, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "method": m.method, "params": params})
		}
		return body, false, err
	}
	if m.notification() {
		return body, false, nil
	}
	fields, err := withText(body, "id")
	if err == nil && fields != nil {
		body, err = json.Marshal(fields)
	}
	return body, fields != nil, err
}

// withText returns the fields of an object with a text in place of an id that the SDK
// would change; nil when there is none. Texts that begin as ours do are replaced, too, so
// that each means one id.
func withText(object json.RawMessage, name string) (fields map[string]json.RawMessage, err error) {
	if len(object) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	id := fields[name]
	if len(id) == 0 || !bytes.ContainsAny(id[:1], `"-0123456789`) || isPlain(id) {
		return nil, nil
	}
	fields[name], err = json.Marshal(substitute + string(id))
	return fields, err
}

// isPlain reports whether the SDK carries an id as it is.
func isPlain(id json.RawMessage) bool {
	if id[0] != '"' {
		return plainNumber.Match(id)
	}
	var text string
	return json.Unmarshal(id, &text) == nil && !strings.HasPrefix(text, substitute)
}

// restoreID puts the id back in place of which an answer of the SDK has a text.
func restoreID(answer []byte) []byte {
	before, rest, found := bytes.Cut(answer, []byte(substituted))
	if !found || len(before) > 0 && !bytes.HasSuffix(before, []byte("data: ")) { // of an event
		return answer
	}
	id := textEnd.Find(rest)
	var text string
	if json.Unmarshal(slices.Concat([]byte(`"`), id), &text) != nil {
		return answer
	}
	return slices.Concat(before, []byte(frame), []byte(text), rest[len(id):])
}

// textEnd matches a JSON string after its beginning.
var textEnd = regexp.MustCompile(`^([^"\\]|\\.)*"`)

// idWriter restores the id of a response. The SDK writes each message whole.
type idWriter struct{ http.ResponseWriter }

// Write writes a message with its own id.
func (i idWriter) Write(b []byte) (int, error) {
	if _, err := i.ResponseWriter.Write(restoreID(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection.
func (i idWriter) Unwrap() http.ResponseWriter { return i.ResponseWriter }
