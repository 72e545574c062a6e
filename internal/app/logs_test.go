package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/quota"
)

// TestFailureIsLoggedOnceWithItsIDs: a call that fails in the store, through
// gateway and server, has its cause in one line of the log, with the id of the request
// and the person.
func TestFailureIsLoggedOnceWithItsIDs(t *testing.T) {
	t.Parallel()
	x := newRig(t, quota.Limits{})
	token := x.token(t, "alice.chen")
	db, err := pgx.Connect(t.Context(), x.adminURL)
	must(t, err)
	defer db.Close(t.Context())
	_, err = db.Exec(t.Context(), "ALTER TABLE hr.time_off_balances RENAME TO away")
	must(t, err)

	_, body := x.send(t, "POST", "/api/mcp/hr/get_time_off_balance", token, `{}`)
	if !strings.Contains(body, "DATABASE_ERROR") {
		t.Fatalf("got %s, want DATABASE_ERROR", body)
	}
	reference := regexp.MustCompile(`"reference":"([0-9a-f]{16})"`).FindStringSubmatch(body)
	if reference == nil || !strings.Contains(x.log.String(), "fault_id="+reference[1]) || !strings.Contains(body, "Reference: "+reference[1]) {
		t.Errorf("the caller has no reference that the log has: %s\n%s", body, x.log.String())
	}
	const cause = "does not exist"
	for line := range strings.SplitSeq(x.log.String(), "\n") {
		if strings.Contains(line, "level=ERROR") && (!strings.Contains(line, "request_id=") || strings.Contains(line, `fault_id=""`) || !strings.Contains(line, "principal=alice.chen")) {
			t.Errorf("a line without its ids: %s", line)
		}
	}
	if got := strings.Count(x.log.String(), cause); got != 1 {
		t.Errorf("the cause is in the log %d times:\n%s", got, x.log.String())
	}
}

// subjectOf is the subject of a person of the sample company.
func subjectOf(t *testing.T, username string) string {
	t.Helper()
	for _, a := range company.Accounts() {
		if a.Username == username {
			return a.Subject
		}
	}
	t.Fatalf("no account of %s", username)
	return ""
}

// TestFailedApplyShowsItsCauseToTheLogAlone: a change that the database refuses after it
// was approved is OPERATION_FAILED with a reference on each surface that answers it, and
// still waits. The log has the cause beside each reference; answers and the audit log do not.
func TestFailedApplyShowsItsCauseToTheLogAlone(t *testing.T) {
	t.Parallel()
	x := newRig(t, quota.Limits{})
	token := x.token(t, "alice.chen")
	db, err := pgx.Connect(t.Context(), x.adminURL)
	must(t, err)
	defer db.Close(t.Context())
	const cause = "inner cause of 10.0.0.7"
	_, err = db.Exec(t.Context(), `CREATE FUNCTION hr.refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '`+cause+`' USING ERRCODE = '23514'; END $$;
		CREATE TRIGGER refuses BEFORE INSERT OR UPDATE OR DELETE ON hr.employees FOR EACH ROW EXECUTE FUNCTION hr.refuses()`)
	must(t, err)

	_, list := x.send(t, "POST", "/api/mcp/hr/list_employees", token, `{"name":"Frank"}`)
	frank := regexp.MustCompile(`"employee_id":"([^"]+)"`).FindStringSubmatch(list)
	if frank == nil {
		t.Fatalf("no employee: %s", list)
	}
	_, opened := x.send(t, "POST", "/api/mcp/hr/delete_employee", token, `{"employee_id":"`+frank[1]+`","reason":"a test"}`)
	var waiting struct{ ConfirmationID string }
	if err := json.Unmarshal([]byte(opened), &waiting); err != nil || waiting.ConfirmationID == "" {
		t.Fatalf("got %s, want a confirmation", opened)
	}
	minter, err := auth.NewMinter(x.pl.keys.signing, nil)
	must(t, err)
	internal, err := minter.Token(access.NewPrincipal(access.Claims{
		Issuer: x.issuer, Subject: subjectOf(t, "alice.chen"), Username: "alice.chen", Email: "alice@tamshai.local", EmailVerified: true,
		Roles: []string{"employee", "manager", "hr-read", "hr-write"}, MayConfirm: true,
	}), "hr", access.PurposeExecute)
	must(t, err)
	gateway := x.gateway
	answer := func(base, path, token, body string) string {
		x.gateway = base
		defer func() { x.gateway = gateway }()
		status, got := x.send(t, "POST", path, token, body)
		if status != http.StatusOK {
			t.Errorf("%s: got %d %s", path, status, got)
		}
		return got
	}
	for surface, got := range map[string]string{
		"the gateway":            answer(gateway, "/api/confirm/"+waiting.ConfirmationID, token, `{"approved":true}`),
		"the server's own":       answer(x.hr, "/execute", internal, `{"confirmationId":"`+waiting.ConfirmationID+`","approved":true}`),
		"the gateway, once more": answer(gateway, "/api/confirm/"+waiting.ConfirmationID, token, `{"approved":true}`),
	} {
		reference := regexp.MustCompile(`"reference":"([0-9a-f]{16})"`).FindStringSubmatch(got)
		if reference == nil || !strings.Contains(got, `"OPERATION_FAILED"`) || strings.Contains(got, cause) || strings.Contains(got, "23514") {
			t.Errorf("%s: got %s, want OPERATION_FAILED with a reference and no cause", surface, got)
			continue
		}
		lines := regexp.MustCompile(`(?m)^.*fault_id=`+reference[1]+`.*$`).FindAllString(x.log.String(), -1)
		if len(lines) != 1 || !strings.Contains(lines[0], cause) || !strings.Contains(lines[0], "principal=alice.chen") {
			t.Errorf("%s: the log has %q, want one line with the cause", surface, lines)
		}
	}
	overMCP := (&rights{urls: map[string]string{"gateway": gateway}}).mcp(t, "gateway", token, "tools/call", "get_confirmation", fmt.Sprintf(`{"confirmation_id":%q}`, waiting.ConfirmationID))
	if !strings.Contains(overMCP, `"state":"pending"`) || strings.Contains(overMCP, cause) {
		t.Errorf("over MCP: got %s, want it pending and no cause", overMCP)
	}
	record, err := os.ReadFile(x.auditPath)
	must(t, err)
	if strings.Contains(string(record), cause) || !strings.Contains(string(record), "OPERATION_FAILED") {
		t.Errorf("the audit log: %s", record)
	}
}
