package searchtest_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign.dev/internal/testkit/searchtest"
)

// TestServerKeepsAnIndex: every other test on this server relies on it.
func TestServerKeepsAnIndex(t *testing.T) {
	server := searchtest.Start()
	t.Cleanup(server.Stop)
	address, prefix := server.Address(t)
	for _, step := range []struct{ method, path, body string }{
		{http.MethodPut, "/" + prefix + "things", `{"settings":{"number_of_replicas":0}}`},
		{http.MethodPut, "/" + prefix + "things/_doc/1?refresh=true", `{"a":1}`},
		{http.MethodGet, "/" + prefix + "things/_doc/1", ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), step.method, address+step.path, strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode >= 300 {
			t.Fatalf("%s %s: %s", step.method, step.path, response.Status)
		}
	}
}
