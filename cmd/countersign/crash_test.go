package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/testkit"
)

// freePort finds a port for a demo that is restarted under the same addresses:
// its servers take those above it.
func freePort(t testing.TB) string {
	t.Helper()
	return testkit.FreePort(t, 1, 2, 3, 4, 80)
}

// dataFolder is an empty folder that the private PostgreSQL's user may enter.
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

// appliedIn counts the applied changes in an audit log, by confirmation.
func appliedIn(t testing.TB, path string) map[string]int {
	t.Helper()
	if _, err := audit.Verify(path); err != nil {
		t.Errorf("the audit log is not intact: %v", err)
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

// openSalary requests a new salary and returns the confirmation's id.
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

func TestKilledAfterAnApprovalReturnsTheSameReceipt(t *testing.T) {
	t.Parallel()
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
		t.Errorf("the audit log has %d changes, want 1", counts[id])
	}
	if a := d.confirm(t, "bob.martinez", id, true); a.status == 200 {
		t.Errorf("another person got the receipt: %s", a.body)
	}
}

func TestKilledWhilePendingChangesNothing(t *testing.T) {
	t.Parallel()
	args := []string{"--data", dataFolder(t), "--port", freePort(t)}
	d := demoFor(t, args...)
	marcus := employee(t, "Marcus Johnson").ID
	id := d.openSalary(t, marcus, 150000)
	d.kill(t)

	d = demoFor(t, args...)
	if a := d.confirm(t, "alice.chen", id, true); a.status != 404 {
		t.Errorf("the confirmation was in memory only: got %d %s, want 404", a.status, a.body)
	}
	if got := d.salary(t, marcus); got != 145000 {
		t.Errorf("the salary is %v, want 145000", got)
	}
}

// applyingStages are moments of an approved change, as they pass between the
// program and its database, and whether the change is made when the program is
// killed there.
var applyingStages = []struct {
	name     string
	toServer bool
	sent     string // by the program; the stage is this, or the answer to it
	made     bool
}{
	{"before the change begins", true, "begin read write", false},
	{"before the commit is sent", true, "commit", false},
	{"before the commit is acknowledged", false, "commit", true},
}

// TestKilledWhileApplyingNeverChangesTwice kills the process at each stage of an
// approved change, starts it again on the same data, and approves once more.
func TestKilledWhileApplyingNeverChangesTwice(t *testing.T) {
	t.Parallel()
	proxy, address := throughProxy(t, privatePostgres(t, dataFolder(t)))
	args := []string{"--data", dataFolder(t), "--port", freePort(t), "--postgres", address}
	marcus := employee(t, "Marcus Johnson").ID
	d, salary, ids := demoFor(t, args...), 145000.0, []string{}
	for i, stage := range applyingStages {
		amount := 150000.0 + float64(i)
		id := d.openSalary(t, marcus, int(amount))
		ids = append(ids, id)
		d.approveAndKill(t, proxy, id, stage.toServer, stage.sent)

		d = demoFor(t, args...)
		if stage.made {
			salary = amount
		}
		if got := d.salary(t, marcus); got != salary {
			t.Errorf("killed %s: the salary is %v, want %v", stage.name, got, salary)
		}
		if a := d.confirm(t, "alice.chen", id, true); (a.status == 200) != stage.made {
			t.Errorf("killed %s: the approval again: %d %s", stage.name, a.status, a.body)
		}
		if got := d.salary(t, marcus); got != salary {
			t.Errorf("killed %s, approved again: the salary is %v, want %v", stage.name, got, salary)
		}
	}
	if err := d.end(); err != nil {
		t.Fatal(err)
	}
	for id, n := range appliedIn(t, d.Audit) {
		if n > 1 {
			t.Errorf("the audit log has %d changes for %s of %v", n, id, ids)
		}
	}
}

// approveAndKill approves, and kills the process when what its change sends to
// the database, or the answer to that, is on its way. That piece is lost.
func (p *process) approveAndKill(t *testing.T, proxy *testkit.Proxy, id string, toServer bool, sent string) {
	t.Helper()
	var mu sync.Mutex
	changing, matched, killed := false, false, false
	proxy.Filter(func(up bool, data []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		changing = changing || up && bytes.Contains(data, []byte("begin read write"))
		matched = matched || up && changing && bytes.Contains(data, []byte(sent))
		if matched && up == toServer && !killed {
			killed = true
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		return !killed
	})
	defer proxy.Filter(nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Gateway+"/api/confirm/"+id, strings.NewReader(`{"approved":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token(t, "alice.chen", "gateway"))
	req.Header.Set("Content-Type", "application/json")
	if resp, err := testkit.Client.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatalf("the approval was answered with HTTP %d, and the process was to be killed at %q", resp.StatusCode, sent)
	}
}

func TestStaleApprovalChangesNothing(t *testing.T) {
	t.Parallel()
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

// TestApprovalsTogetherApplyOnce counts effects in the store and in the audit,
// through the HR server's own /execute over HTTP.
func TestApprovalsTogetherApplyOnce(t *testing.T) {
	t.Parallel()
	approveAll(t, 20, 20)
}

// BenchmarkThousandConfirmations is the same in the size of docs/performance.md:
// does any of 100,000 approvals apply a change twice?
func BenchmarkThousandConfirmations(b *testing.B) {
	for b.Loop() {
		approveAll(b, 1000, 100)
	}
}

// approveAll opens confirmations one by one, approves each many times at once,
// and counts.
func approveAll(t testing.TB, confirmations, approvals int) {
	t.Helper()
	d := demoFor(t)
	marcus := employee(t, "Marcus Johnson").ID
	token, answers := d.token(t, "alice.chen", "hr"), d.token(t, "alice.chen", "gateway")
	applied := 0
	for i := range confirmations {
		// each changes the salary that the one before left, so that none is stale
		id := openDirectly(t, d, token, marcus, 100000+i)
		applied += approveTogether(t, d, answers, id, approvals)
	}
	if applied != confirmations*approvals {
		t.Errorf("%d approvals were answered with the receipt, want %d", applied, confirmations*approvals)
	}
	if got := d.salary(t, marcus); got != float64(100000+confirmations-1) {
		t.Errorf("the salary is %v", got)
	}
	counts := appliedIn(t, d.Audit)
	if len(counts) != confirmations {
		t.Errorf("the audit log has %d changes, want %d", len(counts), confirmations)
	}
	for id, n := range counts {
		if n != 1 {
			t.Errorf("confirmation %s was applied %d times", id, n)
		}
	}
}

// sendPatiently sends again as soon as a refusal for too many requests allows it.
func sendPatiently(t testing.TB, method, url, token string, body any) answer {
	t.Helper()
	for {
		a := send(t, method, url, token, body)
		if a.status != http.StatusTooManyRequests {
			return a
		}
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil {
			t.Fatalf("a 429 without Retry-After: %s", a.body)
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-t.Context().Done():
			return a
		}
	}
}

func openDirectly(t testing.TB, d *process, token, employeeID string, amount int) string {
	t.Helper()
	a := sendPatiently(t, "POST", d.Servers["hr"]+"/tools/update_salary", token, fmt.Sprintf(`{"employee_id":%q,"new_salary":%d}`, employeeID, amount))
	var card pendingCard
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || card.ID == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	return card.ID
}

// approveTogether sends n approvals at once and counts the receipts, which must
// all be the same. A caller that is answered "in progress" asks again after the
// first receipt.
func approveTogether(t testing.TB, d *process, token, id string, n int) int {
	t.Helper()
	answers := make([]answer, n)
	decided, once := make(chan struct{}), sync.Once{}
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = sendPatiently(t, "POST", d.Gateway+"/api/confirm/"+id, token, `{"approved":true}`)
			if answers[i].status == http.StatusConflict {
				<-decided
				answers[i] = sendPatiently(t, "POST", d.Gateway+"/api/confirm/"+id, token, `{"approved":true}`)
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
	t.Parallel()
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
