package tool

import (
	"encoding/json"
	"errors"
	"strings"

	"countersign.dev/internal/fault"
)

// into reads values that the schema accepts into their Go type. An integer that
// has no maximum and is too large for its type is the caller's error.
func into(values json.RawMessage, v any) error {
	err := json.Unmarshal(values, v)
	var unfit *json.UnmarshalTypeError
	if errors.As(err, &unfit) && strings.HasPrefix(unfit.Value, "number") {
		return fault.ValidationError.New("Invalid input parameters").Suggest("%s: is out of range", unfit.Field)
	}
	return err
}
