package tool

import (
	"reflect"

	"countersign.dev/internal/access"
)

// PlanOf returns what masks values of a row's type in place.
func PlanOf(p access.Policy, row any) (func(who *access.Principal, rows any), error) {
	made, err := (&planner{policy: p}).plan(reflect.TypeOf(row))
	return func(who *access.Principal, rows any) { made.apply(who, reflect.ValueOf(rows)) }, err
}
