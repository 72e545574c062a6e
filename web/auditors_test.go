package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// auditor is who may read the record.
func auditor() object {
	return object{"userId": "u9", "issuer": "https://issuer.test", "username": "ann.audit", "name": "Ann Audit", "roles": []string{"auditor"}}
}

// TestRecordIsSearchedOnThePage: an auditor finds events, follows one request through
// its steps, and verifies the chain in its place. For others there is no such page.
func TestRecordIsSearchedOnThePage(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	asked := make(chan string, 20)
	g.on("GET /api/audit", func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.RawQuery
		event := func(seq int, step, outcome string) object {
			return object{"seq": seq, "from": "hr", "time": "2026-11-22T09:00:00Z", "kind": "confirmation", "username": "alice.chen", "server": "hr", "tool": "delete_employee", "step": step, "outcome": outcome, "confirmation": "c-1234567890", "note": "<b>left</b>"}
		}
		page := object{"events": []object{event(9, "applied", "success"), event(8, "approved", "success"), event(7, "opened", "pending_confirmation")}, "next": "7,1", "logs": []object{{"name": "gateway", "file": "audit.jsonl", "events": 1234}, {"name": "hr", "file": "hr.jsonl", "events": 9}}, "unread": []object{{"name": "finance", "events": 41}}}
		if strings.Contains(r.URL.RawQuery, "before=7") || strings.Contains(r.URL.RawQuery, "person=frank") {
			page = object{"events": []object{{"seq": 3, "time": "2026-11-21T09:00:00Z", "kind": "denial", "username": "frank.davis", "outcome": "INSUFFICIENT_PERMISSIONS"}}, "logs": []object{{"name": "gateway", "problem": "line 2 of audit.jsonl: altered"}}}
		}
		if strings.Contains(r.URL.RawQuery, "row=E-7") {
			again := event(9, "applied", "success")
			again["shown"] = "yes"
			page = object{"events": []object{again, {"seq": 5, "kind": "outcome", "tool": "list_employees", "shown": "yes"}, {"seq": 4, "kind": "outcome", "tool": "list_tasks", "shown": "perhaps"}, {"seq": 2, "kind": "outcome", "tool": "get_employee"}}}
		}
		answer(http.StatusOK, page)(w, r)
	})
	g.on("GET /api/audit/verify", answer(http.StatusOK, object{"whole": false, "unread": []object{{"name": "finance", "events": 41}}, "logs": []object{
		{"name": "gateway", "whole": true, "status": "whole", "events": 1234, "last": "2026-11-22T09:00:00Z"},
		{"name": "hr", "whole": false, "status": "lines were altered", "events": 41, "last": "2026-11-22T09:00:00Z", "broken": "line 42: altered: its text does not match its hash."},
	}}))
	p.Open(g.URL + "/#/audit")
	p.Sees("[data-not-found]", "no such page")
	p.Misses("#pages a[href='#/audit']:not([hidden] *)")

	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	p.Open("about:blank")
	p.Open(g.URL + "/#/audit")
	p.Sees("#pages a[href='#/audit']", "Audit")
	p.Sees("[data-event='9']", "Delete employee · applied")
	p.Sees("[data-event='9']", "<b>left</b>")
	if hidden := eval[int](p, `[...document.querySelectorAll("[data-events] td")].filter((one) => one.scrollWidth > one.clientWidth).length`); hidden > 0 {
		t.Errorf("%d cells of the record are cut", hidden)
	}
	p.Sees("[data-event='9'] [data-from=hr]", "in the log of hr, event 9")
	p.Sees("[data-coverage]", "Read here are the logs of these processes: gateway (audit.jsonl), 1,234 events; hr (hr.jsonl), 9 events.")
	p.Sees("[data-unread]", "Not read here are the logs of: finance, 41 events.")
	p.Until(`(document.querySelector("[data-filter=person]").value = "eve", true)`) // which is not searched for yet
	p.Click("[data-more-events]")
	p.Sees("[data-event='3']", "frank.davis")
	p.Sees("[data-unreadable=gateway]", "Not all of the log of gateway could be read: line 2 of audit.jsonl: altered")
	p.Until(`document.querySelectorAll("[data-event]").length === 4 && document.querySelector("[data-more-events]").hidden`)
	p.Until(`(() => { const f = document.querySelector("[data-filter=person]"); f.value = "alice"; f.form.requestSubmit(); return true; })()`)
	p.Until(`document.querySelectorAll("[data-event]").length === 3`)
	p.Until(`(() => { const f = document.querySelector("[data-filter=row]"); f.value = "E-7"; f.form.requestSubmit(); return true; })()`)
	p.Sees("[data-event='5']", "showed this row, by the fingerprint of its id")
	p.Sees("[data-event='4']", "perhaps showed this row")
	p.Misses("[data-event='2'] [data-shown]")
	p.Sees("[data-event='9'] [data-shown]", "showed this row") // which was there before
	p.Until(`(() => { const f = document.querySelector("[data-filter=row]"); f.value = ""; f.form.requestSubmit(); return true; })()`)
	p.Sees("[data-event='8']", "Delete employee · approved")
	p.Misses("[data-shown]")
	p.Click("[data-verify]")
	p.Sees("[data-chain=false] [data-chain-of=hr].error", "hr: The chain is not whole: lines were altered. line 42: altered")
	p.Sees("[data-chain-of=gateway].hint", "gateway: The chain is whole. 1,234 events were read")
	p.Sees(".chain [data-unread]", "finance")
	p.Click("[data-event='9'] a")
	p.Sees("[data-course] li:first-child", "Opened")
	p.Sees("[data-course] li:last-child", "Applied")
	p.Looks("audit")
	p.Until(`(() => { const f = document.querySelector("[data-filter=person]"); f.value = "frank"; f.form.requestSubmit(); return true; })()`)
	p.Sees("[data-event='3']", "frank.davis")
	p.Misses("[data-event='9']")
	if got := p.Count("[data-course] li"); got != 3 { // the course is that of the request, whatever else is searched for
		t.Errorf("the course has %d steps after another search, want 3", got)
	}
	close(asked)
	want := []string{"", "before=7%2C1", "person=alice", "person=alice&row=E-7", "person=alice", "confirmation=c-1234567890", "person=frank&confirmation=c-1234567890"}
	if got := slices.Collect(received(asked)); !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

// TestExpiredRequestEndsOnThePage: the page draws the end that no line of the record has, and
// says that it is derived.
func TestExpiredRequestEndsOnThePage(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	g.on("GET /api/audit", answer(http.StatusOK, object{"events": []object{{"seq": 7, "from": "hr", "time": "2026-11-22T09:00:00Z", "expired": "2026-11-22T09:05:00Z", "kind": "confirmation", "username": "alice.chen",
		"server": "hr", "tool": "delete_employee", "step": "opened", "outcome": "pending_confirmation", "confirmation": "c-1"}}, "logs": []object{{"name": "hr", "events": 7}}}))
	p.Open(g.URL + "/#/audit/c-1")
	p.Sees("[data-course] li:first-child", "Opened")
	p.Sees("[data-course] li:last-child[data-derived]", "Expired")
	p.Sees("[data-derived] .hint", "not a line of the record")
	p.Sees("[data-event='7'] [data-expired]", "expired at")
	if got := eval[string](p, `document.querySelector("[data-derived] time").dateTime`); got != "2026-11-22T09:05:00Z" {
		t.Errorf("expired at %s, want five minutes after it was opened", got)
	}
}

func received(all <-chan string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for one := range all {
			if !yield(one) {
				return
			}
		}
	}
}

// TestOverviewShowsWhoMayWhat: roles that are chosen leave the tools which they open,
// and a person's sign-ins end after a second click.
func TestOverviewShowsWhoMayWhat(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	g.on("GET /api/admin", answer(http.StatusOK, object{
		"servers": []object{{"name": "hr", "healthy": true, "calls": 7, "failures": 1, "averageMs": 2.5}},
		"tools":   []object{{"name": "delete_employee", "title": "Delete employee", "server": "hr", "kind": "write", "roles": []string{"hr-write"}}, {"name": "list_budgets", "server": "finance", "kind": "list", "roles": []string{"finance-read", "executive"}}, {"name": "notes.add", "server": "notes", "kind": "write", "roles": []string{}, "pin": "a1b2c3"}},
		"held":    []object{{"server": "notes", "tool": "wipe", "why": "its definition is new"}},
		"people":  []object{{"username": "alice.chen", "issuer": "https://issuer.test", "sub": "u1", "seen": "2026-11-22T09:00:00Z", "roles": []string{"finance-read", "employee"}, "usage": object{"input_tokens": 1200, "output_tokens": 30}}, {"username": "ann.audit", "issuer": "https://issuer.test", "sub": "u9", "seen": "2026-11-22T09:00:00Z"}},
		"logs":    []object{{"name": "gateway", "events": 12}},
		"expired": []object{{"confirmation": "c-1", "username": "bob", "server": "hr", "tool": "delete_employee", "taintedBy": "text of ticket TICK-009", "opened": "2026-11-22T09:00:00Z"}},
	}))
	g.on("POST /api/revoke", g.hears(answer(http.StatusOK, object{"status": "success"})))
	p.Open(g.URL + "/#/admin")
	p.Sees("[data-server=hr]", "hr")
	p.Sees("tr:has([data-tool-name='notes.add']) code", "a1b2c3")
	p.Sees("tr:has([data-revoke=u1])", "1,200 tokens in, 30 out")
	p.Sees("[data-held=wipe]", "notes.wipe: its definition is new")
	p.Sees("[data-open-tools]", "3 of 3 tools")
	p.Click("[data-role=executive]")
	p.Sees("[data-open-tools]", "1 of 3 tools")
	p.Sees("[data-tool-name=list_budgets]", "list_budgets")
	p.Misses("[data-tool-name=delete_employee]")
	p.Sees("[data-rights-of]", "alice.chen")
	eval[bool](p, `(() => { const who = document.querySelector("[data-rights-of]"); who.value = "0"; return who.dispatchEvent(new Event("change")); })()`)
	p.Until(`[...document.querySelectorAll("[data-role]:checked")].map((one) => one.dataset.role).join() === "employee,finance-read"`)
	p.Sees("[data-tool-name=list_budgets]", "list_budgets")
	p.Misses("[data-tool-name=delete_employee]")
	p.Click("[data-role=hr-write]")
	p.Sees("[data-open-tools]", "2 of 3 tools")
	p.Until(`document.querySelector("[data-rights-of]").value === ""`)
	p.Click("[data-revoke=u1]")
	p.Sees("[data-revoke=u1]", "End all sign-ins of alice.chen")
	if got := g.said(); len(got) != 0 {
		t.Fatalf("one click sent %q", got)
	}
	p.Click("[data-revoke=u1]")
	p.Sees("[data-revoked=u1]", "have been ended")
	p.Misses("[data-revoke=u9]") // one's own
	p.Sees("[data-expired=c-1]", "Its course")
	p.Sees("[data-coverage]", "Read here are the logs of these processes: gateway, 12 events.")
	if got, want := g.said(), []string{`POST /api/revoke {"issuer":"https://issuer.test","sub":"u1"}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Looks("admin")
	eval[bool](p, `(() => { const who = document.querySelector("[data-rights-of]"); who.value = "0"; return who.dispatchEvent(new Event("change")); })()`)
	p.Until(`[...document.querySelectorAll("[data-role]:checked")].map((one) => one.dataset.role).join() === "employee,finance-read"`) // again, though they are the same
}

// TestPeopleOfOneNameAreDistinguished: another issuer may choose any user name, and any subject.
func TestPeopleOfOneNameAreDistinguished(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	ours, theirs := "https://issuer.test", "https://partner.test/realms/a"
	person := func(name, issuer, sub string) object {
		return object{"username": name, "issuer": issuer, "sub": sub, "seen": "2026-11-22T09:00:00Z", "roles": []string{"employee"}}
	}
	event := func(seq int, issuer, sub string) object {
		return object{"seq": seq, "from": "hr", "time": "2026-11-22T09:00:00Z", "kind": "confirmation", "step": "opened", "confirmation": "c-1", "username": "alice.chen", "iss": issuer, "sub": sub}
	}
	g.on("GET /api/audit", answer(http.StatusOK, object{"events": []object{event(2, theirs, "u9"), event(1, ours, "u1")}}))
	g.on("GET /api/admin", answer(http.StatusOK, object{"servers": []object{}, "tools": []object{}, "held": []object{}, "logs": []object{},
		"people":  []object{person("alice.chen", theirs, "u9"), person("alice.chen", ours, "u1"), person("bob", ours, "u2"), person("ann.audit", ours, "u9")},
		"expired": []object{{"confirmation": "c-1", "username": "alice.chen", "issuer": theirs, "sub": "u9", "opened": "2026-11-22T09:00:00Z"}}}))
	same := func(what, script string, want ...string) {
		t.Helper()
		if got := eval[[]string](p, script); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	partner, own := "alice.chen partner.test/realms/a · u9", "alice.chen issuer.test · u1"
	p.Open(g.URL + "/#/admin")
	p.Sees("[data-expired]", "Its course")
	names := func(rows, cell string) string {
		return `[...document.querySelectorAll("` + rows + `")].map((n) => n.closest("tr").querySelector("` + cell + `").innerText.trim())`
	}
	same("people", names("[data-revoked]", "th"), partner, own, "bob")
	same("expired", names("[data-expired]", "td"), partner)
	same("choice", `[...document.querySelectorAll("[data-rights-of] option")].slice(1).map((n) => n.textContent)`, "alice.chen (partner.test/realms/a · u9)", "alice.chen (issuer.test · u1)", "bob", "ann.audit")
	p.Click("[data-revoke=u9]")
	p.Sees("[data-revoke=u9]", "End all sign-ins of alice.chen (partner.test/realms/a · u9)")
	p.Open(g.URL + "/#/audit/c-1")
	p.Sees("[data-course] li", "alice.chen")
	same("events", names("[data-event]", "td"), partner, own)
	same("course", `[...document.querySelectorAll("[data-course] [data-origin]")].map((n) => n.innerText)`, "issuer.test · u1", "partner.test/realms/a · u9")
}

// A page whose content comes late begins at its beginning: only an answer is followed.
func TestPageBeginsAtItsBeginning(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	arrives := make(chan struct{})
	g.on("GET /api/admin", func(w http.ResponseWriter, r *http.Request) {
		<-arrives
		tools := []object{}
		for range 60 {
			tools = append(tools, object{"name": "list_budgets", "server": "finance", "kind": "list", "roles": []string{"finance-read"}})
		}
		answer(http.StatusOK, object{"servers": []object{}, "tools": tools, "held": []object{}, "people": []object{}, "expired": []object{}})(w, r)
	})
	p.Open(g.URL + "/#/admin")
	p.Window(1100, 500)
	p.Sees("#page-title", "Administration")
	close(arrives)
	p.Sees("[data-open-tools]", "60 of 60 tools")
	if got := eval[int](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(`+view+`.scrollTop))))`); got != 0 {
		t.Errorf("the page is scrolled by %d pixels when it is opened", got)
	}
}
