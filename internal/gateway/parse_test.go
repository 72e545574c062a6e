package gateway

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzClip(f *testing.F) {
	f.Add(`{"status":"success","data":[1,2,3]}`, 2, 1000)
	f.Add(`{"status":"success","data":{"a":"`+strings.Repeat("x", 500)+`"}}`, 2, 300)
	f.Add(`{"status":"success","data":["`+strings.Repeat("x", 500)+`",1]}`, 5, 300)
	f.Add(`[1]`, 1, 1)
	f.Add(`{"data":null}`, 0, 400)
	f.Fuzz(func(t *testing.T, envelope string, rows, size int) {
		if !json.Valid([]byte(envelope)) || rows < 0 || size < 300 { // smaller than what an empty envelope says
			t.Skip()
		}
		got := clip(json.RawMessage(envelope), rows, size)
		if got != nil && !json.Valid(got) {
			t.Fatalf("got %s, want JSON", got)
		}
		var e struct{ Data []json.RawMessage }
		if json.Unmarshal(got, &e) == nil && len(e.Data) > rows {
			t.Fatalf("got %d rows, want at most %d", len(e.Data), rows)
		}
	})
}

func TestClippedAnswersSaySo(t *testing.T) {
	long := json.RawMessage(`{"status":"success","data":[1,2,3,4],"metadata":{"hasMore":true,"returnedCount":4,"nextCursor":"C","truncated":true}}`)
	want := `{"status":"success","data":[1,2],"metadata":{"hasMore":true,"returnedCount":2,"hint":"Only the first 2 rows are shown here.","truncated":true}}`
	if got := clip(long, 2, 1000); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := clip(long, 4, 1000); string(got) != string(long) {
		t.Errorf("got %s, want it untouched", got)
	}
	tree := json.RawMessage(`{"status":"success","data":{"name":"` + strings.Repeat("x", 1000) + `"}}`)
	if got := clip(tree, 50, 500); strings.Contains(string(got), "xxx") || !strings.Contains(string(got), "too large") {
		t.Errorf("got %s, want no data and a word", got)
	}
}
