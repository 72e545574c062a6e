package query

import "testing"

// TestDeclaredNames: a name after the word of its declaration is sought as the name alone.
func TestDeclaredNames(t *testing.T) {
	for text, want := range map[string]bool{
		"struct ring_buffer": true,
		"class Cleaner":      true,
		"Cleaner class":      true,
		"type Pool struct":   true,
		"class loading":      false,
		"type":               true, // a single word
		"the Pool":           false,
		"struct Pool Ring":   false,
	} {
		if got := IsSymbol(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if p := parse("struct ring_buffer", 0); len(p.names) != 1 || p.names[0].written != "ring_buffer" {
		t.Errorf("names: %+v", p.names)
	}
	if p := parse("struct ring_buffer", Kinds); p.symbol {
		t.Error("without kinds it is a symbol")
	}
}
