package schema

import "regexp"

// negating are the keywords under which a schema that accepts more makes the whole accept less.
var negating = map[string]bool{"not": true, "if": true, "oneOf": true, "maxContains": true}

// notSchemas are the keywords of values that are no schemas.
var notSchemas = map[string]bool{"enum": true, "const": true, "default": true, "examples": true}

// withoutForeignPatterns takes the patterns out of a schema that are not of this language, as
// lookaheads are, and returns them: the rest can be checked without them. Where they may decide
// what is rejected elsewhere, the schema stays as it is.
func withoutForeignPatterns(schema any) (left []string) {
	if negates(schema) {
		return nil
	}
	eachObject(schema, func(object map[string]any) {
		pattern, ok := object["pattern"].(string)
		if !ok {
			return
		}
		if _, err := regexp.Compile(pattern); err != nil {
			delete(object, "pattern")
			left = append(left, pattern)
		}
	})
	return left
}

func negates(schema any) (found bool) {
	eachObject(schema, func(object map[string]any) {
		for keyword := range object {
			found = found || negating[keyword]
		}
	})
	return found
}

// eachObject visits the objects of a schema that may be schemas.
func eachObject(value any, visit func(map[string]any)) {
	switch v := value.(type) {
	case []any:
		for _, child := range v {
			eachObject(child, visit)
		}
	case map[string]any:
		visit(v)
		for keyword, child := range v {
			if !notSchemas[keyword] {
				eachObject(child, visit)
			}
		}
	}
}
