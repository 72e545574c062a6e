package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// checkRecord: an auditor finds at the gateway what the HR server did in its own process,
// by a row that a list showed and by a request, and verifies both logs.
func checkRecord(t *testing.T, pair *process) {
	t.Helper()
	auditor := pair.token(t, "auditor.demo", "gateway")
	list := send(t, http.MethodGet, pair.Gateway+"/api/mcp/hr/list_employees?limit=1", pair.token(t, "alice.chen", "gateway"), nil)
	var shown struct {
		Data []struct {
			ID string `json:"employee_id"`
		}
	}
	if err := json.Unmarshal([]byte(list.body), &shown); err != nil || len(shown.Data) != 1 {
		t.Fatalf("got %s, %v, want one employee", list.body, err)
	}
	for path, want := range map[string]string{
		"/api/audit?person=nina&tool=hr.":    `"from":"hr"`,
		"/api/audit?row=" + shown.Data[0].ID: `"from":"hr","shown":"yes"`,
		"/api/audit?outcome=applied":         `"tool":"update_salary","step":"applied"`,
		"/api/audit/verify":                  `{"whole":true,"logs":[{"name":"gateway","file":"audit-gateway.jsonl","whole":true,`,
	} {
		a := send(t, http.MethodGet, pair.Gateway+path, auditor, nil)
		if a.status != http.StatusOK || !strings.Contains(a.body, want) || !strings.Contains(a.body, `"name":"hr","file":"audit-hr.jsonl"`) {
			t.Errorf("%s: got %d %.2000s, want %s", path, a.status, a.body, want)
		}
	}
}
