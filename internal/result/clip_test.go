package result_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

func FuzzClip(f *testing.F) {
	f.Add(`[1,2,3]`, 2, 1000)
	f.Add(`{"a":"`+strings.Repeat("x", 500)+`"}`, 2, 300)
	f.Add(`["`+strings.Repeat("x", 500)+`",1]`, 5, 300)
	f.Add(`[ {"a":[1,2]} , [] ]`, 1, 300)
	f.Add(`null`, 0, 400)
	f.Fuzz(func(t *testing.T, data string, rows, size int) {
		if !json.Valid([]byte(data)) || rows < 0 || size < 300 { // smaller than what an empty envelope says
			t.Skip()
		}
		got := result.EncodeClipped(result.Success(json.RawMessage(strings.TrimSpace(data)), nil, ""), rows, size)
		if !json.Valid(got) || len(got) > size {
			t.Fatalf("got %s, want JSON of %d bytes at most", got, size)
		}
		var e struct{ Data []json.RawMessage }
		if json.Unmarshal(got, &e) == nil && len(e.Data) > rows {
			t.Fatalf("got %d rows, want at most %d", len(e.Data), rows)
		}
	})
}

func TestClippedAnswersSaySo(t *testing.T) {
	long := result.Success(json.RawMessage(`[1,2,3,4]`), &result.Page{Limit: 4, Returned: 4, More: true, Next: "C", Noun: "numbers"}, "")
	want := `{"status":"success","data":[1,2],"metadata":{"hasMore":true,"returnedCount":2,"totalEstimate":"4+","hint":"Only the first 2 rows are shown here.",` +
		`"truncated":true,"totalCount":"4+"}}`
	raw := result.EncodeEnvelope(long)
	decoded, err := result.DecodeEnvelope(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]result.Outcome{"made here": long, "decoded": decoded} {
		if got := result.EncodeClipped(o, 2, 1000); string(got) != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if got := result.EncodeClipped(o, 4, 1000); string(got) != string(raw) {
			t.Errorf("%s: got %s, want it unchanged", name, got)
		}
	}
	all := result.EncodeClipped(result.Success(json.RawMessage(`[1,2,3]`), &result.Page{Limit: 4, Returned: 3, Noun: "numbers"}, ""), 2, 1000)
	if o, err := result.DecodeEnvelope(all); err != nil || !o.Page().More || o.Page().Hint != "Only the first 2 rows are shown here." || !strings.Contains(string(all), `"totalCount":"3"`) {
		t.Errorf("of a list that was whole: got %s, %v, want that there are more", all, err)
	}
	counted := result.Success(json.RawMessage(`[1,2,3,4]`), &result.Page{Limit: 4, Returned: 4, More: true, Offset: 8, Total: 20, Counted: true}, "")
	if got := string(result.EncodeClipped(counted, 3, 1000)); !strings.Contains(got, `"nextOffset":11`) {
		t.Errorf("after the eleventh row the twelfth follows: got %s", got)
	}
	advised := strings.Replace(want, "shown here.", "shown here. Ask for less: narrower filters, or a smaller limit and then its cursor.", 1)
	if got := result.ClipForModel(decoded, nil, 2, 1000); string(got) != advised {
		t.Errorf("for a model: got %s, want %s", got, advised)
	}
	words := result.Success(json.RawMessage(`[{"note":"one"},{"note":"two"},{"note":"three"},{"note":"four"}]`), nil, "")
	for size := 300; size > 240; size -= 20 { // the marks are within the size, too
		got := string(result.ClipForModel(words, []string{"note"}, 50, size))
		if len(got) > size || !strings.Contains(got, `"truncated":true`) || strings.Count(got, "<<untrusted ") != strings.Count(got, "<<end ") {
			t.Errorf("for a model in %d bytes: got %s", size, got)
		}
	}
	unpaged := result.Success(json.RawMessage(`[1,2,3]`), nil, "")
	if got := result.EncodeClipped(unpaged, 2, 1000); !strings.Contains(string(got), `"data":[1,2],`) {
		t.Errorf("a list without a page: got %s, want two rows", got)
	}
	tree := result.Success(json.RawMessage(`{"name":"`+strings.Repeat("x", 1000)+`"}`), nil, "")
	if got := result.EncodeClipped(tree, 50, 500); strings.Contains(string(got), "xxx") || !strings.Contains(string(got), "too large") {
		t.Errorf("got %s, want no data and a hint", got)
	}
}
