package gate

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// A context of another shape is refused in plain words, in the log, too: no cause names
// a type of ours.
func TestContextOfAnotherShapeIsRefusedInPlainWords(t *testing.T) {
	ctx := access.With(t.Context(), access.NewPrincipal(access.Claims{Username: "alice"}))
	for _, sent := range []string{`5`, `"alice"`, `[]`, `{"username":5}`, `{"email":{}}`} {
		err := checkUserContext(ctx, json.RawMessage(sent))
		if f := fault.From(err); !fault.Is(err, fault.BadRequest) || f.Unwrap() != nil {
			t.Errorf("%s: got %v, because %v", sent, err, f.Unwrap())
		}
	}
}
