package schema

import (
	"encoding/json"
	"strconv"
	"testing"

	"countersign.dev/internal/flat"
)

const everyKind = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	"id":{"type":"string","format":"uuid"},"day":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":4},
	"limit":{"type":"integer","minimum":1,"maximum":50},"any":{"type":"integer"},"state":{"type":"string","enum":["OPEN","CLOSED"]},"on":{"type":"boolean"},"note":{"type":"string"},
	"maybe":{"type":["string","null"]},"list":{"type":"array","items":{"type":"string"}},"share":{"type":"number"},"odd":{"type":"integer","multipleOf":2},"half":{"type":"integer","minimum":0.5}}}`

const someID = `"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"`

// TestUsualArgumentsNeedNoValidator counts what the check of usual arguments allocates:
// no more than reading them.
func TestUsualArgumentsNeedNoValidator(t *testing.T) {
	s := compiled(t, everyKind)
	for args, want := range map[string]bool{
		`{` + someID + `,"day":"2026-02-28","code":"abc","limit":50,"any":-7,"state":"OPEN","on":true}`: true,
		`{"limit":5}`: false, `{` + someID + `,"limit":51}`: false, `{` + someID + `,"limit":0}`: false, `{` + someID + `,"limit":"5"}`: false,
		`{"id":"7"}`: false, `{` + someID + `,"day":"2026-02-30"}`: false, `{` + someID + `,"code":"a"}`: false, `{` + someID + `,"code":"abcde"}`: false,
		`{` + someID + `,"code":"AB"}`: false, `{` + someID + `,"state":"LOST"}`: false, `{` + someID + `,"more":1}`: false, `{` + someID + `,"on":1}`: false,
		`{` + someID + `,"any":1.5}`: false, `{` + someID + `,"odd":4}`: false, `{` + someID + `,"half":4}`: false, `{` + someID + `,"maybe":null}`: false,
	} {
		values := make([]flat.Value, len(s.Flat().Fields()))
		if got := s.Flat().Read(args, values); got != want {
			t.Errorf("%s: accepted without the validator: %v, want %v", args, got, want)
		}
		if n := testing.AllocsPerRun(10, func() { s.Flat().Read(args, values) }); want && n > 0 {
			t.Errorf("%s: %v allocations, want none", args, n)
		}
	}
	for _, rare := range []string{`{"type":"object","minProperties":1}`, `{"type":["object","null"]}`, `{"type":"object","properties":{"a":{}},"allOf":[{"required":["a"]}]}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`} {
		if f := compiled(t, rare).Flat(); f != nil {
			t.Errorf("%s: accepted without the validator", rare)
		}
	}
}

// FuzzFlat: what is read in one walk, Check accepts, with the same values.
func FuzzFlat(f *testing.F) {
	s := compiled(f, everyKind)
	for _, args := range []string{
		`{` + someID + `,"limit":10.0,"state":"OPEN"}`, `{"day":"2026-02-28","code":"ab"}`, `{` + someID + `,"any":1e30,"list":["x"],"share":5,"maybe":null,"on":false}`,
		` { ` + someID + ` , "note" : "a \"word\" \u00e9\ud83d\ude00é\n\/" , "on" : true } `, `{` + someID + `,"note":"\ud800"}`, `{` + someID + `,"note":"\u0000"}`, `{` + someID + `,"any":-0}`,
		`{` + someID + `,"any":01}`, `{` + someID + `,"any":999999999999999}`, `{` + someID + `,"any":1234567890123456}`, `{` + someID + `,` + someID + `}`, `{"\u0069d":"x"}`, `{}}`, `{` + someID + `,}`, `{"id":"` + "\xff" + `"}`,
		`{` + someID + `,"code":"a\u0062"}`, `{` + someID + `,"day":"2026-02-2\u0038","share":-0.5,"on":truex}`, "", "null", `[]`, `{"id":"`, `{"id":"\`, `{` + someID + `,"on":tru`, `{` + someID + `,"any":- 5}`,
	} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		read := make([]flat.Value, len(s.Flat().Fields()))
		if !s.Flat().Read(string(args), read) {
			return
		}
		values, _, err := s.Check(args)
		if err != nil {
			t.Fatalf("%s: read, and Check says %v", args, err)
		}
		for at, f := range s.Flat().Fields() {
			name := f.Name
			want, given := values[name]
			if given != read[at].Given {
				t.Fatalf("%s: %s is given: %v, want %v", args, name, read[at].Given, given)
			}
			got := want // of a field that is not there
			switch want.(type) {
			case string:
				got = read[at].Text
			case json.Number:
				got = json.Number(strconv.FormatInt(read[at].Int, 10))
			case bool:
				got = read[at].Int == 1
			}
			if got != want {
				t.Fatalf("%s: %s is %v, want %v", args, name, got, want)
			}
		}
		if len(values) > len(read) {
			t.Fatalf("%s: %d values, want %d at most", args, len(values), len(read))
		}
	})
}

func compiled(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile([]byte(text), Options{Formats: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
