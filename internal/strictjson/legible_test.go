package strictjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"countersign.dev/internal/strictjson"
)

// TestLegibleNumbersAreShownAsTheyAre: what a float64 cannot hold is a text, and nothing else changes.
func TestLegibleNumbersAreShownAsTheyAre(t *testing.T) {
	for given, want := range map[string]string{
		`{"account":9007199254740993,"amount":1.10}`:              `{"account":"9007199254740993","amount":1.10}`,
		`[9007199254740992,-9007199254740993,1e3,0.1,-0,1e21]`:    `[9007199254740992,"-9007199254740993",1e3,0.1,-0,1e21]`,
		`{"a":{"b":[0.12345678901234567891]},"c":"<b>","d":null}`: `{"a":{"b":["0.12345678901234567891"]},"c":"<b>","d":null}`,
		`1e-400`: `"1e-400"`,
		`{}`:     `{}`,
	} {
		if got, err := strictjson.Legible([]byte(given)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", given, got, err, want)
		}
	}
	if got, err := strictjson.Legible([]byte(`{"a":`)); err == nil {
		t.Errorf("half of an object: got %s", got)
	}
}

// FuzzLegible: what is read after a float64 held it is what was given, or a text of it.
func FuzzLegible(f *testing.F) {
	for _, seed := range []string{`{"a":[1,9007199254740993,1e400,0.1]}`, `-0`, `123456789012345678901234567890`, `[1E-5]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, err := strictjson.Canonical([]byte(text))
		if err != nil {
			return
		}
		legible, err := strictjson.Legible(canonical)
		if err != nil || strictjson.Check(legible) != nil {
			t.Fatalf("%s: got %s, %v", canonical, legible, err)
		}
		var value any
		if err := json.Unmarshal(legible, &value); err != nil {
			t.Fatal(err)
		}
		held, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := strictjson.Legible(held)
		var shown any
		if err != nil || json.Unmarshal(again, &shown) != nil || !reflect.DeepEqual(shown, value) {
			t.Errorf("%s: got %s and then %s, %v", canonical, held, again, err)
		}
	})
}
