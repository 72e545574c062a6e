package rowid_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/audit/rowid"
)

// TestOnlyIDsAreKeptOfArguments: texts that people wrote are none, whatever they are called.
func TestOnlyIDsAreKeptOfArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"employee_id":"e1-7","new_salary":5,"reason":"because"}`: "e1-7",
		`{"task_id":7,"entityId":"a_b","id":"K:1"}`:                "7 K:1 a_b",
		`{"note_id":"two words","name":"Ann","paid":"yes"}`:        "",
		`{"long_id":"` + strings.Repeat("x", 65) + `","id":""}`:    "",
		`{"list_id":["a"],"object_id":{"id":"b"},"no_id":null}`:    "",
		`[1]`: "", ``: "",
	} {
		if got := rowid.InJSON(json.RawMessage(arguments)); got != want {
			t.Errorf("%s: got %q, want %q", arguments, got, want)
		}
	}
}

// TestIDsThatAnAnswerHeldAreFound, at any depth and in either case, and others are not.
func TestIDsThatAnAnswerHeldAreFound(t *testing.T) {
	answer := `[{"ticket_id":"TICK-1","customer_id":"c/1","note":"\"id\":\"quoted\""},{"_id":"64b0f0","id": 12,"taskId":7},{"tree":[{"employee_id":"E-9","manager_id":null,"paid":"e-5"}]},` +
		`{"id":"","grid":3,"x_id":{"id":"in"},"long_id":"` + strings.Repeat("x", 65) + `","max_id":"` + strings.Repeat("y", 64) + `"},{"id":"TICK-1"},{"id":99}`
	prints := rowid.Fingerprints([]byte(answer))
	for _, id := range []string{"TICK-1", "tick-1", "c/1", "64b0f0", "12", "7", "e-9", "in", "99", strings.Repeat("y", 64)} {
		if shown, sure := rowid.Held(prints, id); !shown || !sure {
			t.Errorf("%s was shown and is not found", id)
		}
	}
	for _, id := range []string{"TICK-2", "quoted", "e-5", "3", "", "1", "null", strings.Repeat("x", 65), strings.Repeat("y", 63)} {
		if shown, sure := rowid.Held(prints, id); shown || !sure {
			t.Errorf("%q was not shown and is found", id)
		}
	}
	if want := 9 * 5; len(prints) != want {
		t.Errorf("%d bytes for 9 ids, want %d: each once", len(prints), want)
	}
	for _, data := range []string{"", "{}", `d":`, `"id":`, `{"id":"`, `{"id":"cut`, `{"id":12`, `:`} {
		if got := rowid.Fingerprints([]byte(data)); got != "" {
			t.Errorf("%s: got %q, want nothing", data, got)
		}
	}
}

// TestFingerprintsAreBoundedAndRarelyAlike: of numbers in a row, as ids are, no two of
// thousands are alike, and what was left out is not denied.
func TestFingerprintsAreBoundedAndRarelyAlike(t *testing.T) {
	list := func(first, n int) string {
		var data []byte
		for i := range n {
			data = fmt.Appendf(data, `{"id":"TICK-%04d"},`, first+i)
		}
		return rowid.Fingerprints(data)
	}
	whole, cut := list(0, 1024), list(0, 1025)
	if len(whole) != 5*1024 || cut != whole+"+" {
		t.Errorf("got %d and %d bytes, want 1,024 fingerprints and a plus", len(whole), len(cut))
	}
	alike := 0
	for i := range 20_000 {
		id := fmt.Sprintf("TICK-%04d", i)
		shown, sure := rowid.Held(whole, id)
		if i < 1024 && !shown || !sure {
			t.Errorf("%s is not found", id)
		}
		if i >= 1024 && shown {
			alike++
		}
		if _, sure := rowid.Held(cut, id); sure != (i < 1024) {
			t.Errorf("%s in a list that was cut: sure is %t", id, sure)
		}
	}
	if alike > 1 { // 0.02 are expected
		t.Errorf("%d ids that were not shown are found", alike)
	}
}

// BenchmarkFingerprints asks what the fingerprints of an answer's ids cost, for one row and for a
// page of fifty with two ids each, over reading its bytes once (floor).
func BenchmarkFingerprints(b *testing.B) {
	for _, rows := range []int{1, 50} {
		var data []byte
		for i := range rows {
			data = fmt.Appendf(data, `{"employee_id":"00000000-0000-0000-0000-%012d","first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","department":"Engineering","hire_date":"2020-02-29","manager_id":"00000000-0000-0000-0000-%012d"},`, i, i%7)
		}
		b.Run(fmt.Sprint(rows, "/floor"), func(b *testing.B) {
			for b.Loop() {
				if bytes.Contains(data, []byte("\x00\x01")) {
					b.Fatal("found")
				}
			}
		})
		b.Run(fmt.Sprint(rows, "/prints"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if rowid.Fingerprints(data) == "" {
					b.Fatal("none")
				}
			}
		})
	}
}
