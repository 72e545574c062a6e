package app

import (
	"encoding/json"
	"testing"
)

// asked is what people ask in their first minutes, and the call that answers it.
type asked struct {
	who, question, server, tool string
	in                          map[string]any
}

// firstQuestions are up to ten questions of each person of the sample company, as
// far as their roles have tools for so many. Those of an employee are about
// themselves.
func firstQuestions() []asked {
	type args = map[string]any
	about := map[string][]asked{
		"people": {
			{question: "Who works here?", server: "hr", tool: "list_employees"},
			{question: "Show the org chart", server: "hr", tool: "get_org_chart"},
			{question: "How were the last reviews?", server: "hr", tool: "get_performance_reviews"},
			{question: "Whose reviews are due?", server: "hr", tool: "get_performance_reviews", in: args{"due_before": "2026-11-16"}},
		},
		"self": {
			{question: "How much time off do I have?", server: "hr", tool: "get_time_off_balance"},
			{question: "And next year?", server: "hr", tool: "get_time_off_balance", in: args{"fiscal_year": 2027}},
			{question: "My expense reports", server: "finance", tool: "list_expense_reports"},
		},
		"everyone": {
			{question: "Who is in Engineering?", server: "hr", tool: "list_employees", in: args{"department": "Engineering"}},
			{question: "Who works remotely?", server: "hr", tool: "list_employees", in: args{"location": "Remote"}},
			{question: "Which Amandas are there?", server: "hr", tool: "list_employees", in: args{"name": "Amanda"}},
		},
		"money": {
			{question: "Show the budgets of this year", server: "finance", tool: "list_budgets", in: args{"fiscal_year": 2026}},
			{question: "Which budgets wait for approval?", server: "finance", tool: "list_budgets", in: args{"status": "submitted"}},
			{question: "What is left in the fourth quarter?", server: "finance", tool: "list_budgets", in: args{"fiscal_year": 2026, "quarter": "Q4"}},
			{question: "Which invoices are pending?", server: "finance", tool: "list_invoices", in: args{"status": "pending"}},
			{question: "Which invoices are paid?", server: "finance", tool: "list_invoices", in: args{"status": "paid"}},
			{question: "Invoices over $5,000", server: "finance", tool: "list_invoices", in: args{"min_amount": 5000}},
			{question: "Expense reports to review", server: "finance", tool: "list_expense_reports", in: args{"status": "submitted"}},
			{question: "Engineering's budget by quarter", server: "finance", tool: "get_budget", in: args{"department": "Engineering"}},
		},
		"deals": {
			{question: "My deals", server: "sales", tool: "list_deals"},
			{question: "The pipeline of this quarter", server: "sales", tool: "get_pipeline"},
			{question: "Which deals close this month?", server: "sales", tool: "list_deals", in: args{"closing_from": "2026-11-16", "closing_to": "2026-11-30"}},
			{question: "The largest deals", server: "sales", tool: "list_deals", in: args{"sort": "value_desc"}},
			{question: "Deals over $80,000", server: "sales", tool: "list_deals", in: args{"min_value": 80000}},
		},
		"wins": {{question: "Which deals are won?", server: "sales", tool: "list_deals", in: args{"stage": "CLOSED_WON"}}}, // Amanda has won one
		"tickets": {
			{question: "Which tickets are open?", server: "support", tool: "search_tickets", in: args{"query": "*", "status": "open"}},
			{question: "What is urgent?", server: "support", tool: "search_tickets", in: args{"query": "*", "priority": "high"}},
			{question: "Tickets about logins", server: "support", tool: "search_tickets", in: args{"query": "logins"}},
			{question: "What are we working on?", server: "support", tool: "search_tickets", in: args{"query": "*", "status": "in_progress"}},
			{question: "What was solved?", server: "support", tool: "search_tickets", in: args{"query": "*", "status": "resolved"}},
			{question: "Articles about passwords", server: "support", tool: "search_knowledge_base", in: args{"query": "password"}},
			{question: "Guides for a first day", server: "support", tool: "search_knowledge_base", in: args{"query": "*", "category": "getting-started"}},
		},
	}
	of := map[string][]string{
		"eve.thompson": {"people", "everyone", "self", "money", "deals", "wins", "tickets"}, "alice.chen": {"people", "everyone", "self"},
		"bob.martinez": {"people", "self", "money"}, "carol.johnson": {"people", "self", "deals", "wins"}, "dan.williams": {"people", "self", "tickets"},
		"nina.patel": {"people", "self"}, "ryan.garcia": {"self", "deals"}, "amanda.white": {"self", "deals"},
		"marcus.johnson": {"self"}, "frank.davis": {"self"},
	}
	var all []asked
	for who, topics := range of {
		for _, topic := range topics {
			for _, q := range about[topic] {
				q.who = who
				all = append(all, q)
			}
		}
	}
	return all
}

// TestFirstQuestionsHaveSeveralRows: what people of the sample company ask first
// has more than one row, in a list or in a record that has one.
func TestFirstQuestionsHaveSeveralRows(t *testing.T) {
	t.Parallel()
	w := newHarness(t)
	for _, q := range firstQuestions() {
		o := w.call(t, account(t, q.who).Principal(), q.server, q.tool, q.in)
		var data any
		if o.Fault() == nil {
			if err := json.Unmarshal(o.Data(), &data); err != nil {
				t.Fatal(err)
			}
		}
		if got := longest(data); got < 2 {
			t.Errorf("%s asks %q: %s %v has %d rows (%s)", q.who, q.question, q.tool, q.in, got, o.Code())
		}
	}
}

// longest is the length of the longest list in a value.
func longest(value any) int {
	most := 0
	switch v := value.(type) {
	case []any:
		most = len(v)
		for _, one := range v {
			most = max(most, longest(one))
		}
	case map[string]any:
		for _, one := range v {
			most = max(most, longest(one))
		}
	}
	return most
}
