package tasks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
)

// TestInputsAreThoseOfTheDocument compares the published input schemas with the
// parameters of document 002: names, which are required, and defaults. To a token of
// the server's own workspace_path is required everywhere but in list_projects; to
// the gateway it never is.
func TestInputsAreThoseOfTheDocument(t *testing.T) {
	listed, err := os.ReadFile("testdata/inputs.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(listed)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return word == "+" })
		want[words[0]] = words[1:]
	}
	h := newHarness(t)
	for purpose, path := range map[access.Purpose]string{access.PurposeNone: "workspace_path!", access.PurposeCall: "workspace_path"} {
		infos, err := h.Tools(as(t, "nina", purpose))
		if err != nil {
			t.Fatal(err)
		}
		if len(infos) != len(want) {
			t.Errorf("%d tools are published, the document and our additions have %d", len(infos), len(want))
		}
		for _, info := range infos {
			expected, known := want[info.Name]
			if !known {
				t.Errorf("%s is no tool of the document's", info.Name)
				continue
			}
			expected = slices.Clone(expected)
			if info.Name != "list_projects" {
				expected = append(expected, path)
			}
			slices.Sort(expected)
			if got := parameters(t, info.InputSchema); !slices.Equal(got, expected) {
				t.Errorf("%s takes %v, the document says %v", info.Name, got, expected)
			}
		}
	}
}

// parameters writes what a schema takes as testdata/inputs.txt does, sorted.
func parameters(t *testing.T, raw []byte) []string {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Default any }
		Required   []string
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	var written []string
	for name, property := range schema.Properties {
		if slices.Contains(schema.Required, name) {
			name += "!"
		}
		if property.Default != nil {
			name += fmt.Sprintf("=%v", property.Default)
		}
		written = append(written, name)
	}
	slices.Sort(written)
	return written
}
