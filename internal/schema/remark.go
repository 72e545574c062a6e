package schema

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"countersign.dev/internal/fault"
)

// dates is the format `date` for the years in which something can have happened
// or will: stores and clients disagree on what the years 0 and 1 are.
var dates = &jsonschema.Format{Name: "date", Validate: func(v any) error {
	if text, ok := v.(string); ok && !isDate(text) {
		return errors.New("not a date")
	}
	return nil
}}

func isDate(text string) bool {
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && day.Year() >= firstYear && day.Year() <= lastYear
}

// The years of a date.
const (
	firstYear = 1900
	lastYear  = 2199
)

// IsUUID reports whether a text has the form of a UUID of any version.
func IsUUID(text string) bool {
	const shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(text) != len(shape) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		isHex := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
		if isHex != (shape[i] == 'x') || !isHex && c != '-' {
			return false
		}
	}
	return true
}

// anyUUID is the format `uuid` in any version: companies have ids that are older
// than RFC 4122's variants.
var anyUUID = &jsonschema.Format{Name: "uuid", Validate: func(v any) error {
	if text, ok := v.(string); ok && !IsUUID(text) {
		return errors.New("not a uuid")
	}
	return nil
}}

// remark describes a violation without repeating the value, which may be long or
// secret: to who typed it and, where detail is not empty, to programs with the format
// or pattern.
func remark(k jsonschema.ErrorKind) (wrong, detail string) {
	switch k := k.(type) {
	case *kind.Format:
		if k.Want == dates.Name {
			return fmt.Sprintf("is not a valid date (YYYY-MM-DD, of the years %d to %d)", firstYear, lastYear), ""
		}
		return "is not an id", "is not a valid " + k.Want
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got), ""
	case *kind.Enum:
		return fmt.Sprintf("must be one of %s", quoted(k.Want)), ""
	case *kind.Pattern:
		return "is not written as it should be", "does not match " + k.Want
	case *kind.Minimum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("must be at least %v", f), ""
	case *kind.Maximum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("must be at most %s", plainNumber(f)), ""
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s", characters(k.Want)), ""
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s", characters(k.Want)), ""
	}
	return clip(k.LocalizedString(message.NewPrinter(language.English))), ""
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func plainNumber(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", f), ".00") }

func quoted(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

func join(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

// maxShown bounds a text that the caller chose, in an error.
const maxShown = 80

func clip(text string) string { return fault.Clip(text, maxShown) }
