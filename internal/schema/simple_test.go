package schema

import (
	"encoding/json"
	"testing"
)

const everyKind = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	"id":{"type":"string","format":"uuid"},"day":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":4},
	"limit":{"type":"integer","minimum":1,"maximum":50},"any":{"type":"integer"},"state":{"type":"string","enum":["OPEN","CLOSED"]},"on":{"type":"boolean"},
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
		values, err := readObject(json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		s.normalize(values)
		if got := s.simple.accepts(values); got != want {
			t.Errorf("%s: accepted without the validator: %v, want %v", args, got, want)
		}
		if n := testing.AllocsPerRun(10, func() { s.simple.accepts(values) }); want && n > 1 { // 1: reading a date
			t.Errorf("%s: %v allocations, want 1 at most", args, n)
		}
	}
	for _, rare := range []string{`{"type":"object","minProperties":1}`, `{"type":["object","null"]}`, `{"type":"object","properties":{"a":{}},"allOf":[{"required":["a"]}]}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`} {
		if compiled(t, rare).simple.accepts(object{}) {
			t.Errorf("%s: accepted without the validator", rare)
		}
	}
}

// FuzzSimple: what is accepted without the validator is accepted by it.
func FuzzSimple(f *testing.F) {
	s := compiled(f, everyKind)
	for _, args := range []string{`{` + someID + `,"limit":10.0,"state":"OPEN"}`, `{"day":"2026-02-28","code":"ab"}`, `{` + someID + `,"any":1e30,"list":["x"],"share":0.5,"maybe":null,"on":false}`} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		values, err := readObject(args)
		if err != nil || len(s.normalize(values)) > 0 || !s.simple.accepts(values) {
			return
		}
		if err := s.compiled.Validate(values); err != nil {
			t.Errorf("%s: accepted, and the validator says %v", args, err)
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
