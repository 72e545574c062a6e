package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/testkit"
)

// BenchmarkLife asks what one confirmation costs in the store: opened, acquired
// and settled, with a preview of about 1 KB and a receipt of 300 bytes.
func BenchmarkLife(b *testing.B) {
	c := NewConfirmations(connect(b, startReal(b), nil), testkit.Ring("record"))
	r := record("a")
	r.Data["text"] = strings.Repeat("x", 1000)
	answer := json.RawMessage(`{"status":"success","data":"` + strings.Repeat("y", 270) + `"}`)
	for i := 0; b.Loop(); i++ {
		r.ID = confirm.ID(fmt.Sprint(i))
		must(b, c.Create(b.Context(), r))
		if _, acquired, err := c.Acquire(b.Context(), approving(r.ID), alice, noon); acquired != confirm.Acquired || err != nil {
			b.Fatal(acquired, err)
		}
		if moved, err := c.Settle(b.Context(), r, confirm.Applied, answer); !moved || err != nil {
			b.Fatal(moved, err)
		}
	}
}
