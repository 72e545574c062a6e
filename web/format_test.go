package web_test

import (
	"encoding/json"
	"os"
	"testing"
)

// TestNamesSayWhatAFieldIs: a field that is not declared is on the page what it is in a
// sentence; the table is that of the package result.
func TestNamesSayWhatAFieldIs(t *testing.T) {
	t.Parallel()
	var table struct{ Names, States map[string]string }
	text, err := os.ReadFile("../internal/result/testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	got := module[map[string]struct{ Money, State bool }](p, "format.js", `
		const shown = (name, value) => String(m.valueNode(name, value).textContent ?? m.valueNode(name, value));
		return Object.fromEntries(Object.keys(arg).map((name) => [name, { Money: shown(name, 1).includes("$"), State: shown(name, "NEW") === "New" }]))`, table.Names)
	for name, is := range table.Names {
		if got[name].Money != (is == "money" || is == "rate") || got[name].State != (is == "state") {
			t.Errorf("%q is %+v, want %q", name, got[name], is)
		}
	}
	states := module[map[string]string](p, "format.js", `return Object.fromEntries(Object.keys(arg).map((value) => [value, m.stateText(value)]))`, table.States)
	for value, want := range table.States {
		if states[value] != want {
			t.Errorf("%s: got %q, want %q", value, states[value], want)
		}
	}
}
