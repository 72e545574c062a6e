package confirm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

func TestChangeThatCannotBeShownWholeIsRefused(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	deep := json.RawMessage(`{"title":"t","body":{"text":"` + long + `","lang":"en"}}`)
	for name, c := range map[string]struct {
		message string
		data    map[string]any
		field   string // "" means accepted
	}{
		"small":              {"Delete?", map[string]any{"reason": "left"}, ""},
		"as large as may be": {"Delete?", map[string]any{"reason": strings.Repeat("x", 15_000)}, ""},
		"a field":            {"Delete?", map[string]any{"reason": long, "name": "n"}, "reason"},
		"a nested field":     {"Run?", map[string]any{"arguments": deep, "action": "a"}, "arguments.body.text"},
		"markup":             {"Delete?", map[string]any{"reason": strings.Repeat("<", 3000)}, "reason"},
		"many fields":        {"Delete?", many(3000), "a0"},
		"the message":        {long, map[string]any{"reason": "r"}, "message"},
		"a long name":        {"Run?", map[string]any{long: "a"}, strings.Repeat("x", 57) + "…"},
	} {
		err := checkCard(c.message, c.data)
		f := fault.From(err)
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: got %v, want it accepted", name, err)
		case c.field != "" && (f == nil || f.Code != fault.ValidationError || f.Details["field"] != c.field || !strings.Contains(f.SuggestedAction, "Shorten "+c.field+":")):
			t.Errorf("%s: got %v, want VALIDATION_ERROR that names %s", name, f, c.field)
		}
	}
	who := access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s"})
	for name, r := range map[string]Request{"a fact": {Data: map[string]any{"reason": long}}, "the message": {Summary: long}} {
		if _, err := NewService(nil, nil, nil).Open(t.Context(), who, r); !fault.Is(err, fault.ValidationError) { // before anything is recorded or stored
			t.Errorf("opening one, %s: got %v", name, err)
		}
	}
}

// many is a preview of many fields.
func many(n int) map[string]any {
	fields := map[string]any{"a0": strings.Repeat("v", 700)}
	for i := range n {
		fields[fmt.Sprint("b", i)] = "v"
	}
	return fields
}
