package result_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/result"
)

// TestDataKeepsItsOrder: objects keep the order of their fields at any depth, and
// numbers their spelling.
func TestDataKeepsItsOrder(t *testing.T) {
	got, err := result.ParseData(json.RawMessage(`[{"b":1.50,"a":{"z":null,"y":[true,"x"]}},{}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		result.Row{Keys: []string{"b", "a"}, Values: map[string]any{
			"b": json.Number("1.50"),
			"a": result.Row{Keys: []string{"z", "y"}, Values: map[string]any{"z": nil, "y": []any{true, "x"}}},
		}},
		result.Row{Values: map[string]any{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, broken := range []string{"", "{", `[1`, `{"a"`, `{"a":}`, `]`} {
		if v, err := result.ParseData(json.RawMessage(broken)); err == nil {
			t.Errorf("%q: got %v, want an error", broken, v)
		}
	}
}

// TestDataIsDecoded: what is written with escapes, or is no UTF-8, reads as it does
// elsewhere, and a row may have more fields than the one before, or fewer.
func TestDataIsDecoded(t *testing.T) {
	raw := json.RawMessage("[{\"a\\u0062\":\"x\\n\\\"y\\\"\"},{\"c\":\"\xff\",\"c\":\"\\\\\",\"d\":1e2},{\"e\":false}]")
	got, err := result.ParseData(raw)
	want := []any{
		result.Row{Keys: []string{"ab"}, Values: map[string]any{"ab": "x\n\"y\""}},
		result.Row{Keys: []string{"c", "c", "d"}, Values: map[string]any{"c": `\`, "d": json.Number("1e2")}},
		result.Row{Keys: []string{"e"}, Values: map[string]any{"e": false}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := result.ParseData(json.RawMessage("\"\xff\"")); got != "\ufffd" || err != nil {
		t.Error(got, err)
	}
}

// TestMarksAreTakenOffData: an id that is marked as untrusted can be used again.
func TestMarksAreTakenOffData(t *testing.T) {
	answer, _ := result.EncodeForModel(result.Success(json.RawMessage(`{"id":"a-1"}`), nil, ""), []string{result.Everything})
	o, err := result.DecodeEnvelope(answer)
	if err != nil {
		t.Fatal(err)
	}
	got, err := result.ParseMarked(o.Data())
	if diff := cmp.Diff(result.Row{Keys: []string{"id"}, Values: map[string]any{"id": "a-1"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestNumberOfARow(t *testing.T) {
	row := result.Row{Values: map[string]any{"amount": json.Number("12.5"), "year": "2026"}}
	if n, ok := row.Number("amount"); !ok || n != 12.5 {
		t.Errorf("amount is %v, %v", n, ok)
	}
	for _, key := range []string{"year", "none"} {
		if n, ok := row.Number(key); ok {
			t.Errorf("%s is %v", key, n)
		}
	}
}

func TestRowsWithinAnAnswer(t *testing.T) {
	for data, want := range map[string]float64{
		`[{"n":1},{"n":2.5},{"n":"7"},{}]`:     3.5,
		`{"of":"x","rows":[{"n":4}],"b":[{}]}`: 4,
		`{"n":9}`:                              0,
	} {
		parsed, err := result.ParseData([]byte(data))
		if got := result.Sum(result.RowsWithin(parsed), "n"); err != nil || got != want {
			t.Errorf("%s: %v, %v, not %v", data, got, err, want)
		}
	}
	var none *result.Fields
	broken := &result.Fields{Lacks: []result.Lack{{Said: "(", Tell: "x"}}}
	if none.Lacking()("x")+broken.Lacking()("(") != "" {
		t.Error("what is not declared, or is no expression, is told")
	}
}

func TestNameOfARow(t *testing.T) {
	for data, want := range map[string][2]string{
		`{"employee_id":"9f8b6c1e-7a42-4c55-9d6f-0e2b7d7a3c11","first_name":"Ada","last_name":"Lovelace"}`: {"Ada Lovelace", "Ada Lovelace"},
		`{"ticket_id":"TICK-004","customer_name":"Acme","subject":"Login refused"}`:                        {"Login refused", "TICK-004 Login refused"},
		`{"order_id":"A-1","order_number":"77","customer_name":"Acme"}`:                                    {"77", "A-1 77"},
		`{"id":7,"title":"Budget","fiscal_year":2026}`:                                                     {"Budget", "Budget 2026"},
		`{"id":"x","contact":"ada@example.com","city":"Turin"}`:                                            {"Turin", "x Turin"},
		`{"note":"***"}`: {"", ""},
		`{}`:             {"", ""},
	} {
		parsed, err := result.ParseData([]byte(data))
		row, _ := parsed.(result.Row)
		if got := [2]string{row.Name(), row.Title()}; err != nil || got != want {
			t.Errorf("%s: %q, %v, not %q", data, got, err, want)
		}
	}
}

func TestRowsDescend(t *testing.T) {
	parsed, _ := result.ParseData([]byte(`[{"n":1,"t":"a"},{"n":30,"t":"c"},{"n":30,"t":"b"},{"n":-2,"t":"d"},{"t":"e"}]`))
	rows := result.Rows(parsed)
	for key, want := range map[string]string{"n": "cbaed", "t": "edcba"} {
		got := ""
		result.Descend(rows, "t", nil)
		slices.Reverse(rows)
		if key == "n" {
			rows = []result.Row{rows[2], rows[0], rows[1], rows[3], rows[4]}
		}
		result.Descend(rows, key, nil)
		for _, one := range rows {
			got += one.Text("t")
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", key, got, want)
		}
	}
	if result.Descend(rows, "t", []string{"b", "d"}); rows[0].Text("t")+rows[1].Text("t") != "db" {
		t.Errorf("degrees are in their own order: %v", rows)
	}
	if none, by, more := rows[4].Stepped("new_x", 1, false), rows[1].Stepped("new_n", 2, false), rows[1].Stepped("n", 10, true); none != nil || by != 32.0 || more != 33.0 {
		t.Errorf("changed to %v, %v, %v", none, by, more)
	}
	if all := result.Shares(rows, []string{"n", "t"}, 2); all.Values["n"] != json.Number("29.5") || all.Values["t"] != json.Number("0") {
		t.Errorf("shares: %v", all)
	}
	result.Descend(rows, "t", nil)
	slices.Reverse(rows)
	rows = []result.Row{rows[2], rows[1], rows[0], rows[3], rows[4]}
	for sign, want := range map[string]string{"positive": "abc", "negative": "d", "none": "e", "zero": ""} {
		got := ""
		for _, one := range slices.Backward(rows) {
			if one.Holds("n", []any{sign}) {
				got += one.Text("t")
			}
		}
		if got != want {
			t.Errorf("%s are %s, want %s", sign, got, want)
		}
	}
	if !rows[4].Holds("t", []any{"x", "e"}) || rows[0].Holds("t", []any{"x"}) {
		t.Error("a text is held as it is")
	}
}

func TestOneThingOfAnAnswer(t *testing.T) {
	for data, want := range map[string]string{
		`{"status":"success","data":{"name":"Ada","pets":[{"name":"Tib"}]}}`: "Ada",
		`{"status":"success","data":[{"name":"Tib"}]}`:                       "Tib",
		`{"status":"success","data":[{"name":"Tib"},{"name":"Tom"}]}`:        "",
		`{"status":"success","data":[]}`:                                     "",
	} {
		if got := result.ReadAnswer(json.RawMessage(data), false).One().Name(); got != want {
			t.Errorf("%s is about %q, want %q", data, got, want)
		}
	}
}

func TestRowsHavingWords(t *testing.T) {
	rows := []result.Row{
		{Keys: []string{"name"}, Values: map[string]any{"name": "Retail systems"}},
		{Keys: []string{"name"}, Values: map[string]any{"name": "Health"}},
		{Keys: []string{"name", "city"}, Values: map[string]any{"name": "Loyalty of retailers", "city": "Retail Park"}},
	}
	var got []string
	for _, one := range result.Having(rows, []string{"retail", "loyalty"}) {
		got = append(got, one.Name())
	}
	if want := []string{"Loyalty of retailers", "Retail systems"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
