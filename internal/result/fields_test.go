package result_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/result"
)

func TestPhrases(t *testing.T) {
	f := result.Field{Values: map[string][]string{"overdue": {"past due", "late"}, "open": {"late"}, "zero": {"without any"}}, Synonyms: []string{"waiting"}}
	want := []result.Phrase{
		{Words: []string{"past", "due"}, Values: []any{"overdue"}},
		{Words: []string{"without", "any"}, Values: []any{"zero"}},
		{Words: []string{"open"}, Values: []any{"open"}},
		{Words: []string{"late"}, Values: []any{"open", "overdue"}},
		{Words: []string{"overdue"}, Values: []any{"overdue"}},
	}
	if diff := cmp.Diff(want, f.Phrases([]string{"open", "overdue"}, true, "")); diff != "" {
		t.Error(diff)
	}
	want = []result.Phrase{{Words: []string{"without", "any"}, Values: []any{"zero"}}, {Words: []string{"waiting"}, Values: []any{true}}, {Words: []string{"blocked"}, Values: []any{true}}}
	if diff := cmp.Diff(want, f.Phrases(nil, false, "blocked")); diff != "" {
		t.Error(diff)
	}
}

func TestIdsAsTheyAreSpelled(t *testing.T) {
	f := result.Field{Like: "TICK-004"}
	for text, want := range map[string]string{"4": "TICK-004", "tick-17": "TICK-017", "TICK-1234": "TICK-1234", "INV-4": "INV-4", "": "TICK-000", "four": "four"} {
		if got := f.Spelled(text); got != want {
			t.Errorf("%q is spelled %q, want %q", text, got, want)
		}
	}
	if got := (result.Field{}).Spelled("7"); got != "7" {
		t.Errorf("without a form: %q", got)
	}
}
