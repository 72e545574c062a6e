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
	x := newRig(t, quota.Limits{Unproven: 2})
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
	for range 10 { // the address is over its limit, and Alice is known
		x.send(t, "GET", "/api/user", canary, "")
	}
	_, list := x.send(t, "POST", "/api/mcp/hr/list_employees", token, `{"name":"Frank"}`)
	frank := regexp.MustCompile(`"employee_id":"([^"]+)"`).FindStringSubmatch(list)[1]
	_, opened := x.send(t, "POST", "/api/mcp/hr/delete_employee", token, `{"employee_id":"`+frank+`","reason":"`+canary+`"}`)
	waiting := regexp.MustCompile(`"confirmationId":"([^"]+)"`).FindStringSubmatch(opened)[1]
	if status, body := x.send(t, "POST", "/api/confirm/"+waiting, token, `{"approved":false}`); status != 200 {
		t.Errorf("a denial: got %d %s", status, body)
	}
	w := httptest.NewRecorder()
	x.pl.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`countersign_http_requests_total{route="POST /api/mcp/{server}/{tool}",server="gateway",status="200"}`,
		`countersign_http_requests_total{route="other",server="gateway",status="404"} 1`,
		`countersign_http_errors_total{code="UNAUTHENTICATED",server="gateway"}`,
		`countersign_tool_calls_total{outcome="success",server="hr",tool="list_employees"}`,
		`countersign_upstream_calls_total{outcome="success",server="hr",tool="list_employees"}`,
		`countersign_upstream_calls_total{outcome="VALIDATION_ERROR",server="hr",tool="get_employee"}`,
		`countersign_confirmation_steps_total{step="opened"} 1`, `countersign_confirmation_steps_total{step="denied"} 1`, `countersign_quota_refusals_total{limit="unproven_requests"}`,
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
