package tool_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// every is an input with a field of every kind that is read in one walk, and of some
// that are not.
type every struct {
	everyName
	ID      string   `json:"id,omitempty" jsonschema:"format=uuid"`
	TaskID  int64    `json:"task_id,omitempty" jsonschema:"minimum=-5"`
	UserId  string   `json:"userId,omitempty"` //nolint:revive,staticcheck // names of both spellings are ids
	Colour  colour   `json:"colour,omitempty" jsonschema:"enum=red,enum=green,default=red"`
	Depth   int      `json:"max_depth,omitempty" jsonschema:"minimum=1,maximum=10,default=10"`
	Share   float64  `json:"share,omitempty" jsonschema:"minimum=0"`
	Deep    bool     `json:"deep,omitempty" jsonschema:"default=true"`
	Day     string   `json:"day,omitempty" jsonschema:"format=date"`
	Parent  *int64   `json:"parent,omitempty" jsonschema:"oneof_type=integer;null"`
	Tags    []string `json:"tags,omitempty"`
	Reason  string   `json:"reason,omitempty" jsonschema:"maxLength=5000" text:"lines"`
	Odd     string   `json:"a<b,omitempty"`
	Ignored string   `json:"-"`
}

type colour string

type everyName struct {
	Name string `json:"name,omitempty" jsonschema:"minLength=1,maxLength=20"`
}

// shouted is read by itself: in capitals.
type shouted struct {
	Word shout `json:"word" jsonschema:"maxLength=9"`
}

type shout string

func (s *shout) UnmarshalText(text []byte) error {
	*s = shout(strings.ToUpper(string(text)))
	return nil
}

// nested has a field with fields, whose schema is no plain one.
type nested struct {
	everyName `json:"inner,omitempty"`
	Word      string `json:"word"`
}

// paged has filters beside the inputs of a page.
type paged struct {
	Department string `json:"department,omitempty" jsonschema:"maxLength=100"`
	After      string `json:"after_id,omitempty"`
}

// readers is a runner with a tool of each kind of input.
func readers(t testing.TB) *tool.Runner {
	t.Helper()
	spec := func(name string) tool.Spec {
		return tool.Spec{Name: name, Title: "Read", Description: "Reads.", Noun: "rows", Allow: []access.Role{access.Employee}}
	}
	r, err := tool.NewRunner([]tool.Tool{
		tool.Read(spec("every"), func(_ context.Context, in every) (every, error) { return in, nil }),
		tool.Edit(spec("edited"), func(_ context.Context, in every) (every, error) { return in, nil }),
		tool.Read(spec("shouted"), func(_ context.Context, in shouted) (shouted, error) { return in, nil }),
		tool.Read(spec("nested"), func(_ context.Context, in nested) (nested, error) { return in, nil }),
		tool.List(spec("paged"), func(context.Context, paged, tool.Window[string]) ([]clerk, error) { return nil, nil }),
		tool.Offsets(spec("counted"), func(context.Context, paged, tool.OffsetWindow) ([]clerk, int, error) { return nil, 0, nil }),
	}, tool.Options{Server: "readers", Policy: classes, Cursors: ring(t), Audit: &testkit.MemorySink{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var readerNames = []string{"every", "edited", "shouted", "nested", "paged", "counted"}

// usualInputs are read in one walk, each by the tool whose name it follows.
var usualInputs = map[string][]string{
	"every": {
		`{}`, `{"id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","task_id":-5,"userId":"u7","colour":"green","max_depth":1,"share":3,"deep":false,"day":"2026-02-28"}`,
		` { "name" : "<Zoë> & \"co\"" , "reason" : "two\nlines 😀" , "userId":"no id" } `, `{"a<b":"x","reason":"\u2028\u007f"}`,
	},
	"edited":  {`{"reason":"two\nlines","name":"Zoë"}`},
	"paged":   {`{}`, `{"limit":5,"cursor":"abc","department":"HR","after_id":"x1"}`, `{"department":"HR"}`},
	"counted": {`{"limit":1000,"offset":7}`, `{"after_id":"2"}`},
	"nested":  {`{"word":"x"}`},
	"shouted": {`{"word":"quiet"}`},
}

// TestUsualInputsAreReadInOneWalk: the walk understands what tools are mostly given, and
// makes of it what the validator and encoding/json do.
func TestUsualInputsAreReadInOneWalk(t *testing.T) {
	r := readers(t)
	for name, inputs := range usualInputs {
		for _, input := range inputs {
			_, understood, typed := tool.Walked(r, name, []byte(input))
			if byItself := name == "shouted" || name == "nested"; !understood || typed == byItself {
				t.Errorf("%s %s: read in one walk: %v, into its type: %v", name, input, understood, typed)
			}
			sameAdmission(t, r, name, []byte(input))
		}
	}
	for _, unusual := range []string{`{"parent":1}`, `{"tags":["x"]}`, `{"max_depth":1.0}`, `{"max_depth":11}`, `{"name":""}`, `{"Name":"x"}`, `{"more":1}`} {
		if _, understood, _ := tool.Walked(r, "every", []byte(unusual)); understood {
			t.Errorf("%s: read in one walk", unusual)
		}
	}
	if _, understood, _ := tool.Walked(r, "edited", []byte(`{"name":"a\u202eb"}`)); understood {
		t.Error("a text that shows less than it holds was accepted for a change")
	}
}

// sameAdmission fails unless an input that is read in one walk is accepted by the
// validator, and both make the same of it.
func sameAdmission(t testing.TB, r *tool.Runner, name string, input []byte) {
	t.Helper()
	walked, understood, typed := tool.Walked(r, name, input)
	if !understood {
		return
	}
	checked, err := tool.Checked(testkit.As(t, "ann", access.Employee), r, name, input)
	if err != nil {
		t.Fatalf("%s %s: read in one walk, and the validator says %v", name, input, fault.From(err).Logged())
	}
	if !typed {
		walked.Value = checked.Value
	}
	if !reflect.DeepEqual(walked, checked) {
		t.Fatalf("%s %s:\n in one walk %+v, %+v\n   validator %+v, %+v", name, input, walked, walked.Value, checked, checked.Value)
	}
}

// FuzzReader: see sameAdmission.
func FuzzReader(f *testing.F) {
	r := readers(f)
	for at, name := range readerNames {
		for _, input := range usualInputs[name] {
			f.Add(at, []byte(input))
		}
	}
	f.Fuzz(func(t *testing.T, at int, input []byte) {
		if at >= 0 {
			sameAdmission(t, r, readerNames[at%len(readerNames)], input)
		}
	})
}

// TestInputIsReadInFewAllocations: the texts, the canonical form, the value, and the call.
func TestInputIsReadInFewAllocations(t *testing.T) {
	r, input := readers(t), json.RawMessage(`{"id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","max_depth":3,"name":"Ada"}`)
	if n := testing.AllocsPerRun(100, func() { tool.Walked(r, "every", input) }); n > 5 { // 5: what the test itself needs
		t.Errorf("%v allocations", n)
	}
}
