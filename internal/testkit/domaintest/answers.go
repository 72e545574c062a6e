package domaintest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign.dev/internal/result"
)

// drafts are those that foreign clients read our schemas as.
var drafts = []*jsonschema.Draft{jsonschema.Draft7, jsonschema.Draft2020}

// published are the compiled schemas of answers, by their text.
var published sync.Map

// CheckAnswer fails a test when a tool answers what its published schema does not
// allow, as a foreign client reads it: in each of the drafts, with formats asserted.
func CheckAnswer(t testing.TB, info result.ToolInfo, answer json.RawMessage) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err != nil {
		t.Fatalf("%s: %v in %s", info.Name, err, answer)
	}
	for _, draft := range drafts {
		schema, err := compiled(draft, info.OutputSchema)
		if err != nil {
			t.Fatalf("%s: the schema of its answers: %v", info.Name, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s answers what its schema does not allow: %v in %.2000s", info.Name, err, answer)
		}
	}
}

// CheckSchemas fails a test when a published schema is none in one of the drafts:
// a client that reads it so drops the server's whole list of tools.
func CheckSchemas(t testing.TB, info result.ToolInfo) {
	t.Helper()
	for _, draft := range drafts {
		for _, schema := range []json.RawMessage{info.InputSchema, info.OutputSchema} {
			if _, err := compiled(draft, schema); err != nil {
				t.Errorf("%s publishes a schema that is none: %v: %.500s", info.Name, err, schema)
			}
		}
	}
}

func compiled(draft *jsonschema.Draft, text json.RawMessage) (*jsonschema.Schema, error) {
	key := fmt.Sprint(draft, string(text))
	if known, ok := published.Load(key); ok {
		return known.(*jsonschema.Schema), nil
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(draft)
	compiler.AssertFormat()
	if err := compiler.AddResource("answer.json", plain); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile("answer.json")
	if err == nil {
		published.Store(key, schema)
	}
	return schema, err
}
