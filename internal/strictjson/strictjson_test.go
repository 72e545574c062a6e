package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/strictjson"
)

type answer struct {
	ID       string          `json:"id"`
	Approved *bool           `json:"approved"`
	Context  json.RawMessage `json:"context"`
}

func TestWhatTwoReadersCouldReadDifferentlyIsRejected(t *testing.T) {
	for in, want := range map[string]string{
		``:                                   "is not valid JSON",
		`{"id":`:                             "is not valid JSON",
		"{\"id\":\"\xff\"}":                  "is not valid JSON",
		`{} {}`:                              "has data after its end",
		`{}]`:                                "has data after its end",
		`{"approved":true,"approved":false}`: `repeats the name "approved"`,
		`{"id":"a","\u0069d":"b"}`:           `repeats the name "id"`,
		`{"context":[{"a":1,"a":2}]}`:        `repeats the name "a"`,
		object(1001):                         "has an object of more than 1000 members",
		`[{},` + object(1001) + `]`:          "has an object of more than 1000 members",
		object(100_000):                      "has an object of more than 1000 members",
		strings.Repeat(`[`, 65) + strings.Repeat(`]`, 65):    "is nested deeper than 64",
		`{"context":[1e999]}`:                                "has a number that is out of range",
		`{"context":[1e401]}`:                                "has a number that is out of range",
		`{"context":[1e-401]}`:                               "has a number that is out of range",
		`{"context":[1e-999999]}`:                            "has a number that is out of range",
		`{"context":1e-99999999999999999999}`:                "has a number that is out of range",
		`{"context":` + strings.Repeat("1", 65) + `}`:        "has a number of more than 64 characters",
		`{"context":0.` + strings.Repeat("1", 900_000) + `}`: "has a number of more than 64 characters",
		`{"Approved":true}`:                                  `has a field "Approved" that is not known here`,
		`{"approved":"true"}`:                                `has a field "approved" of the wrong type`,
		`[1]`:                                                "must be an object",
	} {
		var v answer
		if err := strictjson.Unmarshal([]byte(in), &v); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
		shape := strings.HasPrefix(want, "has a field") || want == "must be an object" // of what is decoded into
		if err := strictjson.Check([]byte(in)); !shape && (err == nil || err.Error() != want) {
			t.Errorf("checked alone, %s: got %v, want %q", in, err, want)
		}
	}
	if err := strictjson.Check([]byte(strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64))); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

func TestNumbersKeepTheirSpelling(t *testing.T) {
	const in = `{"b":[1.50,12345678901234567890],"a":{"z":1e3,"c":"x"},"n":null}`
	var v map[string]any
	if err := strictjson.Unmarshal([]byte(in), &v); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"b": []any{json.Number("1.50"), json.Number("12345678901234567890")},
		"a": map[string]any{"z": json.Number("1e3"), "c": "x"}, "n": nil,
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	canonical, err := strictjson.Canonical([]byte(" { \"b\" : [1.50, 12345678901234567890],\n\"a\":{\"z\":1e3,\"c\":\"x\"},\"n\":null}"))
	if want := `{"a":{"c":"x","z":1e3},"b":[1.50,12345678901234567890],"n":null}`; err != nil || string(canonical) != want {
		t.Errorf("got %s (%v), want %s", canonical, err, want)
	}
}

func TestNormalNumbersAreSpelledInOneWay(t *testing.T) {
	for in, want := range map[json.Number]json.Number{
		"10": "10", "10.0": "10", "1e1": "10", "100e-1": "10", "-0": "0", "0.10": "0.1", "1e30": "1e+30", "4.9e-324": "5e-324", "x": "x",
	} {
		if got := strictjson.Normal(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"a":2}`, `{"a":{"a":[{"b":"\u0061"}]}}`, `[[],{"\"":","}]`, `{"a":1,"\u0061":2}`, `"x"`, `{"a\\":1,"a\\":2}`, "{\"\\ud800\":1,\"\\udfff\":1}",
		strings.Repeat("[", strictjson.MaxDepth) + strings.Repeat("]", strictjson.MaxDepth), strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1)} {
		f.Add([]byte(s))
	}
	for _, s := range []string{`{"a":{"b":[1.50,-0,1e2,"\u00f6\n",null,true,false,{},[]]}}`, `null`, ` {"a":[1,{"b":2}]} x`, `{"a":1}{"a":1}`, `{"a":[1,2`, `{"a":1e999}`, `{"a" 1}`, `[1,]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sameObject(t, b)
		err := strictjson.Check(b)
		if !json.Valid(b) {
			if err == nil {
				t.Fatalf("got %q accepted, want it rejected", b)
			}
			return
		}
		depth, repeated := reference(b)
		if accepted := err == nil; accepted && (depth > strictjson.MaxDepth || repeated) {
			t.Fatalf("got %q accepted at depth %d, repeated %v", b, depth, repeated)
		} else if !accepted && depth <= strictjson.MaxDepth && !repeated && bytes.Equal(bytes.ToValidUTF8(b, nil), b) && !bytes.Contains(bytes.ToLower(b), []byte(`\ud`)) && !strings.HasPrefix(err.Error(), "has a number ") && !strings.HasPrefix(err.Error(), "has an object ") {
			t.Fatalf("got %q rejected: %v", b, err) // an escaped half of a surrogate pair is no valid text
		}
	})
}

// sameObject compares the reading in one pass with Unmarshal, which checks first.
func sameObject(t *testing.T, b []byte) {
	t.Helper()
	var want map[string]any
	refused := strictjson.Unmarshal(b, &want)
	if refused == nil && want == nil { // null is no object
		refused = errors.New("must be an object")
	}
	got, err := strictjson.Object(b)
	if fmt.Sprint(err) != fmt.Sprint(refused) || refused == nil && !cmp.Equal(got, want) {
		t.Fatalf("%q: got %v (%v), want %v (%v)", b, got, err, want, refused)
	}
}

// reference measures depth and repetition the slow way, by the standard
// library's tokens.
func reference(b []byte) (deepest int, repeated bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	type level struct {
		keys map[string]bool
		key  bool
	}
	var open []*level
	value := func() {
		if n := len(open); n > 0 && open[n-1].keys != nil {
			open[n-1].key = true
		}
	}
	for {
		token, err := d.Token()
		if err != nil {
			return deepest, repeated
		}
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{':
				open = append(open, &level{keys: map[string]bool{}, key: true})
			case '[':
				open = append(open, &level{})
			default:
				open = open[:len(open)-1]
				value()
			}
			deepest = max(deepest, len(open))
		case string:
			if n := len(open); n > 0 && open[n-1].key {
				repeated = repeated || open[n-1].keys[token]
				open[n-1].keys[token], open[n-1].key = true, false
				continue
			}
			value()
		default:
			value()
		}
	}
}

// object is one of n members.
func object(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":{"k":1}`, i)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestLargestObjectIsAccepted(t *testing.T) {
	if err := strictjson.Check([]byte("[" + object(1000) + "," + object(1000) + "]")); err != nil {
		t.Error(err)
	}
}

// A refusal costs little, however many members follow.
func TestRefusalOfManyMembersIsCheap(t *testing.T) {
	few, many := []byte(object(1001)), []byte(object(20_000))
	cost := func(b []byte) float64 { return testing.AllocsPerRun(5, func() { _ = strictjson.Check(b) }) }
	if a, b := cost(few), cost(many); b > a+10 {
		t.Errorf("got %v allocations for 20,000 members and %v for 1,001, want as many", b, a)
	}
}
