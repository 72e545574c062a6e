package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCallOfAnUnlistedToolAsksItsServer: tools that a person may not call are not
// listed, and the server in the name is the one that says why.
func TestCallOfAnUnlistedToolAsksItsServer(t *testing.T) {
	t.Parallel()
	var asked string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tools", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"tools":[],"servers":[{"name":"hr"},{"name":"files"}]}`)
	})
	mux.HandleFunc("POST /api/mcp/{server}/{tool}", func(w http.ResponseWriter, r *http.Request) {
		asked = r.PathValue("server")
		fmt.Fprint(w, `{"status":"success","data":{}}`)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	for tool, want := range map[string]string{"files.write_file": "files", "filesystem.read": "hr", "update_salary": "hr"} {
		if err := Call(t.Context(), Options{URL: s.URL, Token: "t", Out: &bytes.Buffer{}}, tool, json.RawMessage(`{}`)); err != nil || asked != want {
			t.Errorf("%s: asked %q, %v, want %q", tool, asked, err, want)
		}
	}
}
