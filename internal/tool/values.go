package tool

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"countersign.dev/internal/fault"
)

// into reads values that the schema accepts into their Go type. An integer that
// has no maximum and is too large for its type is the caller's error.
func into(values json.RawMessage, v any) error {
	err := json.Unmarshal(values, v)
	var unfit *json.UnmarshalTypeError
	if errors.As(err, &unfit) && strings.HasPrefix(unfit.Value, "number") {
		return fault.WrongInputs(fault.Input{Field: unfit.Field, Wrong: "is out of range"}).Fields(unfit.Field)
	}
	return err
}

// messageIn finds the field `message` of an output, the sentence for people; nil when
// a type has none.
func messageIn(out reflect.Type) []int {
	for field := range fields(out) {
		if jsonName(field) == "message" && field.Type.Kind() == reflect.String {
			return field.Index
		}
	}
	return nil
}

// messageOf returns the message of an output, which may be behind pointers. A list has
// none.
func (m *mounted) messageOf(out any) string {
	v := reflect.ValueOf(out)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if m.message == nil || v.Kind() != reflect.Struct {
		return ""
	}
	return v.FieldByIndex(m.message).String()
}
