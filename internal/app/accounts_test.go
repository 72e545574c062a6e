package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// Whose employment HR has ended reads so with every token, new ones too, on
// every replica; people without an employee record are not concerned.
func TestDeletedEmployeesAccountEndsEverywhere(t *testing.T) {
	t.Parallel()
	frank, _ := company.At(today()).ByNumber("EMP061")
	x := newRig(t, quota.Limits{},
		issuer.Person{Subject: "u-victor", Username: "victor.reyes", Email: "victor.reyes@tamshai.local", Roles: []string{"employee"}}, // left long ago
		issuer.Person{Subject: "u-two", Username: "frank.two", Email: frank.Email, Roles: []string{"employee"}},
		issuer.Person{Subject: "u-ann", Username: "ann.audit", Email: "ann@auditors.test", Roles: []string{"auditor"}})
	early, alice := x.token(t, "frank.davis"), x.token(t, "alice.chen")
	if status, body := x.send(t, "POST", "/api/mcp/hr/get_time_off_balance", early, `{}`); status != 200 || !strings.Contains(body, frank.ID) {
		t.Fatalf("Frank works here: got %d %s", status, body)
	}
	second := x.token(t, "frank.two")
	if _, body := x.send(t, "POST", "/api/mcp/hr/get_time_off_balance", second, `{}`); !strings.Contains(body, "EMPLOYEE_NOT_FOUND") {
		t.Errorf("a second subject with his address: got %s", body)
	}
	status, body := x.send(t, "POST", "/api/mcp/hr/delete_employee", alice, `{"employee_id":"`+frank.ID+`"}`)
	var waiting struct{ ConfirmationID string }
	if err := json.Unmarshal([]byte(body), &waiting); err != nil || waiting.ConfirmationID == "" {
		t.Fatalf("got %d %s", status, body)
	}
	if status, _ := x.send(t, "GET", "/api/user", early, ""); status != 200 {
		t.Errorf("before the approval: got %d", status)
	}
	if status, body := x.send(t, "POST", "/api/confirm/"+waiting.ConfirmationID, alice, `{"approved":true}`); status != 200 || !strings.Contains(body, "has been deleted") {
		t.Fatalf("got %d %s", status, body)
	}
	for name, token := range map[string]string{"his token": early, "a new sign-in": x.token(t, "frank.davis"), "his address": second} {
		if status, body := x.send(t, "GET", "/api/user", token, ""); status != 401 || !strings.Contains(body, "ACCOUNT_ENDED") {
			t.Errorf("%s: got %d %s", name, status, body)
		}
	}
	for _, username := range []string{"ann.audit", "alice.chen"} {
		if status, body := x.send(t, "GET", "/api/user", x.token(t, username), ""); status != 200 {
			t.Errorf("%s: got %d %s", username, status, body)
		}
	}
	for until, token := time.Now().Add(testkit.Patience), x.token(t, "victor.reyes"); ; { // by HR's rows alone, soon after the start
		status, body := x.send(t, "GET", "/api/user", token, "")
		if status == 401 && strings.Contains(body, "ACCOUNT_ENDED") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("somebody who left before: got %d %s", status, body)
		}
	}
}

// Sales has a store of its own, and reports a taken address as the others do.
func TestSalesReportsATakenAddress(t *testing.T) {
	t.Parallel()
	reported := false
	links := &access.Links{Taken: func(context.Context) { reported = true }}
	server, closeStore, err := storage.Sales().Open(t.Context(), config.Database{URL: "sqlite:" + filepath.Join(t.TempDir(), "sales.db")}, links)
	must(t, err)
	defer func() { must(t, closeStore()) }()
	h := domaintest.Open(t, "sales", server.(*sales.Server))
	for _, subject := range []string{"u-1", "u-2"} {
		if reported {
			t.Error("it was reported of the first subject")
		}
		seller := access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: subject, Email: "amanda@tamshai.local", EmailVerified: true, Roles: []string{"sales-read"}})
		h.Ask(access.With(t.Context(), seller), "get_pipeline", nil)
	}
	if !reported {
		t.Error("the second subject was not reported")
	}
}

func TestTakenAddressIsRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, nil)
	must(t, err)
	p, d := &platform{audit: log, log: slog.New(slog.DiscardHandler)}, domain{name: "hr"}
	p.links(d).Taken(testkit.As(t, "mallory"))
	must(t, log.Close())
	lines, err := os.ReadFile(path)
	must(t, err)
	for _, want := range []string{`"step":"address taken"`, `"sub":"sub-mallory"`, `"server":"hr"`, `"kind":"denial"`} {
		if !strings.Contains(string(lines), want) {
			t.Errorf("got %s, want %s", lines, want)
		}
	}
}

// What Redis lost of the list of revoked sign-ins is in the record.
func TestRestoredRevocationsAreRecorded(t *testing.T) {
	t.Parallel()
	x := newRig(t, quota.Limits{})
	must(t, x.pl.revocations.RevokeToken(t.Context(), "", "t1"))
	must(t, x.pl.revocations.Refresh(t.Context()))
	must(t, x.pl.redis.Delete(t.Context(), revocation.Name))
	must(t, x.pl.redis.Delete(t.Context(), revocation.Name+":version"))
	must(t, x.pl.revocations.Refresh(t.Context()))
	for _, e := range eventsOf(t, x.auditPath) {
		if e.Kind == audit.Revocation && e.Step == audit.RevocationsRestored && e.Note != "" {
			return
		}
	}
	t.Error("there is no such event")
}

// readable is a server whose data can be read.
type readable struct{ storage.Server }

func (readable) Ready(context.Context) error { return nil }

// TestServerThatRejectsEveryoneIsNotReady: a balancer must not send people there.
func TestServerThatRejectsEveryoneIsNotReady(t *testing.T) {
	t.Parallel()
	x := newRig(t, quota.Limits{})
	if err := x.pl.ready(readable{})(t.Context()); err != nil {
		t.Errorf("a server whose callers can be checked is not ready: %v", err)
	}
	never := &platform{revocations: revocation.New(nil, nil)}
	if err := never.ready(readable{})(t.Context()); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v", err)
	}
}
