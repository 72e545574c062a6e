package app

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"countersign.dev/internal/quota"
)

// The gateway and its servers share the slots of one process here: a call that
// held one while it waits for the other would keep all others waiting, and the
// other server would not answer in time.
func TestServersOfOneProcessDoNotWaitForEachOthersSlots(t *testing.T) {
	x := newRig(t, quota.Limits{Requests: 1000})
	var group sync.WaitGroup
	for i, name := range []string{"alice.chen", "marcus.johnson", "eve.thompson", "alice.chen", "marcus.johnson", "eve.thompson"} {
		token := x.token(t, name)
		group.Go(func() {
			for range 3 {
				if status, text := x.send(t, "POST", "/api/mcp/hr/list_employees", token, `{}`); status != http.StatusOK {
					t.Errorf("got %d %s, want an answer", status, text)
				}
			}
			if i < 3 {
				question := fmt.Sprintf(`{"query":%q}`, "List all employees")
				if status, text := x.send(t, "POST", "/api/query", token, question); status != http.StatusOK {
					t.Errorf("got %d %s, want an answer", status, text)
				}
			}
		})
	}
	group.Wait()
}
