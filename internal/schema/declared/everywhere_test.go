package declared

import (
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
)

func TestAWordThatNoToolKnowsIsSoughtInEachList(t *testing.T) {
	x := lexicon.English()
	list := func(name, rows, input string) *Tool {
		schema := `{"type":"object","properties":{"` + input + `":{"type":"string"}}}`
		return NewTool(x, result.ToolInfo{Name: name, Kind: result.List, InputSchema: []byte(schema), Fields: &result.Fields{Noun: rows}}, false)
	}
	tools := []*Tool{list("search_letters", "letters", "query"), list("list_firms", "firms", "name")}
	for asked, want := range map[string][]string{
		"search for ink": {"letters about ink"},
		"ink":            {"letters about ink"},
		"Ada Byron":      {"letters about Ada Byron", "firms called Ada Byron"},
		"letters":        nil, // which a tool knows
		"the ink spills": nil,
	} {
		var got []string
		questions, searches := Everywhere(x, tools, func(stem string) bool { return stem == "letter" }, language.Read(asked, time.Time{}), time.Time{})
		for _, q := range questions {
			got = append(got, language.Text(q))
		}
		if !slices.Equal(got, want) || searches != (asked == "search for ink") {
			t.Errorf("%q: got %q, %v", asked, got, searches)
		}
	}
}
