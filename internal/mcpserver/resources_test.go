package mcpserver_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// notes are resources that the tool of their address reads: note://echo/text.
type notes struct{}

func (notes) Template() result.Resource {
	return result.Resource{URI: "note://{tool}/{text}", Name: "note", MIMEType: "text/plain"}
}

func (notes) Reader(uri string) (tool string, args json.RawMessage, ok bool) {
	rest, ok := strings.CutPrefix(uri, "note://")
	tool, said, _ := strings.Cut(rest, "/")
	args, err := json.Marshal(map[string]string{"note": said})
	return tool, args, ok && err == nil
}

func (notes) Content(uri string, answer json.RawMessage) (string, string, error) {
	var read struct {
		Data struct{ Note string }
	}
	err := json.Unmarshal(answer, &read)
	return uri, read.Data.Note, err
}

func (notes) Links(tool string, answer json.RawMessage) []result.Resource {
	_, said, err := notes{}.Content("", answer)
	if tool != "echo" || err != nil || said == "" {
		return nil
	}
	return []result.Resource{{URI: "note://echo/" + said, Name: said, MIMEType: "text/plain"}, {URI: "note://echo/2", Name: "2"}}
}

// paid are notes that one tool reads, which not all may call.
type paid struct{ notes }

func (paid) Tool() string { return "get_pay" }

// TestResourcesAreDeclaredToThoseWhoMayReadThem and to no other caller.
func TestResourcesAreDeclaredToThoseWhoMayReadThem(t *testing.T) {
	h := open(t, func(o *mcpserver.Options) { o.Resources = paid{} })
	for who, want := range map[string]bool{"alice": true, "bob": false} {
		for _, version := range []string{modern, legacy} {
			session, _ := h.connect(t, version, who)
			if declared := session.InitializeResult().Capabilities.Resources != nil; declared != want {
				t.Errorf("%s, %s: resources are declared: %t", who, version, declared)
			}
			_, listed := session.ListResources(t.Context(), nil)
			_, templates := session.ListResourceTemplates(t.Context(), nil)
			_, read := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "note://get_pay/x"})
			for method, err := range map[string]error{"list": listed, "templates": templates, "read": read} {
				var refused *jsonrpc.Error
				if unknown := errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound; unknown == want {
					t.Errorf("%s, %s, %s: got %v", who, version, method, err)
				}
			}
		}
	}
}

func withNotes(o *mcpserver.Options) { o.Resources = notes{} }

// TestResourcesAreRead by a call of their tool, with the rights of its caller.
func TestResourcesAreRead(t *testing.T) {
	h := open(t, withNotes)
	for version, notFound := range map[string]int64{modern: jsonrpc.CodeInvalidParams, legacy: -32002} {
		session, _ := h.connect(t, version, "bob")
		if c := session.InitializeResult().Capabilities; c.Resources == nil || c.Resources.Subscribe || c.Resources.ListChanged {
			t.Errorf("%s: %+v: resources are not declared as they are", version, c.Resources)
		}
		templates, err := session.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "note://{tool}/{text}" {
			t.Errorf("%s: %+v, %v", version, templates, err)
		}
		if list, err := session.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
			t.Errorf("%s: %+v, %v", version, list, err)
		}
		got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "note://echo/hello"})
		if err != nil || len(got.Contents) != 1 || got.Contents[0].Text != "hello" || got.Contents[0].URI != "note://echo/hello" || got.Contents[0].Meta["countersign/untrusted"] != true {
			t.Fatalf("%s: %+v, %v", version, got, err)
		}
		var refused *jsonrpc.Error
		if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///etc/passwd"}); !errors.As(err, &refused) || refused.Code != notFound {
			t.Errorf("%s: another address: %v", version, err)
		}
		if got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "note://get_pay/x"}); !errors.As(err, &refused) || refused.Code != notFound {
			t.Errorf("%s: bob read %+v by a tool that is not his", version, got)
		}
	}
}

// TestAnswersLinkResources: to clients of versions that know links, on both lanes with
// the same bytes.
func TestAnswersLinkResources(t *testing.T) {
	lane, sdk := open(t, withNotes, onLane(mcpserver.LaneForced)), open(t, withNotes, onLane(mcpserver.LaneOff))
	for _, h := range []*harness{lane, sdk} {
		for version, want := range map[string]int{modern: 2, legacy: 2, "2025-06-18": 2, "2025-03-26": 0, "2024-11-05": 0} {
			session, _ := h.connect(t, version, "bob")
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"note": "a & b"}})
			if err != nil || len(got.Content) != want+1 {
				t.Fatalf("%s: %+v, %v: not %d links", version, got, err, want)
			}
			if want == 0 {
				continue
			}
			if link, ok := got.Content[1].(*mcp.ResourceLink); !ok || link.URI != "note://echo/a & b" || link.MIMEType != "text/plain" || link.Meta["countersign/untrusted"] != true {
				t.Errorf("%s: %+v", version, got.Content[1])
			}
		}
	}
	for _, call := range [][2]string{{"echo", `{"note":"<a> & b"}`}, {"echo", `{}`}, {"get_pay", `{"note":"a"}`}, {"who_am_i", `{}`}} {
		for _, version := range versions {
			var got []string
			for _, h := range []*harness{lane, sdk} {
				if version == modern {
					got = append(got, h.callModern(t, "bob", call[0], call[1], "X-Request-ID", "r").body)
					continue
				}
				got = append(got, h.callLegacy(t, "bob", h.handshake(t, "bob"), call[0], call[1], "X-Request-ID", "r").body)
			}
			if got[0] != got[1] {
				t.Errorf("%s %s:\nlane %s\nSDK  %s", version, call, got[0], got[1])
			}
			if linked := strings.Contains(got[0], "resource_link"); linked != strings.Contains(call[1], "<a>") {
				t.Errorf("%s %s: %s", version, call, got[0])
			}
		}
	}
}

// TestNoResourcesWithoutThem: a server without any knows no method about them, and one
// with them none to subscribe.
func TestNoResourcesWithoutThem(t *testing.T) {
	for want, h := range map[string]*harness{"resources/read": open(t), "resources/subscribe": open(t, withNotes)} {
		got := h.send(t, "POST", "/mcp", "bob", modernBody(want, `"uri":"note://echo/x"`), modernHeaders(want, "note://echo/x")...)
		if !strings.Contains(got.body, `"code":-32601`) {
			t.Errorf("%s: %d %s", want, got.status, got.body)
		}
	}
}
