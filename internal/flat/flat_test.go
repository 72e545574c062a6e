package flat_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"countersign.dev/internal/flat"
)

var fields = []flat.Field{
	{Name: "word", Kind: flat.Text, Required: true, Accepts: func(v flat.Value) bool { return v.Text != "no" }}, {Name: "count", Kind: flat.Whole}, {Name: "on", Kind: flat.Truth}, {Name: "<", Kind: flat.Text},
}

type bound struct {
	Word  string  `json:"word"`
	Count float64 `json:"count"`
	On    bool    `json:"on"`
	Other []int   `json:"other"`
	inner
}

type inner struct {
	Less string `json:"<"`
}

type loud string

func (l *loud) UnmarshalText(text []byte) error {
	*l = loud(strings.ToUpper(string(text)))
	return nil
}

// TestObjectIsReadAndSet: the canonical form is that of a map, and the values are those
// that encoding/json decodes from it.
func TestObjectIsReadAndSet(t *testing.T) {
	o := flat.New(fields)
	binding, values := o.Bind(reflect.TypeFor[bound]()), make([]flat.Value, len(fields))
	for _, text := range []string{`{"word":"a"}`, ` { "on" : true , "word" : "é\u00e9\n<>&" , "count" : -12 , "<" : "x" } `, `{"count":999999999999999,"on":false,"word":"\/\"\\"}`} {
		var tree map[string]any
		want := bound{}
		if err := json.Unmarshal([]byte(text), &tree); err != nil || json.Unmarshal([]byte(text), &want) != nil {
			t.Fatal(err)
		}
		if number, ok := tree["count"].(float64); ok {
			tree["count"] = int64(number)
		}
		canonical, err := json.Marshal(tree)
		if err != nil || !o.Read(text, values) {
			t.Fatalf("%s: not read, %v", text, err)
		}
		if got := string(o.Append(nil, values)); got != string(canonical) {
			t.Errorf("%s: written as %s, want %s", text, got, canonical)
		}
		if got := binding.Set(values); !reflect.DeepEqual(got, &want) {
			t.Errorf("%s: set as %+v, want %+v", text, got, want)
		}
	}
}

// TestWhatIsNotFlatIsNotRead: wrong objects, and right ones that are left to a reader of
// all of JSON.
func TestWhatIsNotFlatIsNotRead(t *testing.T) {
	o, values := flat.New(fields), make([]flat.Value, len(fields))
	for _, text := range []string{
		``, `{`, `{}`, `[]`, `null`, `"word"`, `{"word":"a"`, `{"word":"a"}}`, `{"word":"a"},`, `{"word":"a",}`, `{,"word":"a"}`, `{"word":"a" "on":true}`, `{"word":"a","word":"a"}`,
		`{"word":"no"}`, `{"word":null}`, `{"word":1}`, `{"Word":"a"}`, `{"\u0077ord":"a"}`, `{"word":"a","more":1}`, `{"word":'a'}`, `{word:"a"}`, `{"word" "a"}`, "{\"word\":\"a\nb\"}", "{\"word\":\"\xff\"}", `{"word":"\ud800"}`, `{"word":"\x"}`, `{"word":"a\`,
		`{"word":"a","count":1.0}`, `{"word":"a","count":1e3}`, `{"word":"a","count":01}`, `{"word":"a","count":-0}`, `{"word":"a","count":-}`, `{"word":"a","count":- 1}`, `{"word":"a","count":+1}`, `{"word":"a","count":1000000000000000}`, `{"word":"a","count":"1"}`,
		`{"word":"a","on":True}`, `{"word":"a","on":truex}`, `{"word":"a","on":tru}`, `{"word":"a","on":1}`, "{\"word\":\"a\"}\v", "\ufeff{\"word\":\"a\"}",
	} {
		if o.Read(text, values) {
			t.Errorf("%q: read as %+v", text, values)
		}
	}
}

// TestTypesThatAreReadInOtherWaysAreNotBound: encoding/json would make something else of
// their canonical form.
func TestTypesThatAreReadInOtherWaysAreNotBound(t *testing.T) {
	for name, of := range map[string]reflect.Type{
		"no struct":   reflect.TypeFor[string](),
		"its own way": reflect.TypeFor[itself](),
		"a field of its own way": reflect.TypeFor[struct {
			Word loud `json:"word"`
		}](),
		"a pointer": reflect.TypeFor[struct {
			Word *string `json:"word"`
		}](),
		"another kind": reflect.TypeFor[struct {
			Count string `json:"count"`
		}](),
		"a smaller number": reflect.TypeFor[struct {
			Count int32 `json:"count"`
		}](),
		"a number in quotes": reflect.TypeFor[struct {
			Count int64 `json:"count,string"`
		}](),
		"two fields of a name": reflect.TypeFor[struct {
			A string `json:"word"`
			B string `json:"Word"`
		}](),
		"another spelling":    reflect.TypeFor[struct{ Word string }](),
		"an embedded pointer": reflect.TypeFor[struct{ *inner }](),
		"an embedded field of a name": reflect.TypeFor[struct {
			inner `json:"inner"`
		}](),
	} {
		if flat.New(fields).Bind(of) != nil {
			t.Errorf("%s: bound", name)
		}
	}
}

type itself struct {
	Word string `json:"word"`
}

func (i *itself) UnmarshalJSON([]byte) error { return nil }

// BenchmarkRead asks what it costs to read and check an object, write its canonical form
// and set a struct, against encoding/json for the struct alone.
func BenchmarkRead(b *testing.B) {
	const text = `{"word":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","count":12,"on":true}`
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v bound
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		o := flat.New(fields)
		binding, values, room := o.Bind(reflect.TypeFor[bound]()), make([]flat.Value, len(fields)), make([]byte, 0, 512)
		b.ReportAllocs()
		for b.Loop() {
			if !o.Read(text, values) {
				b.Fatal("not read")
			}
			room = o.Append(room[:0], values)
			_ = binding.Set(values)
		}
	})
}
