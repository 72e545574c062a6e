package tool

import (
	"context"
	"reflect"

	"countersign.dev/internal/access"
)

// PlanOf returns what masks values of a row's type in place.
func PlanOf(p access.Policy, row any) (func(who *access.Principal, rows any), error) {
	made, err := (&planner{policy: p}).plan(reflect.TypeOf(row))
	return func(who *access.Principal, rows any) { made.apply(who, reflect.ValueOf(rows)) }, err
}

// Admission is what a runner made of an input.
type Admission struct {
	Input, Rows string
	Window      any
	Value       any
}

// Walked is what one walk over an input made of it, if it was understood.
func Walked(r *Runner, tool string, input []byte) (a Admission, understood, typed bool) {
	g, understood := r.byName[tool].reader.read(input)
	return Admission{string(g.input), g.rows, g.window, g.typed}, understood, g.typed != nil
}

// Checked is what the validator made of an input.
func Checked(ctx context.Context, r *Runner, tool string, input []byte) (a Admission, err error) {
	who, err := access.From(ctx)
	if err != nil {
		return a, err
	}
	slow := *r.byName[tool]
	slow.reader = nil
	c, err := (&Runner{opts: r.opts, byName: map[string]*mounted{tool: &slow}}).admit(ctx, who, tool, input)
	if err != nil {
		return a, err
	}
	value := reflect.New(slow.input).Interface()
	return Admission{string(c.input), c.rows, c.window, value}, into(c.input, value)
}
