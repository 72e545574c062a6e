package app

import (
	"encoding/json"
	"net/url"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream"
)

// The gateway says of a model's arguments what the server would have said, so
// that a call that it does not make has the same sentence for the person.
func TestGatewayAndServerSayTheSameOfWrongArguments(t *testing.T) {
	x := newRig(t, quota.Limits{})
	token := x.token(t, "alice.chen")
	var list struct {
		Tools []result.ToolInfo `json:"tools"`
	}
	_, body := x.send(t, "GET", "/api/tools", token, "")
	must(t, json.Unmarshal([]byte(body), &list))
	if len(list.Tools) < 5 {
		t.Fatalf("got %s", body)
	}
	refused := 0
	for _, tool := range list.Tools {
		schema, err := upstream.SchemaOf(tool)
		must(t, err)
		for _, args := range []string{`{}`, `{"nope":1}`, `{"limit":0}`, `{"employee_id":"FRANK","new_salary":-5}`, `{"employee_id":7}`} {
			_, here := schema.Wrong(json.RawMessage(args))
			if here == nil {
				continue
			}
			refused++
			_, answer := x.send(t, "POST", "/api/mcp/hr/"+url.PathEscape(tool.Name), token, args)
			there, err := result.DecodeEnvelope(json.RawMessage(answer))
			must(t, err)
			if f := fault.From(here); there.Fault() == nil || there.Fault().Message != f.Message || there.Fault().SuggestedAction != f.SuggestedAction {
				t.Errorf("%s %s: the server says %s, the gateway %q, %q", tool.Name, args, answer, f.Message, f.SuggestedAction)
			}
		}
	}
	if refused < 20 {
		t.Errorf("only %d arguments were refused", refused)
	}
}
