package declared

import (
	"encoding/json"
	"maps"
	"testing"

	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
)

func row(pairs ...string) result.Row {
	r := result.Row{Values: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		r.Keys, r.Values[pairs[i]] = append(r.Keys, pairs[i]), pairs[i+1]
	}
	return r
}

func TestThingsAreCalledByTheirNamesAndNotByWhoDidSomethingWithThem(t *testing.T) {
	things := []Thing{
		{ID: 1, Name: "INV-2025-001", Row: row("vendor", "Acme", "approved_by", "Ada Byron")},
		{ID: 2, Name: "INV-001", Row: row("vendor", "Borough", "approved_by", "Ada Byron")},
		{ID: 3, Name: "INV-003", Row: row("vendor", "Byron Freight", "approved_by", "Carl")},
	}
	for _, c := range []struct {
		words []string
		want  []any
	}{
		{[]string{"inv", "001"}, []any{2}}, // no other word
		{[]string{"acme"}, []any{1}},
		{[]string{"byron"}, []any{3}},
		{[]string{"ada", "byron"}, nil},
		{nil, nil},
	} {
		got := Called(things, c.words)
		same := len(got) == len(c.want)
		for i := 0; same && i < len(got); i++ {
			same = got[i].ID == c.want[i]
		}
		if !same {
			t.Errorf("%v: got %v, want %v", c.words, got, c.want)
		}
	}
	if len(things[0].Row.Keys) != 2 {
		t.Error("a row lost a column")
	}
}

func TestRelativeArgumentsAreSettledByTheRow(t *testing.T) {
	r := result.Row{Keys: []string{"salary"}, Values: map[string]any{"salary": json.Number("1000")}}
	args := map[string]any{"salary": language.Token{Value: 10, Percent: true}, "bonus": language.Token{Value: 5}, "note": "x"}
	Settle(r, args)
	if want := map[string]any{"salary": 1100.0, "note": "x"}; !maps.Equal(args, want) {
		t.Errorf("got %v, want %v", args, want)
	}
}

func TestSomeToolReadsMoreThanAList(t *testing.T) {
	x := lexicon.English()
	tool := func(name string, kind result.Kind, column string) *Tool {
		in, out := `{"type":"object","properties":{}}`, `{"type":"object","properties":{"data":{"type":"object","properties":{"`+column+`":{"type":"string"}}}}}`
		return NewTool(x, result.ToolInfo{Name: name, Kind: kind, InputSchema: []byte(in), OutputSchema: []byte(out)}, false)
	}
	list := tool("list_letters", result.List, "place")
	for _, c := range []struct {
		other *Tool
		want  bool
	}{
		{tool("get_letter", result.Read, "vendor"), true},
		{tool("get_letter", result.Read, "place"), false}, // which the list has
		{tool("get_firm", result.Read, "vendor"), false},
		{tool("close_letter", result.Write, "vendor"), false},
	} {
		if got := ReadsMore([]*Tool{list, c.other}, list); got != c.want {
			t.Errorf("%s reads more: %v, want %v", c.other.Info.Name, got, c.want)
		}
	}
}
