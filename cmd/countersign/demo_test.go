package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
)

// employee finds someone in the sample company by name.
func employee(t testing.TB, name string) company.Employee {
	t.Helper()
	for _, e := range company.At(time.Now()).Active() {
		if e.FirstName+" "+e.LastName == name {
			return e
		}
	}
	t.Fatalf("the company has no %s", name)
	return company.Employee{}
}

// reportsOf lists the names of someone's direct reports, sorted.
func reportsOf(t testing.TB, name string) []string {
	t.Helper()
	var names []string
	manager := employee(t, name)
	for _, e := range company.At(time.Now()).Active() {
		if e.ManagerID == manager.ID {
			names = append(names, e.FirstName+" "+e.LastName)
		}
	}
	slices.Sort(names)
	return names
}

// names of the employees in rows, sorted.
func (s turn) names() []string {
	var names []string
	for _, row := range s.rows {
		name, ok := row["employee_name"].(string)
		if !ok {
			name = fmt.Sprint(row["first_name"], " ", row["last_name"])
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// noPay fails when a text contains a salary or social security number of anyone
// but the excepted.
func noPay(t *testing.T, text string, except ...string) {
	t.Helper()
	for _, e := range company.At(time.Now()).Employees {
		if slices.Contains(except, e.FirstName+" "+e.LastName) {
			continue
		}
		amount := regexp.MustCompile(fmt.Sprintf(`\b(%d|%d,%03d)\b`, e.Salary, e.Salary/1000, e.Salary%1000))
		if strings.Contains(text, e.SSN) || amount.MatchString(text) {
			t.Errorf("the pay or SSN of %s %s is shown", e.FirstName, e.LastName)
		}
	}
}

func TestManagerAsksWhoIsOnTheTeam(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	want := reportsOf(t, "Nina Patel")
	if len(want) != 9 {
		t.Fatalf("the fixture gives Nina %d people, want 9", len(want))
	}
	for _, question := range []string{"Who is on my team?", "who reports to me"} {
		s := d.ask(t, "nina.patel", question)
		if got := s.names(); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v\n%s", question, got, want, s.text)
		}
		for _, name := range want {
			if !strings.Contains(s.text, name) && !strings.Contains(s.text, strings.Fields(name)[0]) {
				t.Errorf("%q: the answer does not name %s:\n%s", question, name, s.text)
			}
		}
		noPay(t, s.raw, "Nina Patel")
	}
}

func TestManagerAsksWhoseReviewsAreDue(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "nina.patel", "Who on my team has performance reviews due?")
	if got, want := s.names(), reportsOf(t, "Nina Patel"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%s", got, want, s.text)
	}
	due := time.Now().UTC().AddDate(0, -13, 0).AddDate(1, 0, 0).Format("2006-01")
	if !strings.Contains(s.text, due) {
		t.Errorf("the answer has no date of %s:\n%s", due, s.text)
	}
}

func TestEmployeeAsksForOwnTimeOff(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "marcus.johnson", "What's my PTO balance?")
	if !regexp.MustCompile(`\b15\b`).MatchString(s.text) {
		t.Errorf("the answer does not say 15:\n%s", s.text)
	}
}

func TestRefusalNamesTheRolesThatMay(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, question := range []string{"What is Marcus's salary?", "Show me all employee salaries"} {
		s := d.ask(t, "frank.davis", question)
		if !strings.Contains(s.text, "hr-write") || !strings.Contains(s.text, "executive") || strings.Contains(s.text, "hr-read") {
			t.Errorf("%q: the answer does not say which roles may:\n%s", question, s.text)
		}
		noPay(t, s.raw, "Frank Davis")
	}
}

func TestIncompleteListSaysSo(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	s := d.ask(t, "alice.chen", "List all employees")
	if len(s.rows) != 50 || len(s.hints) != 1 {
		t.Fatalf("got %d rows and %d hints of truncation, want 50 and 1", len(s.rows), len(s.hints))
	}
	if !regexp.MustCompile(`(?i)incomplete|not all|first 50|more`).MatchString(s.text) {
		t.Errorf("the answer does not say that it is incomplete:\n%s", s.text)
	}
	next := d.askIn(t, "alice.chen", "next page", s.conversation)
	if len(next.rows) != 9 {
		t.Errorf("the next page has %d rows, want 9\n%s", len(next.rows), next.text)
	}
}

func TestUnforeseenQuestionsChangeNothing(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, question := range []string{
		"What's the weather in Paris?", "Book me a flight to Boston", "Don't delete Frank Davis", "What happens if I delete Frank Davis?",
		"Delete everyone in sales", "Promote Marcus", "asdf qwer", "Write me a poem about salaries",
	} {
		s := d.ask(t, "alice.chen", question)
		if len(s.pending) > 0 {
			t.Errorf("%q opened a change: %s", question, s.pending[0].Message)
		}
		if !s.done || strings.TrimSpace(s.text) == "" {
			t.Errorf("%q got no answer", question)
		}
	}
}

func TestApprovedChangeHappensOnceAndIsRecorded(t *testing.T) {
	t.Parallel()
	d := demoFor(t)
	sarah := employee(t, "Sarah Kim")
	s := d.ask(t, "alice.chen", "Increase Sarah's salary to $420,000")
	if len(s.pending) != 1 {
		t.Fatalf("got %d cards, want 1:\n%s", len(s.pending), s.text)
	}
	card := s.pending[0]
	for _, want := range []string{"Sarah Kim", "395,000", "420,000"} {
		if !strings.Contains(card.Message, want) {
			t.Errorf("the card does not say %s: %s", want, card.Message)
		}
	}
	first, again := d.confirm(t, "alice.chen", card.ID, true), d.confirm(t, "alice.chen", card.ID, true)
	if first.status != 200 || first.body != again.body || !strings.Contains(first.body, "420") {
		t.Errorf("got %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	now := d.call(t, "alice.chen", "get_employee", map[string]string{"employee_id": sarah.ID})
	if !strings.Contains(now.body, "420000") {
		t.Errorf("the salary is not changed: %s", now.body)
	}
	stored := send(t, http.MethodGet, d.Gateway+"/api/conversations/"+s.conversation, d.token(t, "alice.chen", "gateway"), nil)
	var messages struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(stored.body), &messages); err != nil {
		t.Fatalf("%v: %s", err, stored.body)
	}
	outcomes := 0
	for _, m := range messages.Messages {
		if m.Role == "system" {
			outcomes++
		}
	}
	if outcomes != 1 {
		t.Errorf("the conversation records the outcome %d times, want once: %s", outcomes, stored.body)
	}
}

func TestDeniedChangeDoesNothing(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	s := d.ask(t, "alice.chen", "Delete employee Frank Davis")
	if len(s.pending) != 1 || !strings.Contains(s.pending[0].Message, "Frank Davis") {
		t.Fatalf("got %+v\n%s", s.pending, s.text)
	}
	id := s.pending[0].ID
	if a := d.confirm(t, "bob.martinez", id, true); a.status != 403 || !strings.Contains(a.body, "You can only approve your own confirmations") {
		t.Errorf("another person's approval: %d %s", a.status, a.body)
	}
	if a := d.confirm(t, "alice.chen", id, false); a.status != 200 || !strings.Contains(a.body, `"cancelled"`) {
		t.Errorf("the denial: %d %s", a.status, a.body)
	}
	if a := d.confirm(t, "alice.chen", id, true); a.status != 409 || !strings.Contains(a.body, "CONFIRMATION_DENIED") {
		t.Errorf("an approval after the denial: %d %s", a.status, a.body)
	}
	frank := d.call(t, "alice.chen", "get_employee", map[string]string{"employee_id": employee(t, "Frank Davis").ID})
	if !strings.Contains(frank.body, `"success"`) {
		t.Errorf("Frank is gone: %s", frank.body)
	}
}

func TestOnlyValidTokensOfTheRightAudienceAreAccepted(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	hr := d.Servers["hr"]
	list := map[string]any{"input": map[string]any{"limit": 1}}
	if a := send(t, "POST", hr+"/tools/list_employees", d.token(t, "alice.chen", "hr"), list); a.status != 200 || !strings.Contains(a.body, `"truncated":true`) {
		t.Errorf("the HR server with its own token: %d %s", a.status, a.body)
	}
	for name, token := range map[string]string{
		"none":             "",
		"junk":             "junk",
		"another audience": d.token(t, "alice.chen", "gateway"),
		"no signature":     "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.",
	} {
		a := send(t, "POST", hr+"/tools/list_employees", token, list)
		if a.status != 401 || !strings.Contains(a.body, "UNAUTHENTICATED") || !strings.Contains(a.header.Get("WWW-Authenticate"), "resource_metadata") {
			t.Errorf("%s: %d %s %s", name, a.status, a.body, a.header.Get("WWW-Authenticate"))
		}
	}
}

func TestDocumentsOwnCurlLinesWork(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	hr, token := d.Servers["hr"], d.token(t, "alice.chen", "hr")
	truncated := send(t, "POST", hr+"/tools/list_employees", token,
		`{"input":{"limit":50},"userContext":{"userId":"user-id","username":"alice.chen","roles":["hr-read"]}}`)
	if !strings.Contains(truncated.body, `"truncated":true`) {
		t.Errorf("got %s", truncated.body)
	}
	frank := employee(t, "Frank Davis").ID
	pending := send(t, "POST", hr+"/tools/delete_employee", token,
		`{"input":{"employeeId":"`+frank+`"},"userContext":{"userId":"user-id","username":"alice.chen","roles":["hr-write"]}}`)
	var card pendingCard
	if err := json.Unmarshal([]byte(pending.body), &card); err != nil || card.ID == "" {
		t.Fatalf("got %s", pending.body)
	}
	a := send(t, "POST", d.Gateway+"/api/confirm/"+card.ID, d.token(t, "alice.chen", "gateway"), `{"approved":false}`)
	if a.status != 200 {
		t.Errorf("answered through the gateway: %d %s", a.status, a.body)
	}
	mismatch := send(t, "POST", hr+"/tools/list_employees", token, `{"input":{},"userContext":{"username":"eve.thompson"}}`)
	if mismatch.status != 403 || !strings.Contains(mismatch.body, "USER_MISMATCH") {
		t.Errorf("someone else's userContext: %d %s", mismatch.status, mismatch.body)
	}
}

func TestBadInputGetsAClearAnswer(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	token := d.token(t, "alice.chen", "gateway")
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"2,049 characters":   {"/api/query", `{"query":"` + strings.Repeat("ä", 2049) + `"}`, 400, "2048"},
		"an empty question":  {"/api/query", `{"query":"  "}`, 400, "error"},
		"half a JSON":        {"/api/query", `{"query":"a`, 400, ""},
		"10 MB":              {"/api/query", `{"query":"` + strings.Repeat("a", 10<<20) + `"}`, 413, ""},
		"no boolean":         {"/api/confirm/3b241101-e2bb-4255-8caf-4136c566a962", `{"approved":"yes"}`, 400, "error"},
		"unknown id":         {"/api/confirm/3b241101-e2bb-4255-8caf-4136c566a962", `{"approved":true}`, 404, "Confirmation not found or expired"},
		"an unknown field":   {"/api/mcp/hr/list_employees", `{"departement":"x"}`, 200, "departement: is not a field"},
		"limit 51":           {"/api/mcp/hr/list_employees", `{"limit":51}`, 200, "limit: must be at most 50"},
		"a date that's none": {"/api/mcp/hr/get_performance_reviews", `{"due_before":"2026-02-30"}`, 200, "due_before: is not a valid date"},
		"a forged cursor":    {"/api/mcp/hr/list_employees", `{"cursor":"eyJpZCI6MX0"}`, 200, "INVALID_CURSOR"},
		"an unknown server":  {"/api/mcp/nope/list_employees", `{}`, 404, "SERVER_NOT_FOUND"},
		"an unknown route":   {"/api/nope", `{}`, 404, ""},
	} {
		a := send(t, "POST", d.Gateway+c.path, token, c.body)
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: got %d %.300s, want %d with %q", name, a.status, a.body, c.status, c.want)
		}
	}
}

func TestPortInUseIsReportedInOneSentence(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	port := d.Gateway[strings.LastIndex(d.Gateway, ":")+1:]
	p, err := startProcess(nil, "demo", "--model", "rehearsal", "--port", port)
	if err != nil {
		t.Fatal(err)
	}
	err = <-p.done
	if err == nil || p.cmd.ProcessState.ExitCode() != 1 || strings.Count(strings.TrimSpace(p.stderr.String()), "\n") != 0 {
		t.Errorf("got %v:\n%s", err, p.stderr)
	}
}

// TestTokenOfTheTerminalApprovesByItsScope: a person's token approves as it is printed, and one
// for agents, with the scope mcp alone, calls tools and does not.
func TestTokenOfTheTerminalApprovesByItsScope(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for name, c := range map[string]struct {
		args   []string
		status int
		code   string
	}{
		"as it is printed": {nil, 404, "CONFIRMATION_NOT_FOUND"}, "for agents": {[]string{"--scope", "mcp"}, 403, "INSUFFICIENT_SCOPE"},
	} {
		out, code := runCommand(t, append([]string{"token", "alice.chen", "--url", d.Gateway}, c.args...)...)
		token := strings.TrimSpace(out)
		if a := send(t, "POST", d.Gateway+"/api/mcp/hr/list_employees", token, `{"input":{"limit":1}}`); code != 0 || a.status != 200 {
			t.Errorf("%s: exit %d, a call: %d %s", name, code, a.status, a.body)
		}
		for _, approved := range []string{"true", "false"} {
			a := send(t, "POST", d.Gateway+"/api/confirm/00000000-0000-4000-8000-000000000000", token, `{"approved":`+approved+`}`)
			if a.status != c.status || !strings.Contains(a.body, c.code) {
				t.Errorf("%s, approved %s: got %d %s, want %d %s", name, approved, a.status, a.body, c.status, c.code)
			}
		}
	}
}

func TestTerminalCommands(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"token":            {[]string{"token", "alice.chen", "--url", d.Gateway}, 0, "eyJ"},
		"unknown person":   {[]string{"token", "nobody", "--url", d.Gateway}, 1, ""},
		"tools":            {[]string{"tools", "--as", "alice.chen", "--url", d.Gateway}, 0, "update_salary"},
		"fewer tools":      {[]string{"tools", "--as", "frank.davis", "--url", d.Gateway}, 0, "get_time_off_balance"},
		"error codes":      {[]string{"tools", "--errors"}, 0, "EMPLOYEE_HAS_REPORTS"},
		"call":             {[]string{"call", "get_time_off_balance", "{}", "--as", "marcus.johnson", "--url", d.Gateway}, 0, `"pto_balance": 15`},
		"a refused call":   {[]string{"call", "update_salary", "{}", "--as", "frank.davis", "--json", "--url", d.Gateway}, 1, "INSUFFICIENT_PERMISSIONS"},
		"no such tool":     {[]string{"call", "nosuch", "--as", "frank.davis", "--json", "--url", d.Gateway}, 1, `There is no tool called \"nosuch\".`},
		"chat":             {[]string{"chat", "--once", "What's my PTO balance?", "--as", "marcus.johnson", "--url", d.Gateway}, 0, "15"},
		"chat with rows":   {[]string{"chat", "--once", "List all employees", "--as", "alice.chen", "--url", d.Gateway}, 0, "\nFirst name  Last name "},
		"no such flag":     {[]string{"demo", "--nope"}, 2, ""},
		"no such thing":    {[]string{"frobnicate"}, 2, ""},
		"nothing to index": {[]string{"index"}, 2, ""},
		"help":             {[]string{"serve", "--help"}, 0, "example:"},
	} {
		out, code := runCommand(t, c.args...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, want %d with %q:\n%s", name, code, c.code, c.want, out)
		}
	}
}

func TestBrokenAuditLogFailsTheCommand(t *testing.T) {
	t.Parallel()
	dir := dataFolder(t)
	d := demoFor(t, "--data", dir)
	for limit := range 3 {
		d.call(t, "alice.chen", "list_employees", map[string]int{"limit": limit + 1})
	}
	if err := d.end(); err != nil {
		t.Fatal(err)
	}
	if verified, code := runCommand(t, "audit", "verify", d.Audit); code != 0 || !strings.Contains(verified, "is intact") {
		t.Errorf("audit verify: exit %d: %s", code, verified)
	}
	text, err := os.ReadFile(d.Audit)
	if err != nil {
		t.Fatal(err)
	}
	altered := strings.Replace(string(text), `"rows":2`, `"rows":9`, 1)
	if err := os.WriteFile(d.Audit, []byte(altered), 0o600); err != nil {
		t.Fatal(err)
	}
	line := strings.Count(altered[:strings.Index(altered, `"rows":9`)], "\n") + 1
	var errs strings.Builder
	code := run(t.Context(), program{args: []string{"audit", "verify", d.Audit}, getenv: os.Getenv, out: io.Discard, err: &errs})
	if want := fmt.Sprintf("line %d", line); code != 3 || !strings.Contains(errs.String(), want) {
		t.Errorf("exit %d, want 3 naming %s: %s", code, want, &errs)
	}
}

// runCommand runs the program in this process and returns its standard output
// and exit code.
func runCommand(t *testing.T, args ...string) (string, int) {
	t.Helper()
	return runWith(t, os.Getenv, args...)
}

func runWith(t testing.TB, getenv func(string) string, args ...string) (string, int) {
	t.Helper()
	var out, errs strings.Builder
	code := run(t.Context(), program{args: args, getenv: getenv, in: strings.NewReader(""), out: &out, err: &errs})
	if code != 0 {
		t.Logf("%v: %s", args, errs.String())
	}
	return out.String(), code
}
