package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBadMessagesOfTheHandshakeVersionsKeepTheConnection: some clients take any
// status but 200 and 202 for the end of their connection.
func TestBadMessagesOfTheHandshakeVersionsKeepTheConnection(t *testing.T) {
	h := open(t)
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
		"no method":                       {`{"jsonrpc":"2.0","id":3}`, session, 200, `"code":-32600,"id":3`},
		"tools/list first":                {`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, nil, 200, `"code":-32600,"id":3`},
		"a call as a notification":        {`{"jsonrpc":"2.0","method":"tools/list"}`, session, 202, ""},
		"unknown notification":            {`{"jsonrpc":"2.0","method":"notifications/nope"}`, session, 202, ""},
		"unknown notification, first":     {`{"jsonrpc":"2.0","method":"notifications/nope","params":{}}`, nil, 202, ""},
		"a notification of a wrong shape": {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}`, session, 202, ""},
		"accepting JSON only":             {`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`, []string{"Accept", "", "Accept", "application/json"}, 400, `"code":-32600,"message":"Accept must`},
		"unknown version":                 {`{"jsonrpc":"2.0","id":3,"method":"ping"}`, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, `"code":-32600`},
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
	h := open(t)
	got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/call", `"name":["`+strings.Repeat("x", 9000)+`"]`), modernHeaders("tools/call", "echo")...)
	if got.status != 400 || !strings.Contains(got.body, `field \"name\" of the wrong type`) || len(got.body) > 600 {
		t.Errorf("got %d %.700s", got.status, got.body)
	}
}

func TestIDsComeBackAsTheyWereSent(t *testing.T) {
	h := open(t)
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

// FuzzMessage sends any body to the MCP endpoint: no answer is an error of the
// server, and every error is one of JSON-RPC.
func FuzzMessage(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
		modernBody("tools/list", ""), modernBody("tools/call", `"name":"echo","arguments":{"a":1}`), modernBody("subscriptions/listen", `"notifications":{}`),
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":{}}`, `[]`, `{"jsonrpc":"2.0","id":"a","method":"completion/complete","params":{"ref":{"type":"x"}}}`,
	} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	h := open(f)
	f.Fuzz(func(t *testing.T, body []byte, isModern bool) {
		if strings.Contains(string(body), "subscriptions") || strings.Contains(string(body), "wait") || strings.Contains(string(body), `\u`) {
			return // a subscription lasts until its client leaves, and wait until its test ends
		}
		var headers []string
		if isModern {
			var m struct {
				Method string
				Params struct{ Name string }
			}
			_ = json.Unmarshal(body, &m)
			if strings.ContainsFunc(m.Method+m.Params.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
				return // no value of a header
			}
			headers = modernHeaders(m.Method, m.Params.Name)
		}
		got := h.send(t, "POST", "/mcp", "alice", string(body), append(headers, "Content-Type", "", "Content-Type", "application/json")...)
		switch {
		case got.status >= 500 || got.status == 403:
			t.Fatalf("%q: got %d %s", body, got.status, got.body)
		case got.status == 202 && got.body != "", got.status != 202 && !json.Valid([]byte(got.body)):
			t.Fatalf("%q: got %d %q, want JSON", body, got.status, got.body)
		case strings.Contains(got.body, "Go struct") || strings.Contains(got.body, "unmarshal"):
			t.Fatalf("%q: got %d %s, which has names of the program", body, got.status, got.body)
		}
	})
}
