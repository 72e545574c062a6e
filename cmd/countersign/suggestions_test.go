package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/company"
)

// TestSuggestedQuestionsAnswer asks each question that the page offers to each
// person of the sample company, as that person: each has an answer with data, and
// none is about a change. Lists, which the page offers first, have several rows, and so
// have three answers for everyone.
func TestSuggestedQuestionsAnswer(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, person := range company.Accounts() {
		tools := suggested(t, d, person.Username)
		t.Logf("%s: %d questions", person.Username, len(tools))
		if none := len(tools) == 0; none == slices.Contains(person.Roles, "employee") {
			t.Errorf("%s is offered %v", person.Username, tools)
		}
		several := 0
		for question, tool := range tools {
			s := d.ask(t, person.Username, question)
			if len(s.pending) > 0 || len(s.errors) > 0 || !slices.Contains(s.tools, tool.name) || len(s.rows) == 0 && len(s.data) == 0 || tool.list && len(s.rows) < 2 {
				t.Errorf("%s asked %q: tools %v, %d rows, data %v, errors %v, pending %v:\n%s", person.Username, question, s.tools, len(s.rows), s.data, s.errors, s.pending, s.text)
			}
			if strings.Count("\n"+s.text, "\n- ") >= 2 {
				several++
			}
		}
		if len(tools) > 0 && several < 3 {
			t.Errorf("%s has several rows for %d of %v", person.Username, several, tools)
		}
	}
}

// TestQuestionsAboutAThingAnswer asks what the page offers to go on with about a thing that
// an answer shows: each tool that declares such a question answers it about that thing.
func TestQuestionsAboutAThingAnswer(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	things := map[string]string{"get_employee": "Priya Sharma", "get_customer": "Acme Corporation", "get_expense_report": "EXP-2026-002", "get_knowledge_article": "KB-001"}
	var list struct {
		Tools []struct {
			Name   string
			Fields struct{ AskOf string }
		}
	}
	a := send(t, http.MethodGet, d.Gateway+"/api/tools", d.token(t, "eve.thompson", "gateway"), nil)
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, tool := range list.Tools {
		if tool.Fields.AskOf == "" {
			continue
		}
		asked++
		question := strings.Replace(tool.Fields.AskOf, "%s", things[tool.Name], 1)
		s := d.ask(t, "eve.thompson", question)
		data, _ := json.Marshal(s.data)
		first, _, _ := strings.Cut(things[tool.Name], " ")
		if first == "" || !slices.Contains(s.tools, tool.Name) || len(s.errors) > 0 || len(s.pending) > 0 || !strings.Contains(string(data), first) {
			t.Errorf("%q: tools %v, data %s, errors %v:\n%s", question, s.tools, data, s.errors, s.text)
		}
	}
	if asked != len(things) {
		t.Errorf("%d tools declare a question about a thing, want %d", asked, len(things))
	}
}

// toolName matches names of tools and of inputs.
var toolName = regexp.MustCompile(`[a-z]_[a-z]`)

// suggestedTool is what a suggested question is for.
type suggestedTool struct {
	name string
	list bool
}

// suggested are the questions of the tools that a person may call, with their tools.
func suggested(t *testing.T, d *process, person string) map[string]suggestedTool {
	t.Helper()
	var list struct {
		Tools []struct {
			Name, Kind string
			Fields     struct{ Ask string }
		}
	}
	a := send(t, http.MethodGet, d.Gateway+"/api/tools", d.token(t, person, "gateway"), nil)
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		t.Fatal(err)
	}
	questions := map[string]suggestedTool{}
	for _, tool := range list.Tools {
		if tool.Fields.Ask == "" {
			continue
		}
		if tool.Kind == "write" {
			t.Errorf("%s is suggested, and it changes something", tool.Name)
		}
		if toolName.MatchString(tool.Fields.Ask) {
			t.Errorf("%q is in the language of tools", tool.Fields.Ask)
		}
		questions[tool.Fields.Ask] = suggestedTool{tool.Name, tool.Kind == "list"}
	}
	return questions
}

// TestFirstQuestionsHaveSeveralRows asks what each person of the sample company asks
// first: ten answers or more have several rows, and those that have one by their nature,
// as the file says with its reason, have no more. An answer holds what the file says of it.
func TestFirstQuestionsHaveSeveralRows(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	asked := firstQuestions(t)
	for _, a := range company.Accounts() {
		if !slices.Contains(a.Roles, "employee") {
			continue // sees no rows of the company
		}
		several := 0
		for _, q := range asked[a.Username] {
			s := d.ask(t, a.Username, q.text)
			rows := strings.Count("\n"+s.text, "\n- ")
			if rows >= 2 {
				several++
			}
			if (rows >= 2) != (q.why == "") || !strings.Contains(s.text, q.says) || len(s.errors) > 0 || len(s.rows) == 0 && len(s.data) == 0 {
				t.Errorf("%s asked %q (%s), want %q: %d rows, tools %v, errors %v:\n%s", a.Username, q.text, q.why, q.says, rows, s.tools, s.errors, s.text)
			}
		}
		if several < 10 {
			t.Errorf("%s has several rows for %d questions", a.Username, several)
		}
	}
}

// TestExpenseReportIsAskedForByItsNumber: the receipts of a report are reached, too.
func TestExpenseReportIsAskedForByItsNumber(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "nina.patel", "What is on expense report EXP-2026-001?")
	if !slices.Equal(s.tools, []string{"get_expense_report"}) || !strings.Contains(s.text, "Cascade Air") {
		t.Errorf("tools %v:\n%s", s.tools, s.text)
	}
}

// TestReportsOfSomebodyAreTheirs: a report that somebody approved is not theirs.
func TestReportsOfSomebodyAreTheirs(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for question, want := range map[string]string{
		"expense reports of bob":          "I found no expense reports",
		"bob's expense reports":           "I found no expense reports",
		"expense reports approved by Bob": "EXP-2026-010",
	} {
		if s := d.ask(t, "frank.davis", question); !strings.Contains(s.text, want) {
			t.Errorf("%q: got %q, want %q", question, s.text, want)
		}
	}
}

// TestValuesThatDoNotFitAreExplained: a person who asks for too much reads what fits.
func TestValuesThatDoNotFitAreExplained(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, c := range []struct{ person, question, want string }{
		{"marcus.johnson", "What is my time off for 1990?", "The fiscal year must be at least 2000."},
		{"alice.chen", "Increase Sarah's salary to 99999999999", "A salary cannot be below $0 or above $10,000,000."},
		{"dan.williams", "close ticket TICK-004 because ok", "The resolution must have at least 10 characters."},
		{"carol.johnson", "close deal Acme Renewal as won", "Deal Acme Renewal was won before."},
		{"carol.johnson", "delete customer RetailMax", "RetailMax cannot be deleted: it has 4 open deals (RetailMax Transformation, RetailMax Integration, RetailMax Kiosks, RetailMax Warehouse). Close these deals first."},
	} {
		if s := d.ask(t, c.person, c.question); s.text != c.want || len(s.pending) > 0 {
			t.Errorf("%s asked %q: got %q, want %q", c.person, c.question, s.text, c.want)
		}
	}
}

// TestAnswersAreSentences: a value that ends a sentence ends the answer's, and who may call nothing
// reads so.
func TestAnswersAreSentences(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, c := range []struct{ person, question, want string }{
		{"carol.johnson", "Why was RetailMax Loyalty lost?", "RetailMax Loyalty's loss reason: Their present supplier halved the price."},
		{"auditor.demo", "List all employees", "none of this company's data is open to you here."},
	} {
		if s := d.ask(t, c.person, c.question); !strings.HasSuffix(s.text, c.want) {
			t.Errorf("%s asked %q: got %q, want %q", c.person, c.question, s.text, c.want)
		}
	}
}

// TestMarkingATicketClosesIt: people mark a ticket as solved, which is an order to close it.
func TestMarkingATicketClosesIt(t *testing.T) {
	t.Parallel()
	s := sharedDemo(t).ask(t, "dan.williams", "mark TICK-001 as solved because the sign-in service was restarted")
	if len(s.pending) != 1 || s.pending[0].Data["action"] != "close_ticket" || s.pending[0].Data["resolutionType"] != "solved" {
		t.Errorf("tools %v, cards %v:\n%s", s.tools, s.pending, s.text)
	}
}

// firstQuestion is one of testdata/first.txt; why says why its answer has one row, if so,
// and says what the answer holds.
type firstQuestion struct{ text, why, says string }

// firstQuestions are those of testdata/first.txt, by user name.
func firstQuestions(t *testing.T) map[string][]firstQuestion {
	t.Helper()
	text, err := os.ReadFile("testdata/first.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked, who := map[string][]firstQuestion{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, ends := strings.CutSuffix(line, ":")
		why, one := strings.CutPrefix(line, "one: ")
		held, says := strings.CutPrefix(line, "says: ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case ends:
			who = name
		case one:
			asked[who][len(asked[who])-1].why = why
		case says:
			asked[who][len(asked[who])-1].says = held
		default:
			asked[who] = append(asked[who], firstQuestion{text: line})
		}
	}
	return asked
}
