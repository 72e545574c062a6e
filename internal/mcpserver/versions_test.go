package mcpserver_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// declaring is a message whose metadata declares a version, as JSON; without one: none.
func declaring(version, method, params string) string {
	if version == "" {
		return strings.Replace(modernBody(method, params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, "", 1)
	}
	return strings.Replace(modernBody(method, params), `"2026-07-28"`, version, 1)
}

// TestAMessageIsModernIfItSaysSo: by its version in header and metadata, and by nothing else.
// Any other message needs the handshake of its version, and passes the checks of that.
func TestAMessageIsModernIfItSaysSo(t *testing.T) {
	h := open(t, withSDK)
	mine, other := h.handshake(t, "alice"), h.handshake(t, "bob")
	ended := h.handshake(t, "alice")
	h.send(t, "DELETE", "/mcp", "alice", "", "Mcp-Session-Id", ended)
	for name, c := range map[string]struct {
		version, declared string // in the header; in the metadata, as JSON
		headers           []string
		status            int
		want              string
	}{
		"modern":                          {modern, `"2026-07-28"`, nil, 200, `"resultType":"complete"`},
		"modern, with a session":          {modern, `"2026-07-28"`, []string{"Mcp-Session-Id", "made-up"}, 200, `"resultType":"complete"`},
		"a header alone":                  {modern, "", nil, 400, `"code":-32602`},
		"metadata alone":                  {"", `"2026-07-28"`, nil, 400, `"code":-32020`},
		"an older header":                 {legacy, `"2026-07-28"`, nil, 400, `"code":-32020`},
		"older metadata":                  {modern, `"2025-11-25"`, nil, 400, `"code":-32020`},
		"empty metadata":                  {modern, `""`, nil, 400, `"code":-32020`},
		"a number as metadata":            {modern, `5`, nil, 400, `"code":-32602`},
		"null":                            {modern, `null`, nil, 400, `"code":-32602`},
		"a number alone":                  {"", `5`, nil, 400, `"code":-32602`},
		"no such version":                 {"2099-01-01", `"2099-01-01"`, nil, 400, `"code":-32022,"supported":["2026-07-28","requested":"2099-01-01"`},
		"no such old version":             {"1999-01-01", `"1999-01-01"`, nil, 400, `"code":-32022,"supported":["2026-07-28"`},
		"no such version in the header":   {"2099-01-01", "", nil, 400, `"code":-32022`},
		"no such version in the metadata": {"", `"2099-01-01"`, nil, 400, `"code":-32020`},
		"nothing but a method":            {"", "", nil, 400, "Send initialize first"},
		"an older version":                {legacy, "", nil, 400, "Send initialize first"},
		"the oldest version":              {"2024-11-05", "", nil, 400, "Send initialize first"},
		"an older version in both":        {legacy, `"2025-11-25"`, nil, 400, "Send initialize first"},
		"older metadata alone":            {"", `"2025-11-25"`, nil, 400, "Send initialize first"},
		"an unknown session":              {legacy, "", []string{"Mcp-Session-Id", "made-up"}, 404, "There is no such session"},
		"a session that has ended":        {legacy, "", []string{"Mcp-Session-Id", ended}, 404, "There is no such session"},
		"a session of another person":     {legacy, "", []string{"Mcp-Session-Id", other}, 404, "There is no such session"},
		"a session":                       {legacy, "", []string{"Mcp-Session-Id", mine}, 200, `"tools":[`},
		"a session, declared":             {legacy, `"2025-11-25"`, []string{"Mcp-Session-Id", mine}, 200, `"tools":[`},
		"a session, declared alone":       {"", `"2025-11-25"`, []string{"Mcp-Session-Id", mine}, 200, `"tools":[`},
		"a session, declared otherwise":   {legacy, `"2025-06-18"`, []string{"Mcp-Session-Id", mine}, 400, `"code":-32020`},
	} {
		headers := append([]string{"Mcp-Method", "tools/list"}, c.headers...)
		if c.version != "" {
			headers = append(headers, "Mcp-Protocol-Version", c.version)
		}
		got := h.send(t, "POST", "/mcp", "alice", declaring(c.declared, "tools/list", ""), headers...)
		if got.status != c.status || !holds(got.body, c.want) || !strings.Contains(got.body, `"id":7`) {
			t.Errorf("%s: got %d %.300s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

// TestADeclaredVersionDoesNotChangeACall in a session: it is answered as without it.
func TestADeclaredVersionDoesNotChangeACall(t *testing.T) {
	h := open(t, withSDK)
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	got := h.send(t, "POST", "/mcp", "alice", declaring(`"2025-11-25"`, "tools/call", `"name":"echo","arguments":{"note":"<b>","n":1.50}`), session...)
	if got.status != 200 || !strings.Contains(got.body, `{"note":"<b>","n":1.50}`) || strings.Contains(got.body, "resultType") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestAHeaderDoesNotMakeAMessageModern: a call whose headers name another one is not run, in
// no version, and no request is a stream by a header.
func TestAHeaderDoesNotMakeAMessageModern(t *testing.T) {
	h := open(t, withSDK)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
	for _, method := range []string{"tools/list", "tools/call", "subscriptions/listen", "x"} {
		got := h.send(t, "POST", "/mcp", "alice", call, "Mcp-Method", method, "Mcp-Name", "get_pay")
		if got.status != 400 || !strings.Contains(got.body, "Send initialize first") {
			t.Errorf("%s: got %d %s", method, got.status, got.body)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if got := h.send(t, method, "/mcp", "alice", "", "Mcp-Method", "x", "Mcp-Session-Id", "made-up"); got.status != 404 {
			t.Errorf("%s: got %d %s, want 404", method, got.status, got.body)
		}
		if got := h.send(t, method, "/mcp", "alice", "", "Mcp-Protocol-Version", "2099-01-01", "Mcp-Session-Id", h.handshake(t, "alice")); got.status != 400 || !strings.Contains(got.body, "-32022") {
			t.Errorf("%s of no such version: got %d %s, want -32022", method, got.status, got.body)
		}
		if got := h.send(t, method, "/mcp", "alice", "", "Mcp-Protocol-Version", modern); got.status != 405 {
			t.Errorf("%s of the modern version: got %d %s, want 405", method, got.status, got.body)
		}
	}
}

// TestMethodsOfTheModernVersionAreUnknownInSessions, which neither subscribe nor discover.
func TestMethodsOfTheModernVersionAreUnknownInSessions(t *testing.T) {
	h := open(t, withSDK)
	session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
	for _, method := range []string{"server/discover", "subscriptions/listen"} {
		for name, headers := range map[string][]string{"in a session": session, "first": {}} {
			got := h.send(t, "POST", "/mcp", "alice", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"notifications":{}}}`, method), headers...)
			if got.status != 200 || !strings.Contains(got.body, `"code":-32601`) {
				t.Errorf("%s %s: got %d %s, want no such method", method, name, got.status, got.body)
			}
		}
	}
}

// TestEncodedNamesAreDecoded before they are compared with the message.
func TestEncodedNamesAreDecoded(t *testing.T) {
	h := open(t, withNotes, withSDK)
	encoded := func(name string) string {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
	}
	for _, text := range []string{"zäh.go", "plain", "a \u2028 b", "=?base64?YQ==?="} {
		decoded := strings.ReplaceAll(text, `\u2028`, "\u2028")
		got := h.send(t, "POST", "/mcp", "alice", modernBody("resources/read", `"uri":"note://echo/`+text+`"`), modernHeaders("resources/read", encoded("note://echo/"+decoded))...)
		if got.status != 200 || !strings.Contains(got.body, `"contents":[`) {
			t.Errorf("%s: got %d %s", text, got.status, got.body)
		}
	}
	if got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/call", `"name":"who_am_i"`), modernHeaders("tools/call", encoded("who_am_i"))...); got.status != 200 || !strings.Contains(got.body, `"username":"alice"`) {
		t.Errorf("a tool: got %d %s", got.status, got.body)
	}
	for name, header := range map[string]string{
		"another name": encoded("note://echo/other"), "no padding": "=?base64?YQ?=", "no alphabet": "=?base64?*?=", "bytes that are none": "=?base64?/w==?=",
	} {
		uri := header // so that it equals the message if it is not decoded
		if name == "another name" {
			uri = "note://echo/a"
		}
		got := h.send(t, "POST", "/mcp", "alice", modernBody("resources/read", `"uri":"`+uri+`"`), modernHeaders("resources/read", header)...)
		if wrong := strings.Contains(got.body, "not encoded as it says"); got.status != 400 || !strings.Contains(got.body, `"code":-32020`) || wrong != strings.HasPrefix(name, "no ") {
			t.Errorf("%s: got %d %s, want HeaderMismatch", name, got.status, got.body)
		}
	}
}
