package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/schema"
)

type noted struct {
	Text *string `json:"text,omitempty" jsonschema:"oneof_type=string;null,maxLength=9000"`
}

// TestNullableTextSaysItsLength: the gateway, which has only the schema, allows
// and refuses the same texts as the server.
func TestNullableTextSaysItsLength(t *testing.T) {
	declared := Read(Spec{Name: "get_note"}, func(context.Context, noted) (struct{}, error) { return struct{}{}, nil })
	input, err := inputSchema(declared)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(encoded, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, fine := range map[string]bool{"null": true, `"short"`: true, `"` + strings.Repeat("x", 9000) + `"`: true, `"` + strings.Repeat("x", 9001) + `"`: false, "7": false} {
		if _, _, err := compiled.Check(json.RawMessage(`{"text":` + text + `}`)); (err == nil) != fine {
			t.Errorf("%.20s (%d bytes): got %v", text, len(text), err)
		}
	}
}
