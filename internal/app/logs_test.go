package app

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
