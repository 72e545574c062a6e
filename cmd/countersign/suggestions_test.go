package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"countersign.dev/internal/company"
)

// TestSuggestedQuestionsAnswer asks each question that the page offers to each
// person of the sample company, as that person: each has an answer with data, and
// none is about a change.
func TestSuggestedQuestionsAnswer(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, person := range company.Accounts() {
		if person.Username == "test-user.journey" {
			continue // has no employee record, so there is nothing of their own
		}
		tools := suggested(t, d, person.Username)
		t.Logf("%s: %d questions", person.Username, len(tools))
		if none := len(tools) == 0; none != slices.Equal(person.Roles, []string{"auditor"}) {
			t.Errorf("%s is offered %v", person.Username, tools)
		}
		for question, tool := range tools {
			s := d.ask(t, person.Username, question)
			if len(s.pending) > 0 || len(s.errors) > 0 || !slices.Contains(s.tools, tool) || len(s.rows) == 0 && len(s.data) == 0 {
				t.Errorf("%s asked %q: tools %v, %d rows, data %v, errors %v, pending %v:\n%s", person.Username, question, s.tools, len(s.rows), s.data, s.errors, s.pending, s.text)
			}
		}
	}
}

// toolName matches names of tools and of inputs.
var toolName = regexp.MustCompile(`[a-z]_[a-z]`)

// suggested are the questions of the tools that a person may call, with their tools.
func suggested(t *testing.T, d *process, person string) map[string]string {
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
	questions := map[string]string{}
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
		questions[tool.Fields.Ask] = tool.Name
	}
	return questions
}
