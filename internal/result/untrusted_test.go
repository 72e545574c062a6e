package result

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEachAnswerHasItsOwnMark(t *testing.T) {
	o := Success(json.RawMessage(`{"note":"x"}`), nil, "")
	a, _ := EncodeForModel(o, []string{"note"})
	b, _ := EncodeForModel(o, []string{"note"})
	if string(a) == string(b) {
		t.Errorf("both are %s", a)
	}
}

func TestOnlyUntrustedTextIsMarked(t *testing.T) {
	const answer = `{ "status":"success", "data":[{"id":12345678901234567890,"note":"a <b>","tags":["n",1.50,null,true,{"deep":"d"}],"ann":"x"}] }`
	o, err := DecodeEnvelope(json.RawMessage(answer))
	if err != nil {
		t.Fatal(err)
	}
	if got, marked := EncodeForModel(o, nil); marked || string(got) != answer {
		t.Errorf("without untrusted fields: got %s", got)
	}
	got, marked := EncodeForModel(o, []string{"note", "tags"})
	key := string(got)[strings.Index(string(got), "untrusted ")+10:][:16]
	block := func(s string) string { return "<<untrusted " + key + ">>" + s + "<<end " + key + ">>" }
	want := `{"status":"success","data":[{"id":12345678901234567890,"note":"` + block("a <b>") + `","tags":["` + block("n") + `",1.50,null,true,{"deep":"` + block("d") + `"}],"ann":"x"}]}`
	if !marked || string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestForeignAnswersAreMarkedWhole(t *testing.T) {
	got := string(mark(json.RawMessage(`{"status":"success","data":{"title":"x","tags":["y"]},"message":"z"}`), []string{Everything}))
	if n := strings.Count(got, "<<untrusted "); n != 3 || strings.Contains(got, `"<<untrusted`+"success") {
		t.Errorf("%d blocks in %s", n, got)
	}
}

func FuzzMark(f *testing.F) {
	f.Add(`{"a":[1,2,{"note":"x"}],"note":["y",{"z":"w"}]}`)
	f.Add(`<html>`)
	f.Add(`"note"`)
	f.Add(`{"note":`)
	f.Add(`{"a":1,"a":"\ud800"} x`)
	f.Fuzz(func(t *testing.T, answer string) {
		got := mark(json.RawMessage(answer), []string{"note"})
		if !json.Valid(got) {
			t.Fatalf("%q became invalid: %s", answer, got)
		}
	})
}

func TestUnmarkRemovesWhatMarkAdded(t *testing.T) {
	m := newMarker(nil)
	for _, text := range []string{"", "plain", "<<end x>>", "<<untrusted 0123456789abcdef>>a"} {
		if got := Unmark(m.block(text)); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if got := Unmark(text); got != text {
			t.Errorf("an unmarked %q became %q", text, got)
		}
	}
}

// What is stored for a model is shown to people without its marks, and otherwise as it was.
func TestUnmarkedIsWhatWasMarked(t *testing.T) {
	for _, answer := range []string{
		`{"status":"success","data":[{"notes":"<b> & a \"word\"","id":12345678901234567890,"part":1.50e3,"list":["x",null,true]}]}`,
		`{"status":"error","code":"X","message":"untrusted words"}`,
	} {
		marked := mark(json.RawMessage(answer), []string{Everything})
		if got := string(Unmarked(marked)); got != answer || string(marked) == answer {
			t.Errorf("got %s, want %s; it was %s", got, answer, marked)
		}
	}
	for _, other := range []string{`no JSON, untrusted `, `"a text"`} {
		if got := string(Unmarked(json.RawMessage(other))); got != other {
			t.Errorf("got %s, want it as it was: %s", got, other)
		}
	}
}
