package schema

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign.dev/internal/flat"
)

// notes are the keywords that allow and forbid nothing.
var notes = []string{"DraftVersion", "Location", "ID", "Title", "Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated"}

// hasOnly reports whether a schema has no other keywords than these.
func hasOnly(s *jsonschema.Schema, keywords ...string) bool {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.IsExported() && !v.Field(i).IsZero() && !slices.Contains(notes, field.Name) && !slices.Contains(keywords, field.Name) {
			return false
		}
	}
	return s.DraftVersion == 2020
}

// flatOf reads the usual arguments without the validator, which decides about all others.
// It is nil for a schema of other keywords than the usual ones. A field of them is left
// out: arguments that have it are not usual.
func flatOf(s *jsonschema.Schema, longTexts bool) *flat.Object {
	if !hasOnly(s, "Types", "Required", "Properties", "AdditionalProperties") || typeOf(s) != "object" {
		return nil
	}
	var fields []flat.Field
	required := 0
	for name, property := range s.Properties {
		if f, ok := flatFieldOf(property, longTexts); ok {
			f.Name = name
			if f.Required = slices.Contains(s.Required, name); f.Required {
				required++
			}
			fields = append(fields, f)
		}
	}
	if required < len(s.Required) {
		return nil
	}
	return flat.New(fields)
}

// typeOf is the one type of a schema, or nothing.
func typeOf(s *jsonschema.Schema) string {
	if s.Types == nil || len(s.Types.ToStrings()) != 1 {
		return ""
	}
	return s.Types.ToStrings()[0]
}

func flatFieldOf(s *jsonschema.Schema, longTexts bool) (f flat.Field, ok bool) {
	switch kind := typeOf(s); {
	case kind == "boolean" && hasOnly(s, "Types"):
		return flat.Field{Kind: flat.Truth}, true
	case (kind == "integer" || kind == "number") && hasOnly(s, "Types", "Minimum", "Maximum") && whole(s.Minimum) && whole(s.Maximum):
		return flat.Field{Kind: flat.Whole, Accepts: numbersOf(s)}, true
	case kind == "string" && hasOnly(s, "Types", "MinLength", "MaxLength", "Pattern", "Format", "Enum"):
		return flat.Field{Kind: flat.Text, Accepts: textsOf(s, longTexts)}, true
	}
	return f, false
}

func whole(bound *big.Rat) bool { return bound == nil || bound.IsInt() && bound.Num().IsInt64() }

// numbersOf reports of a number whether it is within its bounds.
func numbersOf(s *jsonschema.Schema) func(flat.Value) bool {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if s.Minimum != nil {
		least = s.Minimum.Num().Int64()
	}
	if s.Maximum != nil {
		most = s.Maximum.Num().Int64()
	}
	return func(v flat.Value) bool { return v.Int >= least && v.Int <= most }
}

// textsOf reports of a text whether it is one that the schema takes, and any store.
func textsOf(s *jsonschema.Schema, longTexts bool) func(flat.Value) bool {
	shortest, longest := 0, math.MaxInt
	if s.MinLength != nil {
		shortest = *s.MinLength
	}
	if !longTexts {
		longest = maxText
	}
	if s.MaxLength != nil {
		longest = *s.MaxLength
	}
	format, oneOf := formatOf(s.Format), textsIn(s.Enum)
	return func(v flat.Value) bool {
		if shortest > 0 || len(v.Text) > longest {
			if n := utf8.RuneCountInString(v.Text); n < shortest || n > longest {
				return false
			}
		}
		return strings.IndexByte(v.Text, 0) < 0 && (s.Pattern == nil || s.Pattern.MatchString(v.Text)) &&
			format(v.Text) && (oneOf == nil || slices.Contains(oneOf, v.Text))
	}
}

// textsIn are the texts of an enum; nil without one.
func textsIn(enum *jsonschema.Enum) (texts []string) {
	if enum == nil {
		return nil
	}
	texts = []string{}
	for _, value := range enum.Values {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// formatOf is what checks a format; our own ones take a text as it is.
func formatOf(f *jsonschema.Format) func(text string) bool {
	switch f {
	case nil:
		return func(string) bool { return true }
	case anyUUID:
		return IsUUID
	case dates:
		return isDate
	}
	return func(text string) bool { return f.Validate(text) == nil }
}
