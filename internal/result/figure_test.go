package result_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"countersign.dev/internal/result"
)

func TestFiguresHaveSignsSeparatorsAndUnits(t *testing.T) {
	for _, c := range []struct {
		field                   result.Field
		spelled, currency, want string
	}{
		{result.Field{Unit: "USD"}, "1234567.5", "", "$1,234,567.50"},
		{result.Field{Unit: "USD"}, "-980000", "EUR", "-€980,000"},
		{result.Field{Unit: "CHF"}, "12.05", "", "12.05 CHF"},
		{result.Field{Unit: "percent"}, "49.5", "USD", "49.5%"},
		{result.Field{Unit: "days", Show: result.ShowChange}, "3", "", "+3 days"},
		{result.Field{Unit: "days"}, "1", "", "1 day"},
		{result.Field{Show: result.ShowChange}, "0", "", "0"},
		{result.Field{Show: result.ShowYear}, "2026", "", "2026"},
		{result.Field{}, "1000", "", "1,000"},
		{result.Field{Unit: "USD"}, "1e9", "", "1e9"},
	} {
		if got := c.field.Figure(c.spelled, c.currency); got != c.want {
			t.Errorf("%+v %s %s: got %s, want %s", c.field, c.spelled, c.currency, got, c.want)
		}
	}
}

func TestStatesAndMomentsAreWrittenInSentences(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"stage", "CLOSED_WON", "closed won"}, {"currentStatus", "in_progress", "in progress"}, {"status", "NEW", "new"},
		{"created_at", "2026-05-24T10:00:00Z", "2026-05-24"}, {"at", "2026-05-24T23:59:59.5+02:00", "2026-05-24"},
		{"vendor_name", "AWS", "AWS"}, {"name", "OPEN_SOURCE", "OPEN_SOURCE"}, {"status", "3 of 5", "3 of 5"}, {"day", "2026-05-24", "2026-05-24"}, {"", "", ""},
	} {
		if got := (result.Field{}).Prose(c.name, c.text); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// TestNamesSayWhatAFieldIs: the page reads the same table.
func TestNamesSayWhatAFieldIs(t *testing.T) {
	var table struct{ Names, States map[string]string }
	text, err := os.ReadFile("testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for name, is := range table.Names {
		if got, want := result.IsAmount(name), slices.Contains([]string{"money", "quantity"}, is); got != want {
			t.Errorf("%s is an amount: %t, want %t", name, got, want)
		}
		if got, want := (result.Field{}).State(name, "NEW") == "New", is == "state"; got != want {
			t.Errorf("%s is a state: %t, want %t", name, got, want)
		}
	}
	for value, want := range table.States {
		if got := (result.Field{}).State("status", value); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

func TestNamesOfIDsAndAmounts(t *testing.T) {
	for _, name := range []string{"id", "_id", "employee_id", "dealId", "bookID", "task_ids", "uuid", "itemUuid"} {
		if !result.IsID(name) {
			t.Errorf("%s is no id", name)
		}
	}
	for _, name := range []string{"total", "spent_amount", "annualCost", "remaining"} {
		if !result.IsAmount(name) {
			t.Errorf("%s is no amount", name)
		}
	}
	for _, name := range []string{"paid", "valid", "identity", "amount_of_days", "subtotals", "PAID", ""} {
		if result.IsID(name) || result.IsAmount(name) {
			t.Errorf("%s is an id or an amount", name)
		}
	}
}

func TestLongTextsAreQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"Late again.": "Late again",
		"I closed it. The “cable” was loose on the second floor.": "“I closed it. The ‘cable’ was loose on the second floor.”",
	} {
		if got := (result.Field{}).Said("note", result.Row{Values: map[string]any{"note": text}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
