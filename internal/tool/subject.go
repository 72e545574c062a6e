package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// complete adds to a fault the inputs that it is about and the operation that failed, and
// replaces advice that its reader cannot follow.
func (r *Runner) complete(ctx context.Context, f *fault.Error, tool string, input json.RawMessage) {
	if f == nil {
		return
	}
	nameSubject(f, input)
	if f.Kind() == fault.Internal || f.Kind() == fault.Unavailable {
		f.With("operation", clip(tool))
	}
	if who, err := access.From(ctx); err == nil {
		r.adviseFor(who, f)
	}
}

// nameSubject adds to a fault's details the inputs that its code declares as its
// subject, in camelCase as document 000 has them: employee_id of an
// EMPLOYEE_NOT_FOUND becomes {"employeeId": …}. Inputs that were not given are
// left out, and details that the domain set stay.
func nameSubject(f *fault.Error, input json.RawMessage) {
	if len(f.Code.Subject) == 0 {
		return
	}
	var given map[string]any
	if json.Unmarshal(input, &given) != nil {
		return
	}
	for _, field := range f.Code.Subject {
		name := result.Camel(field)
		if _, set := f.Details[name]; !set && given[field] != nil {
			f.With(name, given[field])
		}
	}
}

// adviseFor replaces advice that sends a caller to a tool that they may not call: a
// model would follow it and be refused.
func (r *Runner) adviseFor(who *access.Principal, f *fault.Error) {
	f.Readvise(func(tool string) string {
		m := r.byName[tool]
		if m == nil || who.HasAny(m.spec.Allow...) {
			return ""
		}
		return fmt.Sprintf("Check what was given, or ask someone who can look it up: %s is for the roles %s.", tool, fault.List(roleNames(m.spec.Allow), ", "))
	})
}
