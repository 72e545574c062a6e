package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/browsertest"
)

// user is a person with a browser at a demo's chat page.
type user struct {
	*browsertest.Page
	t      *testing.T
	demo   *process
	record *browsertest.Recorder
}

func userOf(t *testing.T, d *process) *user {
	t.Helper()
	record := browsertest.NewRecorder(t)
	return &user{browsertest.NewThrough(t, record), t, d, record}
}

// TestBrowserEndToEnd goes through everything that a person does at the chat
// page, in a real browser, against a demo.
func TestBrowserEndToEnd(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	d := demoFor(t)
	t.Run("an intern sees no pay of others, by keyboard only", func(t *testing.T) { internByKeyboard(userOf(t, d)) })
	t.Run("HR reads all pages, denies and approves", func(t *testing.T) { listDenyApprove(userOf(t, d)) })
	t.Run("an approval's address is kept through the sign-in", func(t *testing.T) { approveByAddress(userOf(t, d)) })
	t.Run("a narrow window in dark mode", func(t *testing.T) { narrowAndDark(userOf(t, d)) })
}

func internByKeyboard(d *user) {
	d.Open(d.demo.Gateway)
	d.signInByKeyboard("frank.davis")
	d.Sees("#greeting", "Hello, Frank.")
	d.ask("Show me all employee salaries")
	d.Sees("[data-turn=done] [data-answer]", "hr-write")
	d.ask("What is Marcus's salary?")
	d.Until(`document.querySelectorAll("[data-turn=done]").length === 2`)
	noPay(d.t, d.Text("body"), "Frank Davis")

	d.tabTo("#sign-out", true)
	d.Press("\r")
	d.Sees("#sign-in", "Sign in")
	for _, a := range d.answers() {
		noPay(d.t, a.Body(), "Frank Davis")
	}
	d.received("hr-write") // proves that answers were recorded
}

func listDenyApprove(d *user) {
	d.Open(d.demo.Gateway)
	d.Shot("system-signed-out")
	d.signIn("alice.chen")
	d.Sees("#model", "not an AI model")
	d.Shot("system-empty")

	d.ask("List all employees")
	d.Sees("[data-notice=truncation]", "Showing 50 of 50+ employees.")
	d.Sees("[data-turn=done] [data-row-count]", "50 rows shown, more follow")
	d.Shot("system-list")
	d.Reload()
	d.Sees("[data-row-count]", "50 rows shown, more follow")
	d.Sees("[data-notice=truncation]", "Showing 50 of 50+ employees.")
	d.Until(`document.querySelectorAll("[data-notice]").length === 1`)
	d.Click("[data-csv]")
	d.Sees("#toast", "The file has 50 of 59, incomplete.")
	d.Click("[data-next-page]")
	d.Sees("[data-row-count]", "59 rows, complete")
	d.Press(kb.Escape) // moves the focus from the rows back to the question

	d.askToDelete()
	d.Click("[data-card] [data-deny]")
	d.Sees("[data-card-state=denied] [data-card-note]", "Nothing was changed.")
	d.seesOnce("Nothing was changed.")
	d.seesEmployees(59)

	d.askToDelete()
	d.Shot("system-card")
	d.Click("[data-card-state=waiting] [data-approve]")
	d.Sees("[data-card-state=approved] [data-card-note]", deletedFrank)
	d.Shot("system-approved")
	d.seesOnce(deletedFrank)
	d.Reload()
	d.Sees("[data-card-state=approved] [data-card-note]", deletedFrank)
	d.Sees("[data-card-state=approved] [data-card-receipt]", "Alice Chen (alice.chen)")
	d.seesOnce(deletedFrank)
	d.Shot("system-reloaded")
	d.seesEmployees(58)
	d.signOut()
}

const deletedFrank = "Employee Frank Davis has been deleted."

// askToDelete asks for the deletion of Frank and compares the card's text.
func (d *user) askToDelete() {
	d.t.Helper()
	d.ask("Delete employee Frank Davis")
	d.Sees("[data-turn=done] [data-card-state=waiting]", "Waiting for you")
	frank := employee(d.t, "Frank Davis")
	card := d.Text("[data-card-state=waiting]")
	for _, want := range []string{"Delete employee Frank Davis (" + frank.Email + ")?", "cannot be undone", frank.Title, "Delete employee Frank Davis\n", "Deny", "left"} {
		if !strings.Contains(card, want) {
			d.t.Errorf("the card does not say %q:\n%s", want, card)
		}
	}
	d.Until(`document.querySelectorAll("[data-card-state=waiting]").length === 1`)
}

// seesEmployees asks for all employees, reads to the last page and counts.
func (d *user) seesEmployees(want int) {
	d.t.Helper()
	d.Click("#new")
	d.Sees("#greeting", "Hello")
	d.ask("List all employees")
	d.Sees("[data-turn=done] [data-next-page]", "Next page")
	d.Click("[data-next-page]")
	d.Sees("[data-row-count]", fmt.Sprintf("%d rows, complete", want))
	d.Press(kb.Escape)
	listed := browsertest.Eval[bool](d.Page, `[...document.querySelectorAll("tbody th")].some(n => n.textContent === "Frank Davis")`)
	if listed != (want == 59) {
		d.t.Errorf("of %d employees, Frank is one: %v", want, listed)
	}
}

func (d *user) seesOnce(words string) {
	d.t.Helper()
	if got := strings.Count(d.Text("#view"), words); got != 1 {
		d.t.Errorf("%q is shown %d times, want once:\n%s", words, got, d.Text("#view"))
	}
}

// approveByAddress opens the address that clients without a chat page receive.
func approveByAddress(d *user) {
	marcus := employee(d.t, "Marcus Johnson").ID
	a := d.demo.call(d.t, "alice.chen", "update_salary", map[string]any{"employee_id": marcus, "new_salary": 150000})
	var card pendingCard
	if err := json.Unmarshal([]byte(a.body), &card); err != nil {
		d.t.Fatalf("%v: %s", err, a.body)
	}
	address, _ := card.Data["approvalUrl"].(string)
	d.Open(address)
	d.Click("#sign-in")
	d.Click("button[name=username][value='alice.chen']")
	d.Until(fmt.Sprintf(`document.activeElement?.dataset.card === %q`, card.ID))
	d.Sees("[data-card]", "$150,000")
	d.Until(`document.querySelector("[data-approve]").ariaDisabled !== "true"`) // when all of it was in view
	d.tabTo("[data-approve]", false)
	d.Press("\r")
	d.Sees("[data-card-state=approved] [data-card-note]", "150,000")
	if got := d.demo.salary(d.t, marcus); got != 150000 {
		d.t.Errorf("the salary is %v, want 150000", got)
	}
}

func narrowAndDark(d *user) {
	d.Prefer("dark")
	d.Open(d.demo.Gateway)
	d.signIn("alice.chen")
	d.Narrow(360)
	d.Shot("system-narrow-empty")
	d.Sees("[data-suggestion]", "") // it moves the field that is clicked next
	d.Click("#question")
	d.ask("Who is on my team?")
	d.Sees("[data-turn=done] [data-answer]", "Jennifer Lee")
	d.Shot("system-narrow")
	d.ask("Increase Sarah's salary to $420,000")
	d.Sees("[data-turn=done] [data-card-state=waiting]", "$420,000")
	d.Shot("system-narrow-card")
	if width := browsertest.Eval[int](d.Page, `document.documentElement.scrollWidth`); width > 360 {
		d.t.Errorf("the page is %d pixels wide, want at most 360", width)
	}
}

// ---- signing in and out

// signIn signs in through the issuer's page.
func (d *user) signIn(username string) {
	d.t.Helper()
	d.Click("#sign-in")
	d.Click("button[name=username][value='" + username + "']")
	d.Until(`document.activeElement?.id === "question"`)
}

func (d *user) signInByKeyboard(username string) {
	d.t.Helper()
	d.Until(`document.activeElement?.id === "sign-in"`)
	d.Press("\r")
	d.Until(`location.pathname === "/authorize"`)
	d.tabTo("button[name=username][value='"+username+"']", false)
	d.Press("\r")
	d.Until(`document.activeElement?.id === "question"`)
}

func (d *user) signOut() {
	d.t.Helper()
	d.Click("#sign-out")
	d.Sees("#sign-in", "Sign in")
}

// tabTo presses Tab until something that matches has the focus.
func (d *user) tabTo(selector string, backwards bool) {
	d.t.Helper()
	var held []chromedp.KeyOption
	if backwards {
		held = append(held, chromedp.KeyModifiers(chromedp.ModifierShift))
	}
	d.Until(fmt.Sprintf(`document.readyState === "complete" && document.querySelector(%q)`, selector))
	there := fmt.Sprintf(`Boolean(document.activeElement?.matches(%q))`, selector)
	for range 60 {
		if browsertest.Eval[bool](d.Page, there) {
			return
		}
		d.Press(kb.Tab, held...)
	}
	d.t.Fatalf("Tab does not lead to %s", selector)
}

// ask types a question and sends it with Enter.
func (d *user) ask(question string) {
	d.t.Helper()
	d.Until(`document.activeElement?.id === "question" && document.getElementById("composer").dataset.running === "false"`)
	d.Press(question)
	d.Until(fmt.Sprintf(`document.activeElement.value === %q`, question))
	d.Press("\r")
}

// ---- answers to the browser

// answers returns all answers so far. Any with an error status fails the test,
// except 401 for GET /api/user.
func (d *user) answers() []*browsertest.Answer {
	d.t.Helper()
	all := d.record.Answers()
	for _, a := range all {
		signedOut := a.Status == http.StatusUnauthorized && a.URL == d.demo.Gateway+"/api/user"
		if a.Status >= 400 && !signedOut {
			d.t.Errorf("%s %s was answered %d: %s", a.Method, a.URL, a.Status, a.Body())
		}
	}
	return all
}

func (d *user) received(words string) {
	d.t.Helper()
	if !slices.ContainsFunc(d.answers(), func(a *browsertest.Answer) bool { return strings.Contains(a.Body(), words) }) {
		d.t.Errorf("no answer contains %q", words)
	}
}
