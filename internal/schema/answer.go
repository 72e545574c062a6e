package schema

import (
	"bytes"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Answer checks what is answered against a published schema, as its readers do: some
// by Draft 7, and others by 2020-12. It is safe for concurrent use.
type Answer struct{ drafts []*jsonschema.Schema }

// CompileAnswer compiles a schema of answers by both drafts. One that is not valid in
// both, that refers to anything outside of itself or to itself, or that can be made to
// take long is an error.
func CompileAnswer(encoded []byte) (a Answer, err error) {
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return a, err
	}
	if err := bounded(plain); err != nil {
		return a, err
	}
	for _, draft := range []*jsonschema.Draft{jsonschema.Draft7, jsonschema.Draft2020} {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(draft)
		compiler.UseLoader(nothing{})
		compiler.AssertFormat() // as some readers do
		if err := compiler.AddResource("answer.json", plain); err != nil {
			return a, err
		}
		compiled, err := compiler.Compile("answer.json")
		if err != nil {
			return a, err
		}
		a.drafts = append(a.drafts, compiled)
	}
	return a, nil
}

// Accepts reports whether an answer is valid by every draft.
func (a Answer) Accepts(encoded json.RawMessage) bool {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return false
	}
	for _, compiled := range a.drafts {
		if compiled.Validate(value) != nil {
			return false
		}
	}
	return true
}
