package upstream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/upstream"
)

// TestForeignDefinitionsShowAllThatTheyHold: a definition has no words for a model that no person
// sees. One without odd characters stays as it was written.
func TestForeignDefinitionsShowAllThatTheyHold(t *testing.T) {
	const hidden = "\U000e0053\U000e0065\u200b\u202e"
	n := newNotes(t, modern)
	define := func(name, more string) {
		n.AddTool(&mcp.Tool{
			Name: name, Title: "Look" + more, Description: "Looks.\n\tThen says it." + more,
			InputSchema: map[string]any{"type": "object", "properties": map[string]any{"at" + more: map[string]any{"type": "string", "description": "Where." + more, "examples": []string{"here" + more}}}},
		}, text("done"))
	}
	define("look", hidden)
	define("plain", "")
	seen := 0
	for _, tool := range host(t, upstream.Options{}, n).Tools(writer).Open {
		whole := tool.Title + tool.Description + string(tool.InputSchema)
		switch tool.Name {
		case "notes.look":
			var schema any
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || plaintext.CheckValue("schema", schema, true) != nil || plaintext.Check(tool.Title+tool.Description, true) != nil {
				t.Errorf("got %q (%v), want all of it visible", whole, err)
			}
			if strings.Count(whole, "⟨U+E0053⟩⟨U+E0065⟩⟨U+200B⟩⟨U+202E⟩") != 5 {
				t.Errorf("got %q, want what was hidden as code points", whole)
			}
			seen++
		case "notes.plain":
			if whole != `LookLooks.`+"\n\t"+`Then says it.{"properties":{"at":{"description":"Where.","examples":["here"],"type":"string"}},"type":"object"}` {
				t.Errorf("got %q", whole)
			}
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%d of 2 tools are offered", seen)
	}
}

func TestForeignNamesThatNoVendorTakesAreLeftOut(t *testing.T) {
	n := newNotes(t, modern)
	for _, name := range []string{strings.Repeat("x", 58), strings.Repeat("y", 59), "dotted.name"} { // with "notes.": 64 and 65
		n.add(name, nil, text("done"))
	}
	spaced := n.server()
	spaced.Name = "my notes"
	u := start(t, upstream.Options{}, n.server(), spaced)
	var got []string
	for _, tool := range u.Tools(writer).Open {
		got = append(got, tool.Name)
	}
	want := []string{"notes.create", "notes.fail", "notes.picture", "notes.search", "notes.stats", "notes." + strings.Repeat("x", 58)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
