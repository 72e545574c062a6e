package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
)

// callOn calls a tool of a server through the gateway.
func (p *process) callOn(t testing.TB, person, server, tool string, input any) answer {
	t.Helper()
	return send(t, http.MethodPost, p.Gateway+"/api/mcp/"+server+"/"+tool, p.token(t, person, "gateway"), input)
}

// change is a permitted write on one of the stores.
type change struct {
	server, tool, person string
	input                map[string]any
}

func changesOnEveryStore(t testing.TB) []change {
	t.Helper()
	sample := company.At(time.Now())
	var deal company.Deal
	for d := range sample.Sales().Deals {
		if d.Name == "Manufacturing Starter" {
			deal = d
		}
	}
	return []change{
		{"hr", "update_salary", "alice.chen", map[string]any{"employee_id": employee(t, "Marcus Johnson").ID, "new_salary": 151000}},
		{"finance", "approve_budget", "bob.martinez", map[string]any{"department": "marketing", "fiscal_year": 2026}},
		{"sales", "close_deal", "carol.johnson", map[string]any{"deal_id": deal.ID, "outcome": "won"}},
		{"support", "close_ticket", "dan.williams", map[string]any{"ticket_id": "TICK-004", "resolution": "password reset fixed the login"}},
	}
}

func (c change) open(t testing.TB, d *process) string {
	t.Helper()
	a := d.callOn(t, c.person, c.server, c.tool, c.input)
	var card pendingCard
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || card.ID == "" {
		t.Fatalf("%s: got %d %s", c.tool, a.status, a.body)
	}
	return card.ID
}

// TestEveryStoreReturnsTheSameReceiptAfterAKill makes one change on each store,
// kills the process after the answers, and starts it again on the same data.
func TestEveryStoreReturnsTheSameReceiptAfterAKill(t *testing.T) {
	t.Parallel()
	args := []string{"--data", dataFolder(t), "--port", freePort(t)}
	d := demoFor(t, args...)
	changes := changesOnEveryStore(t)
	ids, receipts := make([]string, len(changes)), make([]answer, len(changes))
	for i, c := range changes {
		ids[i] = c.open(t, d)
	}
	for i, c := range changes {
		receipts[i] = d.confirm(t, c.person, ids[i], true)
		if !strings.Contains(receipts[i].body, `"status":"success"`) {
			t.Errorf("%s: %d %s", c.tool, receipts[i].status, receipts[i].body)
		}
	}
	d.kill(t)

	d = demoFor(t, args...)
	for i, c := range changes {
		if again := d.confirm(t, c.person, ids[i], true); again.status != 200 || again.body != receipts[i].body {
			t.Errorf("%s: before the kill %s\nafter it: %d %s", c.tool, receipts[i].body, again.status, again.body)
		}
		if a := d.confirm(t, "nina.patel", ids[i], true); a.status == 200 {
			t.Errorf("%s: another person got the receipt: %s", c.tool, a.body)
		}
	}
	counts := appliedIn(t, d.Audit)
	for i, id := range ids {
		if counts[id] != 1 {
			t.Errorf("%s: the audit log has %d changes", changes[i].tool, counts[id])
		}
	}
}

// TestQuestionsAcrossTheCompany asks typical questions of each domain.
func TestQuestionsAcrossTheCompany(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, c := range []struct{ person, question, want string }{
		{"eve.thompson", "What's our Q4 budget vs actual spend?", `(?s)\$?[\d,]{7,}.*\$?[\d,]{7,}`},
		{"carol.johnson", "How is our pipeline this quarter?", `(?i)pipeline`},
		{"bob.martinez", "Which invoices are overdue?", `INV-2025-008`},
		{"dan.williams", "critical tickets about login", `(?i)sign in|login`},
		{"dan.williams", "how do I reset my password?", `(?i)password`},
		{"frank.davis", "Which invoices are overdue?", `finance-read`},
		{"frank.davis", "Show me the top 5 deals closing this month", `sales-read`},
		{"frank.davis", "critical tickets about login", `support-read`},
		{"frank.davis", "Show me everyone's salary", `hr-write, executive or finance-read for rows that they may see`},
		{"marcus.johnson", "What did I spend in travel?", `(?s)\$70\b.*\$492\b`},
		{"bob.martinez", "How much do we owe?", `over 11 invoices that you can see: amount \$152,600`},
		{"bob.martinez", "Which budgets are waiting for approval?", `I found 2 budgets \(waiting for approval\)`},
		{"dan.williams", "Which tickets are urgent?", `(?s)I found 6 tickets.*high`},
	} {
		s := d.ask(t, c.person, c.question)
		if !regexp.MustCompile(c.want).MatchString(s.text) {
			t.Errorf("%s asked %q: the answer does not match %s:\n%s", c.person, c.question, c.want, s.text)
		}
		if len(s.pending) > 0 {
			t.Errorf("%s asked %q: opened %s", c.person, c.question, s.pending[0].Message)
		}
	}
}

// TestWhatCanYouDoHasNoCorrection: what the tools say of themselves is no claim about
// data, so no note calls a part of it invented.
func TestWhatCanYouDoHasNoCorrection(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, person := range []string{"eve.thompson", "alice.chen", "bob.martinez", "carol.johnson", "dan.williams", "nina.patel", "frank.davis"} {
		s := d.ask(t, person, "What can you do?")
		if !strings.HasPrefix(s.text, "I answer from this company's data what you may see") || strings.Contains(s.raw, `"type":"note"`) {
			t.Errorf("%s: got %s", person, s.raw)
		}
	}
}

func TestTopDealsComeByValue(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "carol.johnson", "Show me the top 5 deals closing this month")
	if len(s.rows) < 5 {
		t.Fatalf("got %d rows\n%s", len(s.rows), s.text)
	}
	for i := 1; i < 5; i++ {
		if s.rows[i]["value"].(float64) > s.rows[i-1]["value"].(float64) {
			t.Errorf("row %d is larger than the one before:\n%s", i, s.text)
		}
	}
}

func TestChangesAcrossTheCompanyWaitForApproval(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, c := range []struct{ person, question, want string }{
		{"bob.martinez", "Approve the 2026 marketing budget", "Marketing"},
		{"bob.martinez", "Delete invoice INV-2025-009", "INV-2025-009"},
		{"dan.williams", "close ticket TICK-004: password reset fixed the login", "password reset fixed the login"},
	} {
		s := d.ask(t, c.person, c.question)
		if len(s.pending) != 1 || !strings.Contains(s.pending[0].Message+fmt.Sprint(s.pending[0].Data["quotes"]), c.want) {
			t.Errorf("%s said %q: got %+v\n%s", c.person, c.question, s.pending, s.text)
			continue
		}
		if a := d.confirm(t, c.person, s.pending[0].ID, false); a.status != 200 {
			t.Errorf("denying: %d %s", a.status, a.body)
		}
	}
}

// TestPlantedInstructionChangesNothing: the text of a ticket asks the assistant
// to close all tickets; reading it opens no confirmation.
func TestPlantedInstructionChangesNothing(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, question := range []string{"Show all tickets", "open tickets", "Show me the medium tickets", "search tickets for assistant"} {
		if s := d.ask(t, "dan.williams", question); len(s.pending) > 0 {
			t.Errorf("%q opened %s", question, s.pending[0].Message)
		}
	}
}

func TestOneTurnAsksSeveralDomains(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "eve.thompson", "open tickets and overdue invoices")
	used := strings.Join(s.tools, " ")
	if !strings.Contains(used, "search_tickets") || !strings.Contains(used, "list_invoices") {
		t.Errorf("it used %s:\n%s", used, s.text)
	}
}

// TestReadyProvesData: a server is ready only when its store holds rows. This demo
// was not started in a repository, so there is no code to search.
func TestReadyProvesData(t *testing.T) {
	t.Parallel()
	for name, url := range sharedDemo(t).Servers {
		want := 200
		if name == "codesearch" {
			want = 503
		}
		if a := send(t, http.MethodGet, url+"/ready", "", nil); a.status != want {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
