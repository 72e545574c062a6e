package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"countersign.dev/internal/fault"
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

// TestCallShowsAnswersToPeople: a change that waits is a card with its money, and its
// message, which says where it is answered; a refusal has no advice for programs. JSON has both as
// they came.
func TestCallShowsAnswersToPeople(t *testing.T) {
	t.Parallel()
	const pending = `{"status":"pending_confirmation","message":"Raise it?\n\nNothing has changed yet.","confirmationId":"p1","confirmationData":{"action":"update_salary","newSalary":420000,"approvalUrl":"http://gateway.test/#/approve/p1"}}`
	const card = "\nRaise it?\n\nNothing has changed yet.\n  New salary: $420,000\nWaiting for your approval: p1\n"
	for _, c := range []struct{ answer, out, problem string }{
		{pending, card, ""},
		{`{"status":"success","data":{"n":1}}`, "{\n  \"status\": \"success\",\n  \"data\": {\n    \"n\": 1\n  }\n}\n", ""},
		{`{"status":"error","code":"INVALID_INPUT","message":"Why was the deal lost?","suggestedAction":"Call again with loss_reason.","people":{}}`, "", "Why was the deal lost?"},
		{`{"status":"error","code":"CANNOT_DELETE_SELF","message":"No.","suggestedAction":"Ask another HR administrator to do it."}`, "", "No. Ask another HR administrator to do it."},
		{`{"status":"error","code":"VALIDATION_ERROR","message":"Invalid input parameters","suggestedAction":"x","people":{"message":"It does not fit.","inputs":[{"field":"employee_id","wrong":"is required"},{"field":"new_salary","wrong":"is required"}]}}`,
			"", "Invalid input parameters: employee_id is required; new_salary is required."},
		{`{"status":"error","code":"VALIDATION_ERROR","message":"Which employee is meant?","suggestedAction":"x","people":{"inputs":[{"field":"employee_id","wrong":"is required"}]}}`,
			"", "Which employee is meant? employee_id is required."},
		{`{"status":"error","code":"UNKNOWN_TOOL","message":"No tool is called \"nope\".","suggestedAction":"List the tools to find the right name.","people":{"message":"` + fault.Unfit + `"}}`,
			"", `No tool is called "nope". List the tools to find the right name.`},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /api/tools", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"tools":[{"name":"update_salary","server":"hr","fields":{"preview":{"newSalary":{"unit":"USD"}}}}],"servers":[{"name":"hr"}]}`)
		})
		mux.HandleFunc("POST /api/mcp/{server}/{tool}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.answer) })
		s := httptest.NewServer(mux)
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			problem := ""
			if err := Call(t.Context(), Options{URL: s.URL, Token: "t", Out: &out, JSON: asJSON}, "update_salary", json.RawMessage(`{}`)); err != nil {
				problem = err.Error()
			}
			want := c.out
			if asJSON {
				want = c.answer + "\n"
			}
			if out.String() != want || problem != c.problem {
				t.Errorf("JSON %t: got %q and %q, want %q and %q", asJSON, out.String(), problem, want, c.problem)
			}
		}
		s.Close()
	}
}
