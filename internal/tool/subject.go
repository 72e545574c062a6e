package tool

import (
	"encoding/json"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// nameSubject adds to a fault's details the inputs that its code declares as its
// subject, in camelCase as document 000 has them: employee_id of an
// EMPLOYEE_NOT_FOUND becomes {"employeeId": …}. Inputs that were not given are
// left out, and details that the domain set stay.
func nameSubject(f *fault.Error, input json.RawMessage) {
	if f == nil || len(f.Code.Subject) == 0 {
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
