package tool_test

import (
	"context"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

type bare struct {
	Salary access.Sensitive[int] `json:"salary" mask:"pay"`
}

func (bare) Key() int               { return 0 }
func (bare) Message() tool.Sentence { return tool.Sentence{} }

type leaky struct {
	Salary   access.Sensitive[int] `json:"salary"`
	Relation access.Relation       `json:"-"`
}

// The types below hold sensitive values where no plan reaches them.
type (
	inMap      struct{ Rows map[string]*masked }
	inLists    struct{ Pages map[string][]map[int]masked }
	valuesOnly struct{ Salaries []access.Sensitive[int] }
	pointed    struct{ Salary *access.Sensitive[int] }
	anything   struct{ Rows []any }
	embedded   struct{ ByName }
	ByName     map[string]masked
	branch     struct{ Below map[string]branch } // holds none, and itself
)

type masked struct {
	Phone    string          `json:"phone" mask:"pay"`
	Relation access.Relation `json:"-"`
}

type oddClass struct {
	Salary   string          `json:"salary" mask:"wages"`
	Relation access.Relation `json:"-"`
}

// tree is a recursive type.
type tree struct {
	testkit.Note
	Below []tree `json:"below"`
}

type greedy struct {
	Limit int `json:"limit"`
}

func read[Out any](s tool.Spec) tool.Tool {
	return tool.Read(s, func(context.Context, struct{}) (out Out, err error) { return out, nil })
}

// TestIncompleteDeclarationsDoNotStart: a runner refuses an incomplete declaration.
func TestIncompleteDeclarationsDoNotStart(t *testing.T) {
	whole := func() tool.Spec {
		return tool.Spec{Name: "get_x", Title: "X", Description: "Shows x.", Allow: []access.Role{access.Employee}, Noun: "xs"}
	}
	spec := func(change func(*tool.Spec)) tool.Spec { s := whole(); change(&s); return s }
	steps := tool.Steps[struct{}, bare, int, testkit.Note]{
		Preview: func(context.Context, struct{}) (bare, int, error) { return bare{}, 0, nil },
	}
	list := func(context.Context, greedy, tool.Window[int]) ([]testkit.Note, error) { return nil, nil }
	for name, c := range map[string]struct {
		tool tool.Tool
		want string
	}{
		"no roles":                 {read[testkit.Note](spec(func(s *tool.Spec) { s.Allow = nil })), "allows no role"},
		"no description":           {read[testkit.Note](spec(func(s *tool.Spec) { s.Description = "" })), "needs a title and a description"},
		"a bad name":               {read[testkit.Note](spec(func(s *tool.Spec) { s.Name = "Get-X" })), "needs a name"},
		"an input's name":          {read[testkit.Note](spec(func(s *tool.Spec) { s.Narrow = "entity_type" })), "has the name of an input"},
		"rows without pages":       {read[[]testkit.Note](whole()), "rows are for lists"},
		"a text that is not there": {read[tree](spec(func(s *tool.Spec) { s.Untrusted = []string{"text", "sub_title"} })), "calls sub_title untrusted"},
		"an envelope as output":    {read[result.Envelope](whole()), "must not build an envelope"},
		"a write without apply":    {tool.Write(whole(), steps), "needs a preview and an apply"},
		"sensitive, no relation":   {read[bare](whole()), "no field of type access.Relation"},
		"sensitive, no class":      {read[leaky](whole()), "needs a mask tag"},
		"sensitive, in a map":      {read[inMap](whole()), "needs a mask tag"},
		"sensitive, in lists":      {read[inLists](whole()), "needs a mask tag"},
		"sensitive, in a list":     {read[valuesOnly](whole()), "needs a mask tag"},
		"sensitive, by pointer":    {read[pointed](whole()), "needs a mask tag"},
		"sensitive, embedded":      {read[embedded](whole()), "needs a mask tag"},
		"sensitive, perhaps":       {read[anything](whole()), "needs a mask tag"},
		"an undeclared class":      {read[oddClass](whole()), `declares no class of fields "wages"`},
		"an undeclared role":       {read[testkit.Note](spec(func(s *tool.Spec) { s.Allow = []access.Role{"payroll"} })), "allows payroll, a role that the domain does not declare"},
		"the kernel's own fields":  {tool.List(whole(), list), "belongs to the kernel"},
		"a list without a noun":    {tool.List(spec(func(s *tool.Spec) { s.Noun = "" }), func(context.Context, struct{}, tool.Window[int]) ([]testkit.Note, error) { return nil, nil }), "a noun for its rows"},
	} {
		policy := testkit.NewFakeDomain().Policy()
		policy.Classes = append(policy.Classes, access.Class{Name: "pay"})
		_, err := tool.NewRunner([]tool.Tool{c.tool}, tool.Options{Server: "x", Policy: policy, Audit: &testkit.MemorySink{}, Cursors: ring(t), Confirmations: &confirm.Service{}, Receipts: tool.OneStore(testkit.NewFakeDomain())})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestMapsWithoutSensitiveValuesStart, and what no domain's class can be in.
func TestMapsWithoutSensitiveValuesStart(t *testing.T) {
	spec := tool.Spec{Name: "get_x", Title: "X", Description: "Shows x.", Allow: []access.Role{access.Employee}}
	withClass := access.Policy{Classes: []access.Class{{Name: "pay"}}}
	for name, c := range map[string]struct {
		tool   tool.Tool
		policy access.Policy
	}{
		"a map of rows":        {read[branch](spec), withClass},
		"any, without a class": {read[anything](spec), access.Policy{}},
	} {
		if _, err := tool.NewRunner([]tool.Tool{c.tool}, tool.Options{Server: "x", Policy: c.policy, Audit: &testkit.MemorySink{}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaultyPolicyDoesNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		classes []access.Class
		want    string
	}{
		"a class twice":           {[]access.Class{{Name: "pay"}, {Name: "phone"}, {Name: "pay"}}, `"pay" has no name or is declared twice`},
		"a class without a name":  {[]access.Class{{}}, `"" has no name`},
		"visible to every caller": {[]access.Class{{Name: "pay", Relations: []access.Relation{access.Other}}}, `"pay" is visible without a relation`},
	} {
		_, err := tool.NewRunner(nil, tool.Options{Server: "x", Policy: access.Policy{Classes: c.classes}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
