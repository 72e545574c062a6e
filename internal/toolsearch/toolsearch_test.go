package toolsearch

import (
	"encoding/json"
	"slices"
	"testing"

	"countersign.dev/internal/result"
)

func TestToolsAreFoundByNameDescriptionFieldsAndSynonyms(t *testing.T) {
	t.Parallel()
	x := New([]result.ToolInfo{
		{Name: "list_animals", Description: "List the animals of the zoo."},
		{Name: "getKeeper", Description: "Get one person.", InputSchema: json.RawMessage(`{"properties":{"shift_start":{"type":"string","description":"Night or day"}}}`)},
		{Name: "pay_invoice", Description: "Settle what a supplier asks for.", Fields: &result.Fields{Synonyms: []string{"bill"}, Output: map[string]result.Field{"due_on": {Synonyms: []string{"deadline"}}}}},
		{Name: "erase_cage"},
		{Name: "broken", InputSchema: json.RawMessage(`[1`)},
	})
	for query, want := range map[string]string{
		"animal": "list_animals", "the keepers": "getKeeper", "whose shift": "getKeeper", "nights": "getKeeper",
		"Bills!": "pay_invoice", "suppliers": "pay_invoice", "invoices": "pay_invoice", "deadlines": "pay_invoice",
		"begin": "getKeeper", "get rid of it": "erase_cage",
	} {
		if got := x.Search(query, 3); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v, want %s first", query, got, want)
		}
	}
	for _, query := range []string{"", "?!", "the of", "quantum"} {
		if got := x.Search(query, 3); len(got) != 0 {
			t.Errorf("%q finds %v", query, got)
		}
	}
	if got := New(nil).Search("animal", 3); len(got) != 0 {
		t.Errorf("nothing has %v", got)
	}
}

func TestRareWordsCountMore(t *testing.T) {
	t.Parallel()
	x := New([]result.ToolInfo{{Name: "record", Description: "record"}, {Name: "b", Description: "tigers"}, {Name: "c", Description: "record"}})
	if got := x.Search("record tigers", 1); !slices.Equal(got, []string{"b"}) {
		t.Errorf("found %v", got)
	}
}
