package guard_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
)

// worlds are what the answers of fresh.txt were given in.
var worlds = map[string]guard.Evidence{
	"page": {Question: "Who works in Sales?", Calls: answered("list_employees", result.Read, `{"status":"success","data":[
		{"employee_id":"e-01","name":"Carol Johnson","job_title":"VP of Sales","department":"Sales","location":"San Francisco"},
		{"employee_id":"e-02","name":"Ben Ortiz","job_title":"Account Executive","department":"Sales","location":"San Francisco"},
		{"employee_id":"e-03","name":"Lena Fischer","job_title":"Account Executive","department":"Sales","location":"Munich"},
		{"employee_id":"e-04","name":"Tom Becker","job_title":"Sales Engineer","department":"Sales","location":"Austin"},
		{"employee_id":"e-05","name":"Priya Shah","job_title":"Account Manager","department":"Sales","location":"San Francisco"}],
		"metadata":{"hasMore":true,"returnedCount":5,"nextCursor":"c","totalEstimate":"12","truncated":true,"totalCount":"12","hint":"To see more employees, ask for the next page. 5 of 12 are shown."}}`)},
	"invoices": {Question: "Which invoices are overdue?", Calls: answered("list_invoices", result.Read, `{"status":"success","data":[
		{"invoice_number":"INV-2041","customer":"Acme Corp","amount":12500,"due_date":"2026-09-30","status":"overdue"},
		{"invoice_number":"INV-2044","customer":"Globex","amount":8300.50,"due_date":"2026-10-14","status":"overdue"},
		{"invoice_number":"INV-2050","customer":"Initech","amount":41200,"due_date":"2026-10-31","status":"overdue"},
		{"invoice_number":"INV-2052","customer":"Umbrella Health","amount":990,"due_date":"2026-11-02","status":"overdue"}],
		"metadata":{"hasMore":false,"returnedCount":4,"totalEstimate":"4","truncated":false,"totalCount":"4"}}`)},
	"budgets": {Question: "How are the departments doing on budget?", Calls: answered("list_budgets", result.Read, `{"status":"success","data":[
		{"department":"Engineering","amount":2500000,"spent":1875000,"year":2026},
		{"department":"Marketing","amount":800000,"spent":920000,"year":2026},
		{"department":"Sales","amount":1200000,"spent":600000,"year":2026}],
		"metadata":{"hasMore":false,"returnedCount":3,"totalEstimate":"3","truncated":false,"totalCount":"3"}}`)},
	"partial": {Question: "Show me open tickets and overdue invoices", Calls: append(answered("search_tickets", result.Read, `{"status":"success","data":[
		{"ticket_id":"TICK-009","title":"Cannot log in","priority":"high","status":"open"},
		{"ticket_id":"TICK-014","title":"Export is slow","priority":"medium","status":"open"}],
		"metadata":{"hasMore":false,"returnedCount":2,"totalEstimate":"2","truncated":false,"totalCount":"2"}}`),
		answered("list_invoices", result.Read, `{"status":"error","code":"SERVICE_UNAVAILABLE","message":"The finance service cannot be reached at the moment."}`)...)},
	"refused": {Question: "Raise Marcus to $160,000", Calls: answered("update_salary", result.Write, `{"status":"error","code":"INSUFFICIENT_PERMISSIONS","message":"You do not have permission to update salary: that needs the role hr-write."}`)},
	"pending": {Question: "Raise Marcus to $160,000", Calls: answered("update_salary", result.Write, raise)},
	"denied":  {Question: "Did that work?", Asked: []string{"Raise Marcus to $160,000"}, Earlier: answered("update_salary", result.Write, raise), Reported: []string{"Action cancelled by user"}},
	"done": {Question: "Did that work?", Asked: []string{"Raise Marcus to $160,000"}, Earlier: answered("update_salary", result.Write, raise),
		Reported: []string{"The annual salary of Marcus Johnson (marcus.j@tamshai.local) has been changed from $148,000 to $160,000."}},
	"empty": {Question: "Any urgent tickets?", Calls: answered("search_tickets", result.Read, `{"status":"success","data":[],"metadata":{"hasMore":false,"returnedCount":0,"totalEstimate":"0","truncated":false,"totalCount":"0"}}`)},
	"none":  {Question: "Can you help me with something?"},
	"timeoff": {Question: "How much vacation do I have left?", Calls: answered("get_time_off_balance", result.Read, `{"status":"success","data":
		{"employee_id":"e-07","balances":[{"kind":"vacation","days_per_year":20,"used":7.5,"remaining":12.5}]}}`)},
	"deals": {Question: "How is the pipeline?", Calls: answered("list_deals", result.Read, `{"status":"success","data":[
		{"deal_id":"OPP-01","customer":"Acme Corp","name":"Renewal","stage":"negotiation","value":120000},
		{"deal_id":"OPP-02","customer":"Globex","name":"Expansion","stage":"proposal","value":45000},
		{"deal_id":"OPP-03","customer":"Initech","name":"Starter","stage":"closed_won","value":80000},
		{"deal_id":"OPP-04","customer":"Hooli","name":"Pilot","stage":"prospecting","value":15000},
		{"deal_id":"OPP-05","customer":"Umbrella Health","name":"Suite","stage":"closed_lost","value":60000}],
		"metadata":{"hasMore":false,"returnedCount":5,"totalEstimate":"5","truncated":false,"totalCount":"5"}}`)},
}

const raise = `{"status":"pending_confirmation","message":"This raises the annual salary of Marcus Johnson (marcus.j@tamshai.local) from $148,000 to $160,000 (+8.1 %).",
	"confirmationId":"fffe14d9-4e7c-4b7a-a764-175e754f0e45","confirmationData":{"action":"update_salary","employeeName":"Marcus Johnson","currentSalary":148000,"newSalary":160000,"change":12000,"changePercent":8.1}}`

func answered(tool string, kind result.Kind, envelope string) []guard.Call {
	o, err := result.DecodeEnvelope([]byte(envelope))
	if err != nil {
		panic(err)
	}
	return []guard.Call{{Tool: tool, Title: titles[tool], Kind: kind, Outcome: o}}
}

// TestFreshAnswers measures answers whose author had not read the guard.
func TestFreshAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/fresh.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{`You are talking to "Eve Thompson", user name "eve.thompson", e-mail "eve@tamshai.local", roles: employee, manager, executive.`}
	for _, title := range titles {
		known = append(known, title)
	}
	h := halves{T: t}
	var world guard.Evidence
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			world = worlds[name]
			world.Known, world.Today = known, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		}
		if sort, answer, ok := strings.Cut(line, " "); ok && (sort == lie || sort == honest) {
			h.check(sort, answer, world)
		}
	}
	h.demand(80)
}
