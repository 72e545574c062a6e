package mcpserver_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// firstID is that of alice's one confirmation.
const firstID = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"

// theirs writes ids into arguments.
var theirs = strings.NewReplacer("ID", firstID, "OTHER", "6f9619ff-8b86-4011-b42d-00cf4fc964fe")

// shows has one confirmation of alice.
func shows(o *mcpserver.Options) {
	o.Show = func(ctx context.Context, id string) (result.Confirmation, error) {
		who, err := access.From(ctx)
		switch {
		case err != nil:
			return result.Confirmation{}, err
		case id != firstID:
			return result.Confirmation{}, fault.ConfirmationNotFound.New("Confirmation not found or expired.")
		case who.Username() != "alice":
			return result.Confirmation{}, fault.UserMismatch.New("You can only see your own confirmations")
		}
		return result.Confirmation{ID: id, State: "pending", Message: "Delete the desk?"}, nil
	}
}

// TestClientsFollowTheirConfirmations: a client that cannot see our page learns
// the outcome of a change of its person, and of no other's.
func TestClientsFollowTheirConfirmations(t *testing.T) {
	h := open(t, shows)
	h.service.tools["get_confirmation"] = fakeTool{[]access.Role{access.Employee}, result.Write, nil} // a server's own of that name
	for _, version := range versions {
		for who, want := range map[string]string{"alice": "success", "bob": "USER_MISMATCH", "no-roles": "USER_MISMATCH"} {
			session, _ := h.connect(t, version, who)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "get_confirmation" })
			if slices.ContainsFunc(list.Tools[at+1:], func(tool *mcp.Tool) bool { return tool.Name == "get_confirmation" }) {
				t.Errorf("%s, %s: it is listed twice", version, who)
			}
			if at < 0 || !list.Tools[at].Annotations.ReadOnlyHint || *list.Tools[at].Annotations.DestructiveHint {
				t.Fatalf("%s, %s: got %v, want the read-only tool", version, who, list.Tools)
			}
			if shape, _ := json.Marshal(list.Tools[at].OutputSchema); !strings.Contains(string(shape), `"CONFIRMATION_NOT_FOUND"`) {
				t.Errorf("%s, %s: %s does not say which codes there are", version, who, shape)
			}
			if !slices.IsSortedFunc(list.Tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("%s, %s: the list is not in the order of names", version, who)
			}
			called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_confirmation", Arguments: map[string]any{"confirmation_id": firstID}})
			if err != nil {
				t.Fatal(err)
			}
			if e := structured(t, called); e.Status+e.Code != want && e.Code != want || called.IsError == (want == "success") {
				t.Errorf("%s, %s: got %+v, want %s", version, who, e, want)
			}
		}
	}
	for args, want := range map[string]string{
		`{}`: "confirmation_id: is required. Give the confirmationId of a pending_confirmation answer.", `{"confirmation_id":7}`: "confirmation_id: must be string, not number",
		`{"confirmation_id":"ID","confirmation_id":"OTHER"}`: "-32700", `{"confirmation_id":"c1"}`: "confirmation_id: is not a valid uuid",
		`{"confirmationId":"ID"}`:                  "confirmationId: is not a field of this tool. Did you mean confirmation_id?; confirmation_id: is required",
		`{"confirmation_id":"ID","approved":true}`: "approved: is not a field of this tool",
		`{"confirmation_id":"OTHER"}`:              "CONFIRMATION_NOT_FOUND", `{"confirmation_id":"ID"}`: "Delete the desk?",
	} {
		if got := h.callModern(t, "alice", "get_confirmation", theirs.Replace(args)); !strings.Contains(got.body, want) {
			t.Errorf("%s: got %s, want %s", args, got.body, want)
		}
	}
}

// TestConfirmationIsAnEnvelopeInEveryDialect: generic clients compare each answer with
// the tool's published schema, and end the call when it differs.
func TestConfirmationIsAnEnvelopeInEveryDialect(t *testing.T) {
	h := open(t, shows)
	h.service.encode = dialect.Dialect{}.Encode
	for args, want := range map[string]string{
		`{"confirmation_id":"ID"}`:    `"structuredContent":{"status":"success"`,
		`{"confirmation_id":"OTHER"}`: `"structuredContent":{"status":"error"`,
		`{}`:                          `"structuredContent":{"status":"error"`,
	} {
		if got := h.callModern(t, "alice", "get_confirmation", theirs.Replace(args)); !strings.Contains(got.body, want) {
			t.Errorf("%s: got %s, want %s", args, got.body, want)
		}
	}
}

// TestRoutesOfConfirmationsAnswerInEnvelopes: the gateway, which alone calls them, must
// read why a server refuses, whatever dialect the server's tools speak.
func TestRoutesOfConfirmationsAnswerInEnvelopes(t *testing.T) {
	h := open(t, shows)
	h.service.encode = dialect.Dialect{}.Encode
	for _, c := range []struct{ method, path, token, body, want string }{
		{"POST", "/execute", "execute", `{"confirmationId":"c1"}`, `"status":"error"`},
		{"POST", "/execute", "", `{"confirmationId":"c1","approved":true}`, `"status":"error"`},
		{"GET", "/confirmations/none", "", "", `"status":"error"`},
		{"POST", "/tools/echo", "", `{}`, `"error":{`},
	} {
		if got := h.send(t, c.method, c.path, c.token, c.body); got.status < 400 || !strings.Contains(got.body, c.want) {
			t.Errorf("%s %s as %q: got %d %s, want %s", c.method, c.path, c.token, got.status, got.body, c.want)
		}
	}
}

// TestConfirmationToolIsForClientsAlone: the gateway, and so every agent of ours, is
// not offered it, and a server without confirmations has none.
func TestConfirmationToolIsForClientsAlone(t *testing.T) {
	h := open(t, shows)
	for _, token := range []string{"catalogue", "call"} {
		if got := h.send(t, "POST", "/mcp", token, modernBody("tools/list", ""), modernHeaders("tools/list", "")...); got.status != 200 || strings.Contains(got.body, "get_confirmation") {
			t.Errorf("%s: got %d %s", token, got.status, got.body)
		}
	}
	if got := h.callModern(t, "call", "get_confirmation", theirs.Replace(`{"confirmation_id":"ID"}`)); !strings.Contains(got.body, "-32602") {
		t.Errorf("got %s, want no such tool", got.body)
	}
	if got := open(t).callModern(t, "alice", "get_confirmation", theirs.Replace(`{"confirmation_id":"ID"}`)); !strings.Contains(got.body, "-32602") {
		t.Errorf("without confirmations: got %s, want no such tool", got.body)
	}
}
