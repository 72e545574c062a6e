package mcpserver_test

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/mcpserver"
)

func TestInputComesWrappedOrBare(t *testing.T) {
	h := open(t)
	for _, c := range []struct{ name, body, want string }{
		{"wrapped", `{"input":{"employee_id":"e"}}`, `{"employee_id":"e"}`},
		{"wrapped with context", `{"input":{"note":"n"},"userContext":{"userId":"anything","username":"alice","roles":["executive"]}}`, `{"note":"n"}`},
		{"bare", `{"employee_id":"e"}`, `{"employee_id":"e"}`},
		{"bare with context", `{"employee_id":"e","userContext":{"email":"ALICE@example.COM"}}`, `{"employee_id":"e"}`},
		{"context alone", `{"userContext":{"username":"alice"}}`, `{}`},
		{"null context", `{"note":"n","userContext":null}`, `{"note":"n"}`},
		{"camelCase", `{"input":{"employeeId":"e","note":"n"}}`, `{"employee_id":"e","note":"n"}`},
		{"both spellings", `{"employeeId":"a","employee_id":"b"}`, `{"employeeId":"a","employee_id":"b"}`},
		{"unknown camelCase", `{"deskId":"a"}`, `{"deskId":"a"}`},
		{"only the top level", `{"note":{"employeeId":"e"}}`, `{"note":{"employeeId":"e"}}`},
		{"input beside others", `{"input":{},"note":"n"}`, `{"input":{},"note":"n"}`},
		{"input that is no object", `{"input":"x"}`, `{"input":"x"}`},
	} {
		got := h.send(t, "POST", "/tools/echo", "alice", c.body)
		if e := got.envelope(t); got.status != 200 || string(e.Data) != c.want {
			t.Errorf("%s: got %d %s, want %s", c.name, got.status, got.body, c.want)
		}
	}
}

func TestSpellingIsStrictOverMCP(t *testing.T) {
	h := open(t)
	got := asMap(t, []byte(h.callModern(t, "alice", "echo", `{"employeeId":"e"}`).body))["result"].(map[string]any)["structuredContent"]
	if b, _ := json.Marshal(got); string(b) != `{"data":{"employeeId":"e"},"status":"success"}` {
		t.Errorf("got %s, want the spelling untouched", b)
	}
}

func TestContradictingContextIsRejected(t *testing.T) {
	h := open(t)
	for _, c := range []struct {
		name, token, context string
		status               int
		code                 string
	}{
		{"another name", "alice", `{"username":"bob"}`, 403, "USER_MISMATCH"},
		{"another case of the name", "alice", `{"username":"Alice"}`, 403, "USER_MISMATCH"},
		{"another address", "alice", `{"username":"alice","email":"bob@example.com"}`, 403, "USER_MISMATCH"},
		{"an unverified address", "bob", `{"email":"bob@example.com"}`, 403, "USER_MISMATCH"},
		{"a name that is none", "alice", `{"username":7}`, 400, "BAD_REQUEST"},
		{"no object", "alice", `"alice"`, 400, "BAD_REQUEST"},
		{"only what is ignored", "alice", `{"userId":"other","roles":["executive"]}`, 200, ""},
	} {
		for path, body := range map[string]string{
			"/tools/echo": `{"input":{},"userContext":` + c.context + `}`,
			"/execute":    `{"confirmationId":"c1","approved":true,"userContext":` + c.context + `}`,
		} {
			if path == "/execute" && c.status == 200 && c.token != "alice" {
				continue
			}
			got := h.send(t, "POST", path, c.token, body)
			if got.status != c.status || got.envelope(t).Code != c.code {
				t.Errorf("%s %s: got %d %s, want %d %s", path, c.name, got.status, got.body, c.status, c.code)
			}
		}
	}
}

func TestExecuteAnswersWithTheStatusOfTheOutcome(t *testing.T) {
	h := open(t)
	for _, c := range []struct {
		name, token, body string
		status            int
		want              string
	}{
		{"approved", "alice", `{"confirmationId":"c1","approved":true}`, 200, `{"status":"success","data":{"message":"done"}}`},
		{"denied", "alice", `{"confirmationId":"c1","approved":false}`, 200, `{"status":"cancelled","message":"Action cancelled by user"}`},
		{"another preview", "alice", `{"confirmationId":"c1","approved":true,"digest":"00"}`, 409, "CONFIRMATION_STALE"},
		{"stranger", "bob", `{"confirmationId":"c1","approved":true}`, 403, "USER_MISMATCH"},
		{"unknown", "alice", `{"confirmationId":"unknown","approved":true}`, 404, "CONFIRMATION_NOT_FOUND"},
		{"undecided", "alice", `{"confirmationId":"c1"}`, 400, "BAD_REQUEST"},
		{"null", "alice", `{"confirmationId":"c1","approved":null}`, 400, "BAD_REQUEST"},
		{"text", "alice", `{"confirmationId":"c1","approved":"true"}`, 400, "BAD_REQUEST"},
		{"both spellings", "alice", `{"confirmationId":"c1","approved":false,"Approved":true}`, 400, "BAD_REQUEST"},
		{"no id", "alice", `{"approved":true}`, 400, "BAD_REQUEST"},
		{"surplus", "alice", `{"confirmationId":"c1","approved":true,"action":"delete_employee"}`, 400, "BAD_REQUEST"},
		{"no token", "", `{"confirmationId":"c1","approved":true}`, 401, "UNAUTHENTICATED"},
	} {
		got := h.send(t, "POST", "/execute", c.token, c.body)
		if e := got.envelope(t); got.status != c.status || got.body != c.want && e.Code != c.want {
			t.Errorf("%s: got %d %s, want %d %s", c.name, got.status, got.body, c.status, c.want)
		}
	}
	closed := open(t, func(o *mcpserver.Options) { o.Confirmations = nil })
	if got := closed.send(t, "POST", "/execute", "alice", `{"confirmationId":"c1","approved":true}`); got.status != 404 {
		t.Errorf("got %d, want no /execute where there are no confirmations", got.status)
	}
}

func TestToolsAreListedAsTheContractSays(t *testing.T) {
	h := open(t)
	got := h.send(t, "GET", "/tools", "bob", "")
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 5 {
		t.Fatalf("got %d tools, want the five that bob may call: %s", len(list.Tools), got.body)
	}
	for _, key := range []string{"name", "title", "description", "kind", "inputSchema", "outputSchema", "annotations"} {
		if _, ok := list.Tools[0][key]; !ok {
			t.Errorf("got no %s in %v", key, list.Tools[0])
		}
	}
	if len(list.Tools[0]) != 7 {
		t.Errorf("got %v, want seven fields", list.Tools[0])
	}
	if empty := h.send(t, "GET", "/tools", "no-roles", ""); empty.body != `{"tools":[]}` {
		t.Errorf("got %s, want an empty list", empty.body)
	}
}
