package rest

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/strictjson"
)

// unwrap takes the input out of a REST body: {"input": {…}, "userContext": {…}},
// or the bare input with userContext beside its fields. A body that is no
// object is BAD_REQUEST.
func unwrap(body []byte) (input, userContext json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, nil, fault.BadRequest.New("The body is not a JSON object.")
	}
	userContext, beside := fields["userContext"]
	delete(fields, "userContext")
	if inner, wrapped := fields["input"]; wrapped && len(fields) == 1 && inner[0] == '{' {
		return inner, userContext, nil
	}
	if !beside {
		return body, nil, nil
	}
	input, err = json.Marshal(fields)
	return input, userContext, err
}

var paramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,99}$`)

// inputOf makes an input of query parameters. A value gets the type that the
// tool's schema gives its field; where the schema does not say, digits are a
// number and repeated names are a list.
func inputOf(query url.Values, schema json.RawMessage) (json.RawMessage, error) {
	var s struct {
		Properties map[string]struct{ Type any }
	}
	_ = json.Unmarshal(schema, &s) // without one, values are typed by their form
	types := make(map[string]string, 2*len(s.Properties))
	for name, property := range s.Properties {
		declared, _ := property.Type.(string)
		types[name], types[result.Camel(name)] = declared, declared
	}
	input := make(map[string]any, len(query))
	for name, values := range query {
		if !paramName.MatchString(name) {
			return nil, fault.BadRequest.New("A parameter's name is a letter and up to 99 letters, digits, _, . or -.")
		}
		kind := types[name]
		list := make([]any, len(values))
		for i, v := range values {
			if !utf8.ValidString(v) {
				return nil, fault.BadRequest.New("The parameter %s is not valid UTF-8.", name)
			}
			list[i] = typed(v, kind)
		}
		input[name] = list
		if len(list) == 1 && kind != "array" {
			input[name] = list[0]
		}
	}
	return json.Marshal(input)
}

// safeInteger is the greatest integer that every JSON reader keeps exactly.
const safeInteger = 1<<53 - 1

func typed(text, kind string) any {
	switch kind {
	case "string":
		return text
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
			return b
		}
	case "number", "integer":
		if strings.ContainsAny(text[:min(len(text), 1)], "-0123456789") && strictjson.Check([]byte(text)) == nil {
			return json.RawMessage(text)
		}
	default:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= safeInteger && text[0] != '+' {
			return n
		}
	}
	return text
}
