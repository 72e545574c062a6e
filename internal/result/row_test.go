package result_test

import (
	"encoding/json"
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
	for data, want := range map[string]string{
		`[{"n":"a"},{"n":"b"},{}]`:               "ab",
		`{"of":"x","rows":[{"n":"c"}],"b":[{}]}`: "c",
		`{"n":"d"}`:                              "",
	} {
		parsed, err := result.ParseData([]byte(data))
		got := ""
		for _, row := range result.RowsWithin(parsed) {
			got += row.Text("n")
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, not %q", data, got, err, want)
		}
	}
	var none *result.Fields
	broken := &result.Fields{Lacks: []result.Lack{{Said: "(", Tell: "x"}}}
	if none.Lacking()("x")+broken.Lacking()("(") != "" {
		t.Error("what is not declared, or is no expression, is told")
	}
}

func TestOneThingOfAnAnswer(t *testing.T) {
	for data, want := range map[string]string{
		`{"status":"success","data":{"name":"Ada","pets":[{"name":"Tib"}]}}`: "Ada",
		`{"status":"success","data":[{"name":"Tib"}]}`:                       "Tib",
		`{"status":"success","data":[{"name":"Tib"},{"name":"Tom"}]}`:        "",
		`{"status":"success","data":[]}`:                                     "",
	} {
		if got := result.ReadAnswer(json.RawMessage(data), false).One().Text("name"); got != want {
			t.Errorf("%s is about %q, want %q", data, got, want)
		}
	}
}
