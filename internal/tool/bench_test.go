package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// The question: what does the kernel itself cost per call, all policies on (role,
// schema with formats, deadline, masks, sealed cursor, audit), as a multiple of
// calling the same trivial handler and encoding what it returns? `audited` writes
// its record to a real hash-chained log on disk; the others keep it in memory, so
// that the difference is the log.

// clerk is a row with one field of each masked form.
type clerk struct {
	EmployeeID string                    `json:"employee_id" jsonschema:"format=uuid"`
	FirstName  string                    `json:"first_name"`
	LastName   string                    `json:"last_name"`
	Email      string                    `json:"email" mask:"contact,mailbox"`
	Phone      string                    `json:"phone" mask:"phone,last4"`
	Salary     access.Sensitive[float64] `json:"salary" mask:"pay"`
	Department string                    `json:"department"`
	HireDate   string                    `json:"hire_date" jsonschema:"format=date"`
	Relation   access.Relation           `json:"-"`
}

// Key orders lists.
func (c clerk) Key() string { return c.EmployeeID }

func newClerk(i int) clerk {
	return clerk{
		EmployeeID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i), FirstName: "Ada", LastName: "Lovelace", Email: "ada@example.com",
		Phone: "555-0101", Salary: access.NewSensitive(145_000.0), Department: "Engineering", HireDate: "2020-02-29",
	}
}

type clerkInput struct {
	EmployeeID string `json:"employee_id" jsonschema:"format=uuid"`
}

type clerksInput struct {
	Department string `json:"department,omitempty" jsonschema:"maxLength=100"`
}

const (
	oneClerk  = `{"employee_id":"00000000-0000-0000-0000-000000000001"}`
	allClerks = `{"department":"Engineering"}`
)

func getClerk(context.Context, clerkInput) (clerk, error) { return newClerk(1), nil }

func listClerks(_ context.Context, _ clerksInput, w tool.Window[string]) ([]clerk, error) {
	rows := make([]clerk, w.Limit)
	for i := range rows {
		rows[i] = newClerk(i)
	}
	return rows, nil
}

func clerkRunner(b *testing.B, sink audit.Sink) *tool.Runner {
	b.Helper()
	everyone := []access.Role{access.Employee}
	r, err := tool.NewRunner([]tool.Tool{
		tool.Read(tool.Spec{Name: "get_clerk", Title: "Get", Description: "Gets.", Allow: everyone}, getClerk),
		tool.List(tool.Spec{Name: "list_clerks", Title: "List", Description: "Lists.", Allow: everyone, Noun: "clerks"}, listClerks),
	}, tool.Options{Server: "bench", Policy: classes, Cursors: ring(b), Audit: sink})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

var classes = access.Policy{Classes: []access.Class{{Name: "contact"}, {Name: "phone"}, {Name: "pay", Roles: []access.Role{access.Executive}}}}

// discardSink keeps no event.
type discardSink struct{}

func (discardSink) Append(context.Context, audit.Event) error { return nil }

func BenchmarkCall(b *testing.B) {
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit.jsonl"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for _, t := range []struct{ name, input string }{{"get_clerk", oneClerk}, {"list_clerks", allClerks}} {
		b.Run(t.name+"/floor", func(b *testing.B) { benchDirect(b, t.name) })
		b.Run(t.name+"/kernel", func(b *testing.B) { benchKernel(b, clerkRunner(b, discardSink{}), t.name, t.input) })
		b.Run(t.name+"/audited", func(b *testing.B) { benchKernel(b, clerkRunner(b, log), t.name, t.input) })
	}
}

// benchDirect reads the input, calls the handler and encodes what it returns.
func benchDirect(b *testing.B, name string) {
	b.ReportAllocs()
	for b.Loop() {
		var out any
		var err error
		if name == "get_clerk" {
			var in clerkInput
			_ = json.Unmarshal([]byte(oneClerk), &in)
			out, err = getClerk(b.Context(), in)
		} else {
			var in clerksInput
			_ = json.Unmarshal([]byte(allClerks), &in)
			out, err = listClerks(b.Context(), in, tool.Window[string]{Limit: tool.MaxPage})
		}
		if err == nil {
			_, err = json.Marshal(out)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchKernel(b *testing.B, r *tool.Runner, name, input string) {
	ctx := testkit.As(b, "ann", access.Employee)
	raw := json.RawMessage(input)
	b.ReportAllocs()
	for b.Loop() {
		o := r.Call(ctx, name, raw)
		if o.Fault() != nil {
			b.Fatal(o.Fault())
		}
		_ = r.Encode(o)
	}
}

// BenchmarkMask asks what masking a page of rows costs, against copying it.
func BenchmarkMask(b *testing.B) {
	plan, err := tool.PlanOf(classes, clerk{})
	if err != nil {
		b.Fatal(err)
	}
	ann, rows := testkit.Person("ann", access.Employee), make([]clerk, tool.MaxPage)
	page := slices.Repeat([]clerk{newClerk(1)}, len(rows))
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			copy(rows, page)
		}
	})
	b.Run("masked", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			copy(rows, page)
			plan(ann, &rows)
		}
		if rows[0].Phone == page[0].Phone {
			b.Fatal("nothing was masked")
		}
	})
}
