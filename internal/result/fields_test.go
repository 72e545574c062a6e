package result_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

func TestTotals(t *testing.T) {
	var rows []result.Row
	for _, one := range []struct {
		of    string
		costs json.Number
	}{{"IT", "10"}, {"HR", "5"}, {"IT", "20"}, {"", "7"}} {
		rows = append(rows, result.Row{Keys: []string{"of", "costs"}, Values: map[string]any{"of": one.of, "costs": one.costs}})
	}
	for kind, want := range map[string]string{"sum": "HR 5 1, IT 30 2", "average": "HR 5 1, IT 15 2", "count": "none 7 1, HR 5 1, IT 30 2"} {
		var got []string
		for _, one := range result.Totals(rows, "of", "costs", "bills", func(string) result.Field { return result.Field{} }, kind) {
			got = append(got, fmt.Sprint(one.Values["name"], " ", one.Values["costs"], " ", one.Values["bills"]))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", kind, got, want)
		}
	}
}
