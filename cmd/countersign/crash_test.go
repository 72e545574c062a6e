package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/audit"
)

// freePort finds a port whose neighbours are free too, for a demo that is
// restarted under the same addresses. It looks below the range from which the
// system takes ports by itself.
func freePort(t testing.TB) string {
	t.Helper()
	for range 200 {
		port := 20000 + rand.IntN(10000)
		if allFree(port, port+1, port+2, port+3, port+4, port+80) {
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no free port was found")
	return ""
}

func allFree(ports ...int) bool {
	for _, port := range ports {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// dataFolder is a folder that the private PostgreSQL's own user may enter too.
func dataFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// appliedIn counts the changes that an audit log says were made, by
// confirmation.
func appliedIn(t testing.TB, path string) map[string]int {
	t.Helper()
	if _, err := audit.Verify(path); err != nil {
		t.Errorf("the audit log is not whole: %v", err)
	}
	counts := map[string]int{}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e audit.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == audit.Confirmation && e.Step == "applied" {
			counts[e.Confirmation]++
		}
	}
	return counts
}

// open asks for a new salary and returns the confirmation's id.
func (p *process) openSalary(t testing.TB, employeeID string, amount int) string {
	t.Helper()
	a := p.call(t, "alice.chen", "update_salary", map[string]any{"employee_id": employeeID, "new_salary": amount})
	var card pendingCard
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || card.ID == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	return card.ID
}

func (p *process) salary(t testing.TB, employeeID string) float64 {
	t.Helper()
	a := p.call(t, "alice.chen", "get_employee", map[string]string{"employee_id": employeeID})
	var e struct{ Data struct{ Salary float64 } }
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return e.Data.Salary
}

func TestKilledRightAfterAnApprovalGivesTheSameReceipt(t *testing.T) {
	args := []string{"--data", dataFolder(t), "--port", freePort(t)}
	d := demoFor(t, args...)
	marcus := employee(t, "Marcus Johnson").ID
	id := d.openSalary(t, marcus, 150000)
	first := d.confirm(t, "alice.chen", id, true)
	d.kill(t)

	d = demoFor(t, args...)
	again := d.confirm(t, "alice.chen", id, true)
	if again.status != 200 || again.body != first.body {
		t.Errorf("before the kill: %d %s\nafter it: %d %s", first.status, first.body, again.status, again.body)
	}
	if got := d.salary(t, marcus); got != 150000 {
		t.Errorf("the salary is %v, want 150000", got)
	}
	if counts := appliedIn(t, d.Audit); counts[id] != 1 {
		t.Errorf("the audit tells %d changes, want 1", counts[id])
	}
	if a := d.confirm(t, "bob.martinez", id, true); a.status == 200 {
		t.Errorf("a stranger got the receipt: %s", a.body)
	}
}

func TestKilledWhilePendingChangesNothing(t *testing.T) {
	args := []string{"--data", dataFolder(t), "--port", freePort(t)}
	d := demoFor(t, args...)
	marcus := employee(t, "Marcus Johnson").ID
	id := d.openSalary(t, marcus, 150000)
	d.kill(t)

	d = demoFor(t, args...)
	if a := d.confirm(t, "alice.chen", id, true); a.status != 404 {
		t.Errorf("what waited in memory is gone, so the approval is: got %d %s", a.status, a.body)
	}
	if got := d.salary(t, marcus); got != 145000 {
		t.Errorf("the salary is %v, want 145000", got)
	}
}

// TestKilledWhileApplyingNeverChangesTwice kills the process at many moments
// around an approval. Whatever was acknowledged is there afterwards, and nothing
// is there twice.
func TestKilledWhileApplyingNeverChangesTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("restarts a demo several times")
	}
	args := []string{"--data", dataFolder(t), "--port", freePort(t)}
	marcus := employee(t, "Marcus Johnson").ID
	salary, ids := 145000.0, []string{}
	var auditPath string
	for i := range 6 {
		d := demoFor(t, args...)
		auditPath = d.Audit
		if got := d.salary(t, marcus); got != salary {
			t.Fatalf("round %d: the salary is %v, want %v", i, got, salary)
		}
		amount := 150000 + i
		id := d.openSalary(t, marcus, amount)
		ids = append(ids, id)
		acknowledged := d.approveAndKill(t, id, time.Duration(i)*800*time.Microsecond)

		d = demoFor(t, args...)
		after := d.salary(t, marcus)
		if acknowledged && after != float64(amount) {
			t.Errorf("round %d: an acknowledged change is lost: %v", i, after)
		}
		if after != salary && after != float64(amount) {
			t.Errorf("round %d: the salary is %v, neither %v nor %d", i, after, salary, amount)
		}
		if a := d.confirm(t, "alice.chen", id, true); (a.status == 200) != (after == float64(amount)) {
			t.Errorf("round %d: the salary is %v and the receipt: %d %s", i, after, a.status, a.body)
		}
		salary = after
		if err := d.end(); err != nil {
			t.Fatal(err)
		}
	}
	for id, n := range appliedIn(t, auditPath) {
		if n > 1 {
			t.Errorf("the audit tells %d changes for %s of %v", n, id, ids)
		}
	}
}

// approveAndKill approves, kills the process after a moment, and reports
// whether the approval was acknowledged before.
func (p *process) approveAndKill(t *testing.T, id string, moment time.Duration) (acknowledged bool) {
	t.Helper()
	token := p.token(t, "alice.chen", "gateway")
	var answered sync.WaitGroup
	answered.Go(func() {
		req, _ := http.NewRequest(http.MethodPost, p.Gateway+"/api/confirm/"+id, strings.NewReader(`{"approved":true}`))
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			acknowledged = resp.StatusCode == 200
		}
	})
	<-time.After(moment)
	p.kill(t)
	answered.Wait()
	return acknowledged
}

func TestStaleApprovalChangesNothing(t *testing.T) {
	d := demoFor(t)
	marcus := employee(t, "Marcus Johnson").ID
	older, newer := d.openSalary(t, marcus, 150000), d.openSalary(t, marcus, 140000)
	if a := d.confirm(t, "alice.chen", newer, true); a.status != 200 || !strings.Contains(a.body, `"success"`) {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := d.confirm(t, "alice.chen", older, true); a.status != 200 || !strings.Contains(a.body, "CONFIRMATION_STALE") {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if got := d.salary(t, marcus); got != 140000 {
		t.Errorf("the salary is %v, want 140000", got)
	}
}

// TestThousandConfirmationsHundredApprovals counts effects in the store and in
// the audit, through the HR server's own /execute over HTTP.
func TestThousandConfirmationsHundredApprovals(t *testing.T) {
	confirmations, approvals := 1000, 100
	if testing.Short() {
		confirmations, approvals = 20, 20
	}
	d := demoFor(t)
	marcus := employee(t, "Marcus Johnson").ID
	token := d.token(t, "alice.chen", "hr")
	applied := 0
	for i := range confirmations {
		// each changes the salary that the one before left, so that none is stale
		id := openDirectly(t, d, token, marcus, 100000+i)
		applied += approveTogether(t, d, token, id, approvals)
	}
	if applied != confirmations*approvals {
		t.Errorf("%d approvals were answered with the receipt, want %d", applied, confirmations*approvals)
	}
	if got := d.salary(t, marcus); got != float64(100000+confirmations-1) {
		t.Errorf("the salary is %v", got)
	}
	counts := appliedIn(t, d.Audit)
	if len(counts) != confirmations {
		t.Errorf("the audit tells of %d changes, want %d", len(counts), confirmations)
	}
	for id, n := range counts {
		if n != 1 {
			t.Errorf("confirmation %s was applied %d times", id, n)
		}
	}
}

func openDirectly(t testing.TB, d *process, token, employeeID string, amount int) string {
	t.Helper()
	a := send(t, "POST", d.Servers["hr"]+"/tools/update_salary", token, fmt.Sprintf(`{"employee_id":%q,"new_salary":%d}`, employeeID, amount))
	var card pendingCard
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || card.ID == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	return card.ID
}

// approveTogether sends n approvals at once and counts the receipts, which must
// all be the same. Who hears that another approval is in progress asks again
// when that one has its answer.
func approveTogether(t testing.TB, d *process, token, id string, n int) int {
	t.Helper()
	body := `{"confirmationId":"` + id + `","approved":true}`
	answers := make([]answer, n)
	decided, once := make(chan struct{}), sync.Once{}
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = send(t, "POST", d.Servers["hr"]+"/execute", token, body)
			if answers[i].status == http.StatusConflict {
				<-decided
				answers[i] = send(t, "POST", d.Servers["hr"]+"/execute", token, body)
				return
			}
			once.Do(func() { close(decided) })
		})
	}
	all.Wait()
	receipts := 0
	for _, a := range answers {
		if a.body == answers[0].body && strings.Contains(a.body, `"status":"success"`) {
			receipts++
		}
	}
	return receipts
}

func TestDemoKeepsItsDataFolder(t *testing.T) {
	dir := dataFolder(t)
	d := demoFor(t, "--data", dir)
	if d.Audit != filepath.Join(dir, "audit.jsonl") {
		t.Errorf("the audit log is at %s", d.Audit)
	}
	if err := d.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres")); err != nil {
		t.Error(err)
	}
}
