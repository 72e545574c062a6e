package rest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
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
// tool's schema gives its field, and stays the text that it is where that may be
// one; where the schema does not say, digits are a number and repeated names are a
// list.
func inputOf(query url.Values, schema json.RawMessage) (json.RawMessage, error) {
	var s struct{ Properties map[string]property }
	_ = json.Unmarshal(schema, &s) // without one, values are typed by their form
	properties := make(map[string]property, 2*len(s.Properties))
	for name, p := range s.Properties {
		properties[name], properties[result.Camel(name)] = p, p
	}
	input := make(map[string]any, len(query))
	for name, values := range query {
		if !paramName.MatchString(name) {
			return nil, fault.BadRequest.New("A parameter's name is a letter and up to 99 letters, digits, _, . or -.")
		}
		if slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return nil, fault.BadRequest.New("The parameter %s is not valid UTF-8.", name)
		}
		input[name] = properties[name].value(values)
	}
	return json.Marshal(input)
}

// property is what a schema says of a field.
type property struct {
	Type         any // a name, or a list of names
	Items        *property
	AnyOf, OneOf []property
}

// types are the types that a value may have in any of the alternatives, and those of the
// elements of a list.
func (p property) types() (own, elements []string) {
	switch declared := p.Type.(type) {
	case string:
		own = []string{declared}
	case []any:
		for _, d := range declared {
			own = append(own, fmt.Sprint(d))
		}
	}
	if p.Items != nil {
		elements, _ = p.Items.types()
	}
	for _, alternative := range slices.Concat(p.AnyOf, p.OneOf) {
		o, e := alternative.types()
		own, elements = append(own, o...), append(elements, e...)
	}
	return own, elements
}

// value is a list where only that is declared, or where a name is repeated.
func (p property) value(texts []string) any {
	own, elements := p.types()
	if len(texts) == 1 && (!slices.Contains(own, "array") || slices.Contains(own, "string")) {
		return typed(texts[0], own)
	}
	if !slices.Contains(own, "array") {
		elements = own
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = typed(text, elements)
	}
	return list
}

// safeInteger is the greatest integer that every JSON reader keeps exactly.
const safeInteger = 1<<53 - 1

func typed(text string, types []string) any {
	boolean, number := slices.Contains(types, "boolean"), slices.Contains(types, "number") || slices.Contains(types, "integer")
	switch {
	case slices.Contains(types, "string"):
	case boolean && (text == "true" || text == "false"):
		return text == "true"
	case number && strings.ContainsAny(text[:min(len(text), 1)], "-0123456789") && strictjson.Check([]byte(text)) == nil:
		return json.RawMessage(text)
	case boolean || number:
	default:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= safeInteger && strconv.FormatInt(n, 10) == text {
			return n
		}
	}
	return text
}
