package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// everyState leads a page of an auditor through all that it can show, and calls check
// in each state.
func everyState(g *gateway, p *page, phone bool, check func(state string)) {
	g.t.Helper()
	showAllThereIs(g)
	p.Prefer("light")
	g.on("GET /api/user", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	p.Open(g.URL)
	p.Sees("#starting-retry", "")
	check("unreachable")
	g.on("GET /api/user", answer(http.StatusUnauthorized, object{"error": "Unauthorized"}))
	p.Reload()
	p.Sees("#sign-in", "")
	check("signed out")
	g.on("GET /api/user", answer(http.StatusOK, auditor()))
	p.Reload()
	p.Sees("#suggestions", "")
	if phone {
		p.Narrow(360)
		p.Click("#question")
	}
	check("empty")
	p.ask("Show me everything")
	p.Sees("[data-turn=done] [data-card=x1]", "Frank")
	p.Sees("[data-note=figure]", "the rows are 12")
	check("answered")
	eval[bool](p, `document.querySelectorAll("#log details").forEach((n) => (n.open = true)) ?? true`)
	p.Click("[data-row-open]")
	check("all opened")
	p.Click("[data-result=list_tasks] [data-view=board]")
	p.Sees("[data-lane=todo]", "Read the log")
	check("board")
	p.Click("[data-result=list_tasks] [data-view=chart]")
	p.Sees("[data-result=list_tasks] [data-chart]", "")
	check("chart")
	if phone {
		p.Click("[data-card=x1] [data-read]")
		p.Sees(".sheet [data-card=x1] [data-deny]", "")
		check("sheet")
	}
	p.Click("[data-card=x1] [data-deny]")
	p.Sees("[data-card=x1][data-card-state=denied]", "")
	check("denied")
	eval[bool](p, `document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }))`)
	p.Sees("#palette [role=option]", "")
	check("palette")
	eval[bool](p, `document.querySelector("#palette").close() ?? true`)
	for _, place := range []string{"approvals", "approve/x9", "approve/x8", "usage", "audit", "audit/c-1", "admin", "nowhere"} {
		eval[bool](p, fmt.Sprintf(`(document.querySelector(".page-view")?.setAttribute("data-before", ""), location.hash = "#/%s") !== ""`, place))
		p.Sees(".page-view:not([data-before])", "")
		if place == "audit" {
			p.Click("[data-verify]")
			p.Sees("[data-chain=false]", "")
		}
		check(strings.ReplaceAll(place, "/", " "))
	}
	eval[bool](p, `(dispatchEvent(new Event("offline")), new BroadcastChannel("countersign").postMessage({ person: "u2" })) ?? true`)
	p.Sees("#frozen", "Ann Audit")
	check("frozen")
}

// showAllThereIs makes a gateway that has something to show in every place.
func showAllThereIs(g *gateway) {
	g.on("GET /api/audit", answer(http.StatusOK, object{"next": "2,1", "logs": []object{{"name": "gateway", "file": "audit.jsonl", "events": 9}, {"name": "hr", "problem": "altered"}}, "unread": []object{{"name": "finance", "events": 41}}, "events": []object{{"seq": 3, "from": "gateway", "shown": "perhaps", "time": "2026-11-21T09:00:00Z", "kind": "denial", "username": "frank.davis", "outcome": "INSUFFICIENT_PERMISSIONS", "confirmation": "c-1", "taintedBy": "text of ticket TICK-009", "step": "opened"}}}))
	g.on("GET /api/audit/verify", answer(http.StatusOK, object{"whole": false, "unread": []object{{"name": "finance", "events": 41}}, "logs": []object{{"name": "gateway", "whole": false, "status": "lines were altered", "events": 41, "head": "41/x", "last": "2026-11-22T09:00:00Z"}}}))
	g.on("GET /api/admin", answer(http.StatusOK, object{
		"servers": []object{{"name": "hr", "healthy": true, "calls": 1, "failures": 0, "averageMs": 1}, {"name": "notes", "healthy": false, "calls": 1, "failures": 1, "averageMs": 1}},
		"tools":   []object{{"name": "list_budgets", "server": "finance", "kind": "list", "roles": []string{"finance-read"}}, {"name": "add", "server": "notes", "kind": "write", "roles": []string{}}},
		"held":    []object{{"server": "notes", "tool": "wipe", "why": "new"}},
		"people":  []object{{"username": "alice", "issuer": "i", "sub": "s", "seen": "2026-11-22T09:00:00Z", "roles": []string{"finance-read"}, "usage": object{"input_tokens": 7, "output_tokens": 3}}},
		"expired": []object{{"confirmation": "c-1", "username": "bob", "server": "hr", "tool": "delete_employee", "opened": "2026-11-22T09:00:00Z"}}}))
	g.on("GET /api/usage", answer(http.StatusOK, object{"budget": object{"tokens": 1000}, "days": []object{{"day": "2026-11-22", "input_tokens": 7, "output_tokens": 3, "estimated": true}}, "conversations": []object{}}))
	conversations := []object{}
	for i, days := range []int{0, 1, 3, 20, 90, 0} {
		conversations = append(conversations, object{"id": fmt.Sprint("c", 10+i), "title": "Earlier", "updated": time.Now().AddDate(0, 0, -days).Format(time.RFC3339)})
	}
	slices.SortStableFunc(conversations, func(a, b object) int { return strings.Compare(b["updated"].(string), a["updated"].(string)) })
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": conversations}))
	g.on("GET /api/confirmations", answer(http.StatusOK, object{"confirmations": []object{waiting("x9")}, "unavailable": []object{{"confirmationId": "x7", "mcpServer": "hr", "message": "No answer."}}}))
	g.on("GET /api/models", answer(http.StatusOK, object{"models": []object{{"name": "careful", "price": object{"input": 3, "output": 15, "currency": "USD"}}, {"name": "rehearsal", "default": true}}}))
	g.on("GET /api/tools", workTools())
	g.on("POST /api/confirm/{id}", answer(http.StatusOK, object{"status": "cancelled", "message": "Action cancelled by user"}))
	g.on("POST /api/query", turn(
		listedTasks(), foundCode(),
		object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "list_employees: 12 rows", "data": employees(12, "next"), "args": object{}},
		object{"type": "tool", "state": "complete", "tool": "delete_employee", "server": "hr", "data": object{"status": "error", "code": "INSUFFICIENT_PERMISSIONS", "message": "Refused."}},
		object{"type": "truncation", "tool": "list_employees", "hint": "Showing 12 of 12+ employees."},
		object{"type": "service_unavailable", "warnings": []object{{"server": "finance"}}},
		object{"type": "text", "text": "See [the **handbook**](https://example.com) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
		object{"type": "note", "kind": "figure", "text": "The answer names 13 people, the rows are 12."},
		object{"type": "text", "text": "The list is incomplete.", "source": "gateway"},
		object{"type": "error", "error": "Something failed.", "code": "TIMEOUT"},
		pending("x1"),
		object{"type": "stop", "usage": object{"input_tokens": 1000, "output_tokens": 10, "cached_tokens": 5, "estimated": true, "price": object{"amount": 0.01, "currency": "USD"}}},
	))
}

// marked is a dictionary that has every sentence, each between two marks.
const marked = `export const words = {}; export const names = {};
const has = { get: (_, sentence) => typeof sentence === "string" ? "⟦" + sentence + "⟧" : undefined };
Object.setPrototypeOf(words, new Proxy({}, has));`

// texts are all that people read or hear on the page, where it is shown: texts, names
// for screen readers, hints of fields.
const texts = `[...document.querySelectorAll("body *")].filter((n) => n.checkVisibility() || n.closest("select, .visually-hidden")).flatMap((n) => [
	...[...n.childNodes].filter((c) => c.nodeType === 3).map((c) => c.data),
	...["aria-label", "title", "placeholder", "alt"].map((name) => n.getAttribute(name) ?? "")]).filter((text) => /\p{L}{2}/u.test(text))`

var plain = strings.NewReplacer(`\n`, " ", `\t`, " ", `\u003c`, "<", `\u003e`, ">")

var word = regexp.MustCompile(`\p{L}{2,}`)

// TestNoEnglishIsLeftInGerman: with a dictionary that marks what it translates, every
// text of every state is marked, or has only words that the gateway sent.
func TestNoEnglishIsLeftInGerman(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	files := g.route("GET /")
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		if name := r.URL.Path; name == "/de.js" || name == "/de-data.js" || name == "/de-tools.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, marked)
			return
		}
		files(w, r)
	})
	p.Open(g.URL + "/icon.svg")
	eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
	found := map[string]string{}
	everyState(g, p, false, func(state string) {
		sent := map[string]bool{"Countersign": true, "English": true, "Deutsch": true, "Language": true, "Sprache": true, "Esc": true, "CSV": true}
		for _, text := range append(g.wrote(), "Show me everything") {
			for _, one := range word.FindAllString(plain.Replace(text), -1) {
				sent[one] = true
			}
		}
		for _, text := range eval[[]string](p, texts) {
			for _, one := range word.FindAllString(outside(text), -1) {
				if !sent[one] && found[text] == "" {
					found[text] = state
				}
			}
		}
	})
	for text, state := range found {
		t.Errorf("%s: not translated: %q", state, text)
	}
}

var inMarks = regexp.MustCompile(`⟦[^⟦⟧]*⟧`)

// outside is a text without what is between marks, from the inside out.
func outside(text string) string {
	for inMarks.MatchString(text) {
		text = inMarks.ReplaceAllString(text, " ")
	}
	return text
}
