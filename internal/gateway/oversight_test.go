package gateway_test

import (
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/oversight"
)

// TestAuditorsAloneReadTheRecord: the routes of auditors are refused to all other
// callers, with and without a token.
func TestAuditorsAloneReadTheRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	r := newRig(t, func(o *gateway.Options) {
		o.Oversight = oversight.New(oversight.Options{Logs: []string{path}, Audit: log, Servers: o.Servers})
	})
	for route, want := range map[string]string{"/api/audit?person=alice": `"tool":"read the audit log","rows":0,"outcome":"INSUFFICIENT_PERMISSIONS"`, "/api/audit/verify": `"whole":true`, "/api/admin": `"name":"get_employee"`} {
		if status, body := r.read(r.send("GET", route, alice, "")); !strings.Contains(body, "INSUFFICIENT_PERMISSIONS") || !strings.Contains(body, `"requiredRoles":["auditor"]`) || strings.Contains(body, `"events"`) {
			t.Errorf("%s as Alice: got %d %s", route, status, body)
		}
		if status, body := r.read(r.send("GET", route, "", "")); status != 401 {
			t.Errorf("%s without a token: got %d %s", route, status, body)
		}
		if status, body := r.read(r.send("GET", route, auditToken, "")); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s as an auditor: got %d %s, want %s", route, status, body, want)
		}
	}
	if status, body := r.read(r.send("GET", "/api/audit?limit=-1", auditToken, "")); status != 400 || !strings.Contains(body, "Use person, tool, row") {
		t.Errorf("a parameter that the search has not: got %d %s, want 400 and what it has", status, body)
	}
}
