package app

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/internal/quota"
)

// A gateway and a server are used with texts that must not become public; the
// metrics show what happened and none of the texts.
func TestMetricsShowWhatHappenedAndNoCanary(t *testing.T) {
	x := newRig(t, quota.Limits{})
	token := x.token(t, "alice.chen")
	const canary = "canary-7731"
	for _, call := range []struct{ method, path, body string }{
		{"GET", "/api/mcp/hr/list_employees", ""},
		{"POST", "/api/mcp/hr/list_employees", `{"name":"` + canary + `"}`},
		{"POST", "/api/mcp/hr/" + canary, `{}`},
		{"POST", "/api/mcp/" + canary + "/x", `{}`},
		{"POST", "/api/mcp/hr/get_employee", `{"employee_id":"` + canary + `"}`},
		{"GET", "/" + canary, ""},
		{"POST", "/api/query", `{"query":"Who is ` + canary + `?"}`},
		{"GET", "/api/conversations/" + canary, ""},
		{"POST", "/api/confirm/" + canary, `{"approved":true}`},
	} {
		x.send(t, call.method, call.path, token, call.body)
	}
	if status, body := x.send(t, "GET", "/api/user", canary, ""); status != 401 {
		t.Errorf("a canary as token: got %d %s", status, body)
	}
	w := httptest.NewRecorder()
	x.pl.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`countersign_http_requests_total{route="POST /api/mcp/{server}/{tool}",server="gateway",status="200"}`,
		`countersign_http_requests_total{route="other",server="gateway",status="404"} 1`,
		`countersign_http_errors_total{code="UNAUTHENTICATED",server="gateway"} 1`,
		`countersign_tool_calls_total{outcome="success",server="hr",tool="list_employees"}`,
		`countersign_upstream_calls_total{outcome="success",server="hr",tool="list_employees"}`,
		`countersign_upstream_calls_total{outcome="VALIDATION_ERROR",server="hr",tool="get_employee"}`,
		`countersign_upstream_healthy{server="hr"} 1`, `countersign_upstream_breakers_open{server="hr"} 0`,
		`countersign_tool_call_duration_seconds_bucket{server="hr",le="0.05"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	for _, secret := range []string{"canary", "alice", "chen", "Bearer", "eyJ", "@"} {
		if line := regexp.MustCompile(`(?m)^.*` + secret + `.*$`).FindString(text); line != "" {
			t.Errorf("the metrics have %q: %s", secret, line)
		}
	}
}
