package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

type boatInput struct {
	Year int    `json:"year" field:"show=year,aka=season"`
	Name string `json:"name" field:"all=*,like=B-1,self"`
}

type boat struct {
	Price  float64 `json:"price" field:"label=Cost,unit=EUR,amount"`
	Status string  `json:"status" field:"aka.sold=gone|taken"`
	Sails  []sail  `json:"sails"`
	Plain  string  `json:"plain"`
}

type sail struct {
	Price float64 `json:"price" field:"unit=USD"`
	Area  float64 `json:"area" field:"unit=m2"`
	Next  *sail   `json:"next"`
}

func boats[Out any](synonyms ...string) tool.Tool {
	return tool.Read(tool.Spec{Name: "get_boat", Title: "T", Description: "D.", Allow: []access.Role{"employee"}, Synonyms: synonyms},
		func(context.Context, boatInput) (o Out, err error) { return o, nil })
}

func TestMetadataIsReadFromTheDeclaration(t *testing.T) {
	r, err := tool.NewRunner([]tool.Tool{boats[boat]("ship", "yacht")}, tool.Options{Server: "harbour", Audit: &testkit.MemorySink{}})
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Fields{
		Synonyms: []string{"ship", "yacht"},
		Input:    map[string]result.Field{"year": {Show: "year", Synonyms: []string{"season"}}, "name": {All: "*", Like: "B-1", Self: true}},
		Output: map[string]result.Field{
			"price":  {Label: "Cost", Unit: "EUR", Amount: true},
			"status": {Values: map[string][]string{"sold": {"gone", "taken"}}},
			"area":   {Unit: "m2"},
		},
	}
	if diff := cmp.Diff(want, r.Visible(catalogue())[0].Fields); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestWrongFieldTagStopsTheProgram(t *testing.T) {
	type wrong struct {
		Price float64 `json:"price" field:"units=EUR"`
	}
	_, err := tool.NewRunner([]tool.Tool{boats[wrong]()}, tool.Options{Server: "harbour", Audit: &testkit.MemorySink{}})
	if err == nil || !strings.Contains(err.Error(), `units=EUR`) {
		t.Errorf("got %v", err)
	}
}

func TestLacksAreExpressions(t *testing.T) {
	said := func(expression string) []tool.Tool {
		return []tool.Tool{tool.Read(tool.Spec{Name: "get_boat", Title: "T", Description: "D.", Allow: []access.Role{"employee"}, Lacks: []tool.Lack{{Said: expression, Tell: "No boat is sold"}}},
			func(context.Context, boatInput) (o boat, err error) { return o, nil })}
	}
	r, err := tool.NewRunner(said(`^sell\b`), tool.Options{Server: "harbour", Audit: &testkit.MemorySink{}})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]string{"sell the boat": "No boat is sold", "who sells boats": ""} {
		if got := r.Visible(catalogue())[0].Fields.Lacking()(question); got != want {
			t.Errorf("%q: told %q, not %q", question, got, want)
		}
	}
	if _, err := tool.NewRunner(said(`sell(`), tool.Options{Server: "harbour", Audit: &testkit.MemorySink{}}); err == nil || !strings.Contains(err.Error(), `lack "No boat is sold"`) {
		t.Errorf("got %v", err)
	}
}
