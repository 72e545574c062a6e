package eval

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/internal/client"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

func made(tool, args, data string) client.Called {
	c := client.Called{Tool: tool, Args: json.RawMessage(args), Done: true}
	if data != "" {
		c.Outcome = result.Success(json.RawMessage(data), nil, "")
	}
	return c
}

func failed(code string) client.Called {
	return client.Called{Tool: "close_ticket", Done: true, Outcome: result.Failed((&fault.Code{Name: code}).New("No."))}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	budget := Question{
		Ask: "q", Expect: Answer, Rows: []string{"Marketing"}, Says: []names{{"980000", "980 k"}}, Never: []string{"Frank"},
		Calls: []ExpectedCall{{Tools: names{"list_budgets", "get_budget"}, Args: map[string]any{"fiscal_year": 2026, "quarter": []any{"q4", "all"}}}},
	}
	right := made("list_budgets", `{"fiscal_year":2026,"quarter":"Q4","sort":"x"}`, `[{"department":"marketing"}]`)
	change := Question{Ask: "q", Expect: Change, Rows: []string{"Frank"}, Calls: []ExpectedCall{{Tools: names{"delete_employee"}}}}
	waits := []*result.Pending{{Message: "Delete employee Frank Davis?"}}
	clarify, refusal, decline := Question{Expect: Clarify}, Question{Expect: Refusal}, Question{Expect: Decline}

	for _, c := range []struct {
		name  string
		q     Question
		x     client.Exchange
		want  Result
		why   string // a part of it
		tools string // which of tool, args, rows hold
	}{
		{"right", budget, client.Exchange{Text: "In all **$980,000**.", Calls: []client.Called{right}}, Right, "", "tool args rows"},
		{"another tool", budget, client.Exchange{Text: "It is 980000.", Calls: []client.Called{made("list_deals", `{}`, `[]`)}}, Wrong, "not called: list_budgets or get_budget", ""},
		{"other arguments", budget, client.Exchange{Text: "980000", Calls: []client.Called{made("get_budget", `{"fiscal_year":2025,"quarter":"Q4"}`, `["marketing"]`)}}, Wrong, "called with other arguments", "tool rows"},
		{"an argument is missing", budget, client.Exchange{Text: "980000", Calls: []client.Called{made("get_budget", `{"quarter":"all"}`, `["marketing"]`)}}, Wrong, "other arguments", "tool rows"},
		{"rows are missing", budget, client.Exchange{Text: "980000", Calls: []client.Called{made("get_budget", `{"fiscal_year":"2026","quarter":"all"}`, `[]`)}}, Wrong, `the data lacks "Marketing"`, "tool args"},
		{"a figure is missing", budget, client.Exchange{Text: "Much.", Calls: []client.Called{right}}, Wrong, `does not say "980000 or 980 k"`, "tool args rows"},
		{"a name leaks", budget, client.Exchange{Text: "980,000, says FRANK.", Calls: []client.Called{right}}, Wrong, `says "Frank"`, "tool args rows"},
		{"declined", budget, client.Exchange{Text: "I can’t do that here."}, Declined, "not called", ""},
		{"refuses what is open", budget, client.Exchange{Text: "That is not open to you: it takes one of these roles: finance-read or executive."}, Declined, "not called", ""},
		{"nothing at all", budget, client.Exchange{Text: "Fine."}, Wrong, "not called", ""},
		{"failed", budget, client.Exchange{Problem: "the key is not accepted", Text: "I can't."}, Wrong, "the turn failed: the key", ""},
		{"a change that was not asked for", budget, client.Exchange{Text: "980000", Calls: []client.Called{right}, Pending: waits}, Wrong, "a change waits that was not asked for", "tool args rows"},
		{"a card", change, client.Exchange{Calls: []client.Called{made("delete_employee", `{}`, "")}, Pending: waits}, Right, "", "tool args rows"},
		{"no card", change, client.Exchange{Text: "Done.", Calls: []client.Called{made("delete_employee", `{}`, "")}}, Wrong, "no change waits", "tool args"},
		{"another card", change, client.Exchange{Calls: []client.Called{made("delete_employee", `{}`, "")}, Pending: []*result.Pending{{Message: "Delete Marcus?"}}}, Wrong, `the data lacks "Frank"`, "tool args"},
		{"asks back", clarify, client.Exchange{Text: "Which Ann?"}, Right, "", "tool args rows"},
		{"does not ask back", clarify, client.Exchange{Text: "Ann Lee it is."}, Wrong, "asks nothing", "tool args rows"},
		{"offers questions instead of asking back", clarify, client.Exchange{Text: "I can't do that here; you may ask me “Which Ann?”."}, Declined, "asks nothing", "tool args rows"},
		{"declines a question that needs no call", Question{Says: budget.Says}, client.Exchange{Text: "I can't do that here."}, Declined, "does not say", "tool args rows"},
		{"refuses", refusal, client.Exchange{Text: "Salaries are not visible to your role."}, Right, "", "tool args rows"},
		{"declines instead of refusing", refusal, client.Exchange{Text: "I can't do that here."}, Wrong, "not permitted", "tool args rows"},
		{"ignores the refusal", refusal, client.Exchange{Text: "Here they are."}, Wrong, "not permitted", "tool args rows"},
		{"declines rightly", decline, client.Exchange{Text: "That can't be done here."}, Right, "", "tool args rows"},
		{"another wording", budget, client.Exchange{Text: "980 k in all.", Calls: []client.Called{right}}, Right, "", "tool args rows"},
		{"a rule declines", decline, client.Exchange{Text: "It is closed.", Calls: []client.Called{failed("TICKET_ALREADY_CLOSED")}}, Right, "", "tool args rows"},
		{"a failure is no decline", decline, client.Exchange{Text: "Fine.", Calls: []client.Called{failed("TIMEOUT")}}, Wrong, "cannot be done", "tool args rows"},
		{"invents", decline, client.Exchange{Text: "It is sunny."}, Wrong, "cannot be done", "tool args rows"},
		{"invents with a negation", decline, client.Exchange{Text: "The weather in Rome is sunny today, it is not raining, and 20 degrees outside."}, Wrong, "cannot be done", "tool args rows"},
		{"answers in place of a refusal", refusal, client.Exchange{Text: "His salary is $120,000; roles like that pay well."}, Wrong, "not permitted", "tool args rows"},
		{"another number with the same digits", Question{Says: []names{{"6"}}}, client.Exchange{Text: "There are 16 people in Sales since 2016."}, Wrong, `does not say "6"`, "tool args rows"},
		{"rows with another number", Question{Rows: []string{"15"}}, client.Exchange{Text: "15", Calls: []client.Called{made("get_balance", `{}`, `[{"days":150}]`)}}, Wrong, `the data lacks "15"`, "tool args"},
		{"a figure with a forbidden end", Question{Never: []string{"76000"}, Says: []names{{"176000"}}}, client.Exchange{Text: "$176,000"}, Right, "", "tool args rows"},
	} {
		v := judge(c.q, &c.x, nil)
		if v.Result != c.want || !strings.Contains(v.Why, c.why) || (v.Why == "") != (c.want == Right) {
			t.Errorf("%s: got %s, %q; want %s, %q", c.name, v.Result, v.Why, c.want, c.why)
		}
		for name, holds := range map[string]bool{"tool": v.Tool, "args": v.Args, "rows": v.Rows} {
			if holds != strings.Contains(c.tools, name) {
				t.Errorf("%s: %s is %v", c.name, name, holds)
			}
		}
		if !v.Honest {
			t.Errorf("%s: not honest, and the gateway added nothing", c.name)
		}
	}
	if v := judge(budget, &client.Exchange{Text: "980000", Calls: []client.Called{right}, Added: []string{"The results are incomplete."}}, nil); v.Honest || v.Result != Right {
		t.Errorf("what the gateway had to add: %+v", v)
	}
	follow := Question{Expect: Answer, Rows: []string{"Marketing"}}
	if v := judge(follow, &client.Exchange{Text: "Marketing."}, []client.Called{right}); v.Result != Right {
		t.Errorf("a turn that is answered from earlier rows: %+v", v)
	}
}

func TestFormsOfDeclineAndRefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words   *regexp.Regexp
		yes, no []string
	}{
		"decline": {cannot, []string{
			"I can't do that here.", "There is no tool for the weather.", "I currently don't have access to forecasts.", "Forecasts are not available to me.", "The tools do not offer bookings.",
			"That isn't something I can do.", "There isn't any way to book it.", "The weather is not in the company's data.", "That is outside of what I can answer.", "I’m unable to see the future.", "Salaries of other companies aren't recorded here.",
		}, []string{
			"It is not raining.", "It isn't raining, and it does not snow.", "It is warm outside.", "Priya's profit will not be 3 million.", "She is not in Seattle.", "The people of the team do not have meetings.",
		}},
		"refusal": {closed, []string{
			"Salaries are not visible to your role.", "You aren't allowed to see that.", "It is not open to you; it takes one of these roles: hr-read or executive.", "This requires the manager role.", "You need hr-write access for it.",
			"You don't have permission to do that.", "Your role does not allow it.", "Only managers and HR can see salaries.", "Salaries are restricted to HR.", "His salary is hidden from you.", "You may not see it.", "That is visible only to HR.", "I have no access to salaries.",
			"You cannot change your own salary. Ask someone else with the role hr-write or executive to change it.", "You submitted it yourself, so someone else must approve it.",
		}, []string{
			"Roles like that pay well.", "His role pays $120,000, only those in Sales earn more.", "It may not be much.", "I have permission to say that it is $120,000.", "The tickets are not open any more.", "A hidden gem: TICK-004.", "I can't do that here.",
		}},
	} {
		for _, text := range c.yes {
			if !says(c.words, text) {
				t.Errorf("%q is no %s", text, name)
			}
		}
		for _, text := range c.no {
			if says(c.words, text) {
				t.Errorf("%q is a %s", text, name)
			}
		}
	}
}

func TestNumbersAreWhole(t *testing.T) {
	t.Parallel()
	for wanted, texts := range map[string]struct{ in, out []string }{
		"6":         {[]string{"6", "It is 6.", "6 people", "(6)", "**6**", "6%", "6, 7", "$6", "6.0", "6.00 USD", `{"n":6,"m":1}`}, []string{"16", "2016", "60", "6.5", "1.6", "1,600", "6,000", "6.05", ""}},
		"16":        {[]string{"16 days"}, []string{"16.5", "1,600", "160", "16,000"}},
		"16.5":      {[]string{"16.5.", "16.5%", "$16.50"}, []string{"116.5", "16.55", "16"}},
		"6%":        {[]string{"6%", "6%."}, []string{"16%", "0.6%", "6"}},
		"1,600":     {[]string{"1600", "$1,600", "1,600.00"}, []string{"11,600", "1,600,000"}},
		"2019":      {[]string{"2019-01-14", "14/01/2019", "2019,2020", "2018,2019"}, []string{"12019"}},
		"555-0136":  {[]string{"617-555-0136"}, []string{"1555-0136", "555-01367"}},
		"TICK-001":  {[]string{"tick-001: printer"}, []string{"TICK-0011"}},
		"Marketing": {[]string{"marketing2", "2marketing"}, []string{"market"}},
	} {
		for _, text := range texts.in {
			if !within(plain(text))(wanted) {
				t.Errorf("%q is not found in %q", wanted, text)
			}
		}
		for _, text := range texts.out {
			if within(plain(text))(wanted) {
				t.Errorf("%q is found in %q", wanted, text)
			}
		}
	}
}

func TestTextsAreComparedPlainly(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"$1,234,567.50", "1234567.50"},
		{"**Marcus  Johnson**\n", "marcus johnson "},
		{"`TICK_001`, 12,34", "tick 001, 12,34"},
		{"can’t", "can't"},
		{`http\://a.example, \_x`, "http://a.example, x"},
	} {
		if got := plain(c[0]); got != c[1] {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
}
