package draw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"countersign.dev/internal/result"
)

func TestTableKeepsWithinItsLimits(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range maxRows + 3 {
		row := map[string]any{"zz_amount": 1000 + i, "a_year": 2026}
		for c := range maxColumns + 2 {
			row[fmt.Sprintf("column_%d", c)] = "v"
		}
		list = append(list, row)
	}
	data, _ := json.Marshal(list)
	var out bytes.Buffer
	fields := map[string]result.Field{"zz_amount": {Amount: true, Label: "Sum", Unit: "EUR"}, "a_year": {Show: result.ShowYear}}
	if err := Table(&out, Rows(result.Success(data, nil, "")), fields, 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 1+maxRows+3 || len(strings.Split(lines[0], "  ")) != maxColumns {
		t.Errorf("got %d lines, the first %q", len(lines), lines[0])
	}
	for _, want := range []string{"€1,000", "2026", "Only the first 50 of 53 rows are shown.", "More fields with --json: Column 6, Column 7, Column 8, Column 9."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, &out)
		}
	}
	if Rows(result.Success(json.RawMessage(`[{"a":1}]`), nil, "")) != nil {
		t.Error("one row makes a table")
	}
}

// TestStatesAreWords: a state of work is shown as the page shows it.
func TestStatesAreWords(t *testing.T) {
	t.Parallel()
	rows := Rows(result.Success(json.RawMessage(`[{"stage":"CLOSED_WON","status":"in_progress","code":"CLOSED_WON","step":"to_do"},{"stage":"*** (Hidden)","status":"v1_2","code":"x","step":"done"}]`), nil, ""))
	var out bytes.Buffer
	if err := Table(&out, rows, map[string]result.Field{"step": {Show: result.ShowState}}, 0); err != nil {
		t.Fatal(err)
	}
	const want = "Stage         Status       Code        Step\nClosed won    In progress  CLOSED_WON  To do\n*** (Hidden)  v1_2         x           Done\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

// A narrow terminal gets narrower tables, whatever takes two columns.
func TestTableFitsItsTerminal(t *testing.T) {
	t.Parallel()
	list := `[{"name":"王小明王小明王小明王小明","amount":1000000,"note":"e\u0301te\u0301 👩‍👩‍👧 long text that goes on"},{"name":"Al","amount":1,"note":"–"}]`
	rows := Rows(result.Success(json.RawMessage(list), nil, ""))
	for width := 1; width < 80; width++ {
		var out bytes.Buffer
		if err := Table(&out, rows, map[string]result.Field{"amount": {Amount: true, Unit: "USD"}}, width); err != nil {
			t.Fatal(err)
		}
		table, _, _ := strings.Cut(out.String(), "More fields")
		for line := range strings.Lines(table) {
			if uniseg.StringWidth(strings.TrimSpace(line)) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		if width > 30 && !strings.Contains(table, "$1,000,000") {
			t.Errorf("%d columns: the amount is left out:\n%s", width, table)
		}
	}
}
