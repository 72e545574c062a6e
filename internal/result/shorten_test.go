package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func listOf(n int) Outcome {
	rows := make([]map[string]any, n)
	for i := range rows {
		rows[i] = map[string]any{"id": i + 1, "note": fmt.Sprintf("note %d", i+1)}
	}
	data, _ := json.Marshal(rows)
	return Success(data, &Page{Limit: n, Returned: n, More: true, Next: "cursor", Noun: "notes"}, "")
}

func TestShortenedListKeepsHeadTailAndCounts(t *testing.T) {
	answer, _ := EncodeForModel(listOf(50), []string{"note"})
	for _, c := range []struct {
		first, last int
		ids         string
	}{{3, 2, "[1 2 3 49 50]"}, {2, 0, "[1 2]"}, {0, 1, "[50]"}, {0, 0, "[]"}} {
		short := Shorten(answer, c.first, c.last)
		o, err := DecodeEnvelope(short)
		if err != nil {
			t.Fatalf("%s: %v", short, err)
		}
		var rows []struct {
			ID   int
			Note string
		}
		if err := json.Unmarshal(o.Data(), &rows); err != nil {
			t.Fatal(err)
		}
		ids := []int{}
		for _, r := range rows {
			if ids = append(ids, r.ID); Unmark(r.Note) != fmt.Sprintf("note %d", r.ID) || Unmark(r.Note) == r.Note {
				t.Errorf("row %d has the note %q, want it marked", r.ID, r.Note)
			}
		}
		if fmt.Sprint(ids) != c.ids {
			t.Errorf("%d and %d: kept %v, want %s", c.first, c.last, ids, c.ids)
		}
		left := fmt.Sprintf("Of its 50 rows, %d were left out here", 50-c.first-c.last)
		if p := o.Page(); p == nil || !p.More || p.Returned != 50 || !strings.Contains(p.Hint, left) || !strings.Contains(p.Hint, "Showing 50 of 50+ notes") {
			t.Errorf("page %+v, want that it is incomplete and %q", p, left)
		}
		if (o.Page().Next == "cursor") != (c.first+c.last > 0) {
			t.Errorf("%d and %d: the cursor is %q", c.first, c.last, o.Page().Next)
		}
	}
	if got := Shorten(answer, 30, 20); string(got) != string(answer) {
		t.Errorf("a list of 50 rows was cut to 50: %s", got)
	}
}

func TestOtherDataIsLeftOutAndOtherAnswersStay(t *testing.T) {
	for _, answer := range []string{`{"status":"error","code":"X","message":"m"}`, `{"status":"pending_confirmation","confirmationId":"c","message":"m"}`, `{"status":"success","data":[1,2]}`} {
		if got := Shorten(json.RawMessage(answer), 1, 1); string(got) != answer {
			t.Errorf("%s became %s", answer, got)
		}
	}
	for _, answer := range []string{`{"status":"success","data":{"a":"secret"}}`, `"<<untrusted 0>>secret<<end 0>>"`} {
		got := string(Shorten(json.RawMessage(answer), 1, 1))
		if strings.Contains(got, "secret") || !strings.Contains(got, "left out to save space") {
			t.Errorf("%s became %s", answer, got)
		}
	}
}
