package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"countersign.dev/internal/mcpserver"
)

// TestNullParamsAreNone: some clients write null for what a method does not need.
func TestNullParamsAreNone(t *testing.T) {
	h := open(t, withSDK)
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	const list = `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":null}`
	if got := h.send(t, "POST", "/mcp", "alice", list, session...); got.status != 200 || !strings.Contains(got.body, `"tools":[`) {
		t.Errorf("got %d %s, want the list", got.status, got.body)
	}
	initialized(t, newFakeService()).sends(list, `"tools":[`)
}

// TestBadMessagesOfTheHandshakeVersionsKeepTheConnection: some clients take any
// status but 200 and 202 for the end of their connection. Without a session there is none.
func TestBadMessagesOfTheHandshakeVersionsKeepTheConnection(t *testing.T) {
	h := open(t, withSDK)
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string // of the answer; "" means no body
	}{
		"unknown method":        {`{"jsonrpc":"2.0","id":3,"method":"tools/nope"}`, session, 200, `"code":-32601,"id":3`},
		"unknown method, first": {`{"jsonrpc":"2.0","id":3,"method":"tools/nope"}`, nil, 200, `"code":-32601,"id":3`},
		"missing params":        {`{"jsonrpc":"2.0","id":"a","method":"tools/call"}`, session, 200, `"code":-32602,"id":"a"`},
		"null params":           {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":null}`, session, 200, `"code":-32602,"id":3`},
		"params of a wrong type": {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}`, session, 200,
			`"code":-32602,"id":3`},
		"null id":                         {`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, session, 200, `"code":-32600,"id":null`},
		"an id of a wrong type":           {`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, session, 200, `"code":-32600,"id":null`},
		"an id that is too long":          {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"tools/list"}`, session, 200, `"code":-32600,"id":null`},
		"another version":                 {`{"jsonrpc":"1.0","id":3,"method":"tools/list"}`, session, 200, `"code":-32600,"id":3`},
		"an error that is none":           {`{"jsonrpc":"2.0","id":7,"error":5}`, session, 200, `"code":-32600,"id":7,The error of a response`},
		"an error with a text as code":    {`{"jsonrpc":"2.0","id":7,"error":{"code":"x"}}`, session, 200, `"code":-32600,"id":7`},
		"a response without an id":        {`{"jsonrpc":"2.0","result":{}}`, session, 200, `"code":-32600,"id":null`},
		"no method":                       {`{"jsonrpc":"2.0","id":3}`, session, 200, `"code":-32600,"id":3`},
		"initialize again":                {`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, session, 200, `"code":-32600,"id":3`},
		"initialize in no session":        {`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, []string{"Mcp-Session-Id", "NONE", "Mcp-Protocol-Version", legacy}, 404, `"code":-32600,"id":3`},
		"no such session":                 {`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, []string{"Mcp-Session-Id", "NONE", "Mcp-Protocol-Version", legacy}, 404, `"code":-32600,"id":3`},
		"tools/list first":                {`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, nil, 400, `"code":-32600,"id":3`},
		"a call as a notification":        {`{"jsonrpc":"2.0","method":"tools/list"}`, session, 202, ""},
		"unknown notification":            {`{"jsonrpc":"2.0","method":"notifications/nope"}`, session, 202, ""},
		"unknown notification, first":     {`{"jsonrpc":"2.0","method":"notifications/nope","params":{}}`, nil, 202, ""},
		"a notification of a wrong shape": {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}`, session, 202, ""},
		"accepting JSON only":             {`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`, []string{"Accept", "", "Accept", "application/json"}, 400, `"code":-32600,"message":"Accept must`},
		"unknown version":                 {`{"jsonrpc":"2.0","id":3,"method":"ping"}`, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, `"code":-32022`},
	} {
		got := h.send(t, "POST", "/mcp", "alice", c.body, c.headers...)
		if got.status != c.status || (c.want == "") != (got.body == "") || !holds(got.body, c.want) {
			t.Errorf("%s: got %d %s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
		if c.want != "" && got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %s", name, got.header.Get("Content-Type"))
		}
		for _, internal := range []string{"Params", "mcp.", "json:", "unmarshal"} {
			if strings.Contains(got.body, internal) {
				t.Errorf("%s: got %s, which has a name of the program", name, got.body)
			}
		}
	}
	if got := h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, session...); !strings.Contains(got.body, `"tools":[`) {
		t.Errorf("afterwards: got %d %s, want the session alive", got.status, got.body)
	}
}

// holds reports whether an answer has each member of want.
func holds(body, want string) bool {
	for part := range strings.SplitSeq(want, ",") {
		if !strings.Contains(body, part) {
			return false
		}
	}
	return true
}

func TestParamsOfAWrongTypeAreNamedAsTheyWereSent(t *testing.T) {
	h := open(t, withSDK)
	got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/call", `"name":["`+strings.Repeat("x", 9000)+`"]`), modernHeaders("tools/call", "echo")...)
	if got.status != 400 || !strings.Contains(got.body, `field \"name\" of the wrong type`) || len(got.body) > 600 {
		t.Errorf("got %d %.700s", got.status, got.body)
	}
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	for method, field := range map[string]string{
		"initialize": "protocolVersion", "tools/list": "cursor", "tools/call": "name",
	} {
		got := h.send(t, "POST", "/mcp", "alice", fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{%q:7}}`, method, field), session...)
		if got.status != 200 || !strings.Contains(got.body, `field \"`+field+`\" of the wrong type`) {
			t.Errorf("%s: got %d %s, want the field %s", method, got.status, got.body, field)
		}
	}
}

// TestUndeclaredFeaturesAreUnknownMethods: a client that asks for what initialize did not
// declare learns so, in each version and over stdio, and gets no answer as if it were there.
func TestUndeclaredFeaturesAreUnknownMethods(t *testing.T) {
	nothing := map[string]string{
		"tools/nope": "", "logging/setLevel": `"level":"info"`, "completion/complete": `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}`, "prompts/list": "", "prompts/get": `"name":"x"`,
		"resources/list": "", "resources/templates/list": "", "resources/read": `"uri":"notes://1"`, "resources/subscribe": `"uri":"notes://1"`, "resources/unsubscribe": `"uri":"notes://1"`,
	}
	withResources := map[string]string{"logging/setLevel": `"level":"info"`, "prompts/list": "", "resources/subscribe": `"uri":"notes://1"`, "resources/unsubscribe": `"uri":"notes://1"`}
	for h, undeclared := range map[*harness]map[string]string{open(t, withSDK): nothing, open(t, withSDK, withNotes): withResources} {
		session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
		for method, params := range undeclared {
			for version, got := range map[string]reply{
				modern: h.send(t, "POST", "/mcp", "alice", modernBody(method, params), modernHeaders(method, "")...),
				legacy: h.send(t, "POST", "/mcp", "alice", fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{%s}}`, method, params), session...),
			} {
				if status := map[string]int{modern: 404, legacy: 200}[version]; got.status != status || !strings.Contains(got.body, `"code":-32601`) || !strings.Contains(got.body, "There is no method") {
					t.Errorf("%s, %s: got %d %s, want %d and -32601", version, method, got.status, got.body, status)
				}
			}
		}
	}
}

func TestIDsComeBackAsTheyWereSent(t *testing.T) {
	h := open(t, withSDK)
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	for _, id := range []string{"1.5", "1e2", "-0.25", "12345678901234567890", "7", `"seven"`, `"countersign/number:1.5"`, "0"} {
		for version, got := range map[string]reply{
			modern: h.send(t, "POST", "/mcp", "alice", strings.Replace(modernBody("tools/call", `"name":"who_am_i"`), `"id":7`, `"id":`+id, 1), modernHeaders("tools/call", "who_am_i")...),
			legacy: h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}`, session...),
		} {
			var answer struct {
				ID     json.RawMessage
				Result json.RawMessage
			}
			if err := json.Unmarshal([]byte(got.body), &answer); err != nil || string(answer.ID) != id || answer.Result == nil {
				t.Errorf("%s, id %s: got %d %.200s (%v)", version, id, got.status, got.body, err)
			}
		}
	}
}

// frame is what a body is by JSON-RPC 2.0 and MCP, read by the standard library's tokens
// and nothing of ours.
type frame struct {
	code         int             // of the error that it must get, 0: none by its frame
	id           json.RawMessage // that each answer has; null without a valid one
	method, tool string
	response     bool
}

func frameOf(body []byte) (f frame) {
	f.id = json.RawMessage("null")
	if !json.Valid(body) || !utf8.Valid(body) || readTwoWays(body) {
		f.code = -32700
		return f
	}
	var fields map[string]json.RawMessage // names in their exact case
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		f.code = -32600 // a batch, or no object
		return f
	}
	var id any
	if raw, given := fields["id"]; given {
		_ = json.Unmarshal(raw, &id)
		_, text := id.(string)
		_, number := id.(float64)
		if !text && !number || len(raw) > 256 {
			f.code = -32600
			return f
		}
		f.id = raw
	}
	_, result := fields["result"]
	_, failed := fields["error"]
	method, given := fields["method"]
	f.response = !given && (result || failed)
	if !readable(fields["error"]) || f.response && string(f.id) == "null" {
		f.code = -32600
		return f
	}
	var version, name any
	_ = json.Unmarshal(fields["jsonrpc"], &version)
	_ = json.Unmarshal(method, &name)
	f.method, _ = name.(string)
	if version != "2.0" || !f.response && f.method == "" {
		f.code = -32600
	}
	var params map[string]json.RawMessage
	_ = json.Unmarshal(fields["params"], &params)
	_ = json.Unmarshal(params["name"], &f.tool)
	return f
}

// readable reports whether an error, if there is one, has members of the types that
// JSON-RPC gives them.
func readable(failed json.RawMessage) bool {
	if failed == nil || string(failed) == "null" {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(failed, &members) != nil {
		return false
	}
	code, message := string(members["code"]), string(members["message"])
	if _, err := strconv.ParseInt(code, 10, 64); err != nil && code != "" && code != "null" {
		return false
	}
	return message == "" || message == "null" || message[0] == '"'
}

// readTwoWays reports whether an object of valid JSON repeats a name, however it is
// escaped, or is nested deeper than any message of ours.
func readTwoWays(body []byte) bool {
	type level struct {
		names map[string]bool // nil: an array
		name  bool            // the next token is one
	}
	var open []level
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		top := len(open) - 1
		if name, ok := token.(string); ok && top >= 0 && open[top].name {
			if open[top].names[name] {
				return true
			}
			open[top].names[name], open[top].name = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
		if top = len(open) - 1; token != json.Delim('{') && token != json.Delim('[') && top >= 0 {
			open[top].name = open[top].names != nil
		}
		if len(open) > 64 {
			return true
		}
	}
}

// FuzzMessage sends any body to the MCP endpoint: no answer is an error of the server,
// every error is one of JSON-RPC, and has the code and the id that the frame of the message
// asks for.
func FuzzMessage(f *testing.F) {
	for _, body := range frames() {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	h := open(f, withSDK)
	f.Fuzz(func(t *testing.T, body []byte, isModern bool) {
		want := frameOf(body)
		if want.method == "subscriptions/listen" || want.tool == "wait" {
			return // a subscription lasts until its client leaves, and wait until its test ends
		}
		var headers []string
		if isModern {
			if strings.ContainsFunc(want.method+want.tool, func(r rune) bool { return r < ' ' || r > '~' }) {
				return // no value of a header
			}
			headers = modernHeaders(want.method, want.tool)
		}
		got := h.send(t, "POST", "/mcp", "alice", string(body), append(headers, "Content-Type", "", "Content-Type", "application/json")...)
		switch {
		case got.status >= 500 || got.status == 403:
			t.Fatalf("%q: got %d %s", body, got.status, got.body)
		case got.status == 202 && got.body != "", got.status != 202 && !json.Valid([]byte(got.body)):
			t.Fatalf("%q: got %d %q, want JSON", body, got.status, got.body)
		case strings.Contains(got.body, "Go struct") || strings.Contains(got.body, "unmarshal") || strings.Contains(got.body, "jsonrpc2"):
			t.Fatalf("%q: got %d %s, which has names of the program", body, got.status, got.body)
		}
		if wrong := want.check(got); wrong != "" {
			t.Fatalf("%q: got %d %s, want %s", body, got.status, got.body, wrong)
		}
	})
}

// check says what is wrong with an answer to the frame.
func (f frame) check(got reply) string {
	if got.status == 202 {
		if f.code != 0 || string(f.id) != "null" && !f.response {
			return "an answer"
		}
		return ""
	}
	var answer struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	if json.Unmarshal([]byte(got.body), &answer) != nil || (answer.Result == nil) == (answer.Error == nil) {
		return "a result or an error"
	}
	switch {
	case answer.Error != nil && answer.Error.Code == -32700 && f.code != -32700:
		if strings.Contains(got.body, "number") || strings.Contains(got.body, "members") || strings.Contains(got.body, "not valid JSON") {
			return "" // the bounds of package strictjson, and halves of surrogate pairs
		}
		return "it to be read"
	case f.code != 0 && (answer.Error == nil || answer.Error.Code != f.code):
		return fmt.Sprint("the error ", f.code)
	case string(answer.ID) != string(f.id) && (!f.response || answer.Result != nil):
		return "the id " + string(f.id)
	}
	return ""
}

// frames are bodies of many kinds, to begin with.
func frames() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
		modernBody("tools/list", ""), modernBody("tools/call", `"name":"echo","arguments":{"a":1}`), modernBody("subscriptions/listen", `"notifications":{}`),
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":{}}`, `{"jsonrpc":"2.0","id":7,"error":5}`, `{"jsonrpc":"2.0","id":7,"error":{"code":"x","message":null}}`, `{"jsonrpc":"2.0","id":7,"method":"ping","error":{"message":1}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"x","data":[1]}}`, `{"jsonrpc":"2.0","error":{}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":1e2}}`, `{"jsonrpc":"2.0","id":7,"error":null}`, `[]`, `{"jsonrpc":"2.0","id":"a","method":"completion/complete","params":{"ref":{"type":"x"}}}`,
		`{"jsonrpc":"2.0","id":-0.25e1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","\u0069d":"b","method":"ping"}`, `{"jsonrpc":"2.0","Id":"a","METHOD":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}{}`, `{"jsonrpc":2.0,"id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"ping","params":{"a":[[{}]]}}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 254) + `","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"ping","params":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping","params":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	}
}

// FuzzFrame is the first step of FuzzMessage without a connection, thousands of times as
// often: the frame that is read is the one that the standard library's tokens have.
func FuzzFrame(f *testing.F) {
	for _, body := range frames() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want := frameOf(body)
		code, id, method := mcpserver.ReadFrame(body)
		if code == -32700 && want.code != -32700 && (bytes.ContainsAny(body, "0123456789") || bytes.Contains(body, []byte(`\u`)) || len(body) > 1000) {
			return // the bounds of package strictjson, and halves of surrogate pairs
		}
		if id == nil {
			id = json.RawMessage("null")
		}
		if code != int64(want.code) || code == 0 && (string(id) != string(want.id) || method != want.method && !want.response) {
			t.Errorf("%q: got error %d, id %s, method %q; want %d, %s, %q", body, code, id, method, want.code, want.id, want.method)
		}
	})
}
