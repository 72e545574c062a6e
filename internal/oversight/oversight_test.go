package oversight_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/oversight"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/usage"
)

type servers struct{}

func (servers) Tools(context.Context) agent.Toolset {
	schema := json.RawMessage(`{"properties":{"employee_id":{"type":"string"}}}`)
	return agent.Toolset{
		Open:   []agent.Tool{{ToolInfo: result.ToolInfo{Name: "whoami", Kind: result.Read, Roles: []string{"auditor"}}, Server: "hr"}},
		Closed: []agent.ClosedTool{{Name: "notes.add", Server: "notes", Info: result.ToolInfo{Name: "notes.add", Kind: result.Write}}, {Name: "get_employee", Server: "hr", Info: result.ToolInfo{Name: "get_employee", Title: "Details of a person", Kind: result.Read, Roles: []string{"hr-read"}, InputSchema: schema}}},
	}
}

func (servers) EachServer(report func(string, bool, int64, int64, time.Duration)) {
	report("hr", true, 3, 1, time.Millisecond)
}

type used struct{}

func (used) Days(_ context.Context, o access.Owner) ([]usage.Day, error) {
	if o.Subject != "sub-alice" {
		return nil, nil
	}
	return []usage.Day{{Day: "2026-11-22", Usage: agent.Usage{InputTokens: 10, OutputTokens: 1}}, {Day: "2026-11-21", Usage: agent.Usage{InputTokens: 5}}}, nil
}

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// harness is a service over a log in a folder. Its clock shows 17:00.
type harness struct {
	*oversight.Service
	path string
	log  *audit.Log
}

func newHarness(t *testing.T, events ...audit.Event) harness {
	t.Helper()
	d := harness{path: filepath.Join(t.TempDir(), "audit.log")}
	at := start
	var err error
	if d.log, err = audit.Open(d.path, &audit.Options{MaxSize: 8 << 10, Now: func() time.Time { at = at.Add(time.Minute); return at }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.log.Close() })
	for _, e := range events {
		if err := d.log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	held := func(report func(string, map[string]string)) { report("notes", map[string]string{"wipe": "new"}) }
	d.Service = oversight.New(oversight.Options{Logs: []string{d.path}, Audit: d.log, Servers: servers{}, Held: held, Usage: used{}, Now: func() time.Time { return start.Add(8 * time.Hour) }})
	return d
}

// get calls a handler as a person with a role, and decodes its answer.
func get[T any](t *testing.T, h oversight.Handler, query string, role access.Role) (got T, err error) {
	t.Helper()
	ctx := testkit.As(t, "ann", role)
	who, err := access.From(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := h(w, httptest.NewRequest(http.MethodGet, "/?"+query, nil).WithContext(ctx), who); err != nil {
		return got, err
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got, nil
}

type page struct {
	Events []audit.Event
	Next   string
}

func person(name string, e audit.Event) audit.Event {
	e.Username, e.Subject, e.Issuer = name+".test", "sub-"+name, testkit.Issuer
	return e
}

func sumOf(arguments string) string {
	sum := sha256.Sum256([]byte(arguments))
	return hex.EncodeToString(sum[:])
}

// TestOnlyAuditorsRead: every route refuses every other role, and both are recorded.
func TestOnlyAuditorsRead(t *testing.T) {
	d := newHarness(t)
	routes := map[string]oversight.Handler{"record": d.Record(), "verification": d.Verification(), "overview": d.Overview()}
	for name, h := range routes {
		for _, role := range []access.Role{"employee", "manager", "executive", "hr-write", "it-read", ""} {
			if got, err := get[map[string]any](t, h, "", role); err == nil || !strings.Contains(err.Error(), "Only an auditor") {
				t.Errorf("%s as %q: got %v, %v", name, role, got, err)
			}
		}
		if _, err := get[map[string]any](t, h, "", access.Auditor); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	denials, readings := 0, 0
	for e, err := range audit.Newest(d.path) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == audit.Denial && e.Outcome == "INSUFFICIENT_PERMISSIONS" {
			denials++
		}
		if e.Kind == audit.Outcome && e.Outcome == "success" && e.Tool != "" {
			readings++
		}
	}
	if denials != 18 || readings != 3 {
		t.Errorf("recorded %d denials and %d readings, want 18 and 3", denials, readings)
	}
}

// TestWhatCannotBeRecordedIsNotRead.
func TestWhatCannotBeRecordedIsNotRead(t *testing.T) {
	d, sink := newHarness(t), &testkit.MemorySink{}
	sink.Break(os.ErrClosed)
	s := oversight.New(oversight.Options{Logs: []string{d.path}, Audit: sink, Servers: servers{}})
	if got, err := get[page](t, s.Record(), "", access.Auditor); err == nil {
		t.Errorf("read %v without a record of it", got)
	}
}

func TestRecordIsSearched(t *testing.T) {
	d := newHarness(t,
		person("alice", audit.Event{Kind: audit.Outcome, Server: "hr", Tool: "get_employee", Digest: sumOf(`{"employee_id":"e-7"}`), Outcome: "success"}),
		person("alice", audit.Event{Kind: audit.Confirmation, Step: "opened", Confirmation: "c-1", Server: "hr", Tool: "delete_employee", Row: "e-9 E-70", Outcome: "pending_confirmation"}),
		person("bob", audit.Event{Kind: audit.Denial, Server: "finance", Tool: "list_invoices", Outcome: "INSUFFICIENT_PERMISSIONS", Note: "about INV-1"}),
		person("alice", audit.Event{Kind: audit.Confirmation, Step: "applied", Confirmation: "c-1", Server: "hr", Tool: "delete_employee", Outcome: "success"}),
	)
	for query, want := range map[string]string{
		"person=ALICE":                        "applied opened get_employee",
		"person=sub-bob":                      "list_invoices",
		"tool=finance.":                       "list_invoices",
		"outcome=insufficient_permissions":    "list_invoices",
		"outcome=denial":                      "list_invoices",
		"confirmation=c-1":                    "applied opened",
		"row=e-7":                             "get_employee",
		"row=INV-1":                           "list_invoices",
		"row=e-8":                             "",
		"row=e-70":                            "opened",
		"person=alice&outcome=success&tool=g": "get_employee",

		// As a page shows them.
		"person=Alice+Test":                "applied opened get_employee",
		"tool=List+invoices":               "list_invoices",
		"tool=list-invoices":               "list_invoices",
		"tool=Details+of+a+person":         "get_employee", // its title
		"tool=hr+·+Delete+employee":        "applied opened",
		"tool=_.":                          "", // nothing but signs finds nothing
		"person=-":                         "",
		"outcome=Pending+confirmation":     "opened",
		"outcome=Insufficient+permissions": "list_invoices",
		"confirmation=C":                   "applied opened",
		"confirmation=1":                   "",
	} {
		got, err := get[page](t, d.Record(), query, access.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range got.Events {
			if name := cmp.Or(e.Step, e.Tool); e.Username != "ann" && e.Kind != audit.Opened {
				names = append(names, name)
			}
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%s: got %v, want %s", query, names, want)
		}
	}
}

// TestRecordTellsWhatExpired: an opening that nothing answered in time is found by the
// outcome expired, with when that was, on every page of the search; a refused answer is none.
func TestRecordTellsWhatExpired(t *testing.T) {
	step := func(id, step string) audit.Event {
		return person("alice", audit.Event{Kind: audit.Confirmation, Step: step, Confirmation: id, Outcome: "pending_confirmation"})
	}
	refused := step("c-1", "refused")
	refused.Kind = audit.Denial
	d := newHarness(t, step("c-1", "opened"), step("c-2", "opened"), refused, step("c-2", "denied"))
	type answer struct {
		Events []struct {
			Confirmation  string
			Time, Expired time.Time
		}
	}
	for query, want := range map[string]string{"outcome=expired": "c-1", "outcome=Expired&before=4": "c-1", "outcome=opened&before=4": "c-2 c-1", "confirmation=c-2&outcome=expired": ""} {
		got, err := get[answer](t, d.Record(), query, access.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, e := range got.Events {
			found = append(found, e.Confirmation)
			if expired := e.Confirmation == "c-1"; expired && !e.Expired.Equal(e.Time.Add(confirm.TTL)) || !expired && !e.Expired.IsZero() {
				t.Errorf("%s: %s of %s expired at %s", query, e.Confirmation, e.Time, e.Expired)
			}
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%s: got %q, want %q", query, found, want)
		}
	}
	young := oversight.New(oversight.Options{Logs: []string{d.path}, Audit: d.log, Servers: servers{}, Now: func() time.Time { return start.Add(4 * time.Minute) }})
	if got, err := get[answer](t, young.Record(), "outcome=expired", access.Auditor); err != nil || len(got.Events) != 0 {
		t.Errorf("before its time was over: got %+v, %v", got.Events, err)
	}
}

// TestRecordFindsWhatListsShowed: a row is found in what showed it, which is another hit than
// what named it. Where ids were left out the answer says so, and not that it was not shown.
func TestRecordFindsWhatListsShowed(t *testing.T) {
	var many []byte
	for i := range 1100 {
		many = fmt.Appendf(many, `{"id":%d},`, i)
	}
	d := newHarness(t,
		person("alice", audit.Event{Kind: audit.Outcome, Tool: "list", Shown: rowid.Fingerprints([]byte(`[{"ticket_id":"TICK-1"},{"ticket_id":"TICK-2"}]`))}),
		person("alice", audit.Event{Kind: audit.Outcome, Tool: "get", Row: "TICK-2", Shown: rowid.Fingerprints([]byte(`{"ticket_id":"TICK-2"}`))}),
		person("alice", audit.Event{Kind: audit.Outcome, Tool: "export", Shown: rowid.Fingerprints(many)}),
	)
	for row, want := range map[string]string{
		"tick-1": "export:perhaps list:yes",
		"TICK-2": "export:perhaps get: list:yes",
		"TICK-3": "export:perhaps",
		"7":      "export:yes",
	} {
		got, err := get[struct {
			Events []struct{ Tool, Shown string }
		}](t, d.Record(), "person=alice&row="+row, access.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, e := range got.Events {
			found = append(found, e.Tool+":"+e.Shown)
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%s: got %q, want %s", row, found, want)
		}
	}
	if all, err := get[page](t, d.Record(), "person=alice", access.Auditor); err != nil || len(all.Events) != 3 || all.Events[2].Shown != "" {
		t.Errorf("without a row: got %+v, %v, want three events without fingerprints", all.Events, err)
	}
}

// TestSearchOfTheRecordRefusesWhatItWouldIgnore, with 400 and what to do instead.
func TestSearchOfTheRecordRefusesWhatItWouldIgnore(t *testing.T) {
	d := newHarness(t)
	for query, want := range map[string]string{
		"limit=-1":                           "Use person, tool, row",
		"cursor=%00":                         "Use person, tool, row",
		"Person=alice":                       "Use person, tool, row",
		"person=" + strings.Repeat("x", 201): "Use a part",
		"person=alice&person=bob":            "Give it once",
		"tool=a%00b":                         "visible characters",
		"row=%ff":                            "visible characters",
		"person=%zz":                         "Encode",
		"person=a;tool=b":                    "Encode",
		"before=-1":                          "Use next",
		"before=0":                           "Use next",
		"before=x":                           "Use next",
	} {
		_, err := get[page](t, d.Record(), query, access.Auditor)
		if f := fault.From(err); err == nil || f.Code != fault.BadRequest || !strings.Contains(f.SuggestedAction, want) {
			t.Errorf("%s: got %v, want BAD_REQUEST and %q", query, err, want)
		}
	}
	if got, err := get[page](t, d.Record(), "outcome=bad_request", access.Auditor); err != nil || len(got.Events) != 12 {
		t.Errorf("recorded as refused: %d, %v, want 12", len(got.Events), err)
	}
	if got, err := get[page](t, d.Record(), "outcome=success", access.Auditor); err != nil || len(got.Events) != 2 {
		t.Errorf("recorded as readings: %d, %v, want 2: of these two searches", len(got.Events), err)
	}
	for _, query := range []string{"", "person=&before=", "row=%20e-7%20"} {
		if _, err := get[page](t, d.Record(), query, access.Auditor); err != nil {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestRecordGoesOnPageByPage: every event is on one page, also of files that were
// rotated.
func TestRecordGoesOnPageByPage(t *testing.T) {
	var events []audit.Event
	for i := range 120 {
		events = append(events, person("alice", audit.Event{Kind: audit.Turn, Note: fmt.Sprint("turn ", i)}))
	}
	d := newHarness(t, events...)
	seen, query := map[uint64]bool{}, "person=alice"
	for pages := 1; ; pages++ {
		got, err := get[page](t, d.Record(), query, access.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Events {
			if seen[e.Seq] {
				t.Fatalf("event %d is on two pages", e.Seq)
			}
			seen[e.Seq] = true
		}
		if query = fmt.Sprint("person=alice&before=", got.Next); got.Next == "" {
			files, err := filepath.Glob(d.path + ".0*")
			if pages != 3 || len(seen) != 120 || len(files) == 0 || err != nil {
				t.Errorf("got %d events on %d pages, of %d files that were rotated, want 120 on 3", len(seen), pages, len(files))
			}
			return
		}
	}
}

func TestChainIsVerifiedInPlace(t *testing.T) {
	d := newHarness(t, person("alice", audit.Event{Kind: audit.Turn}), person("bob", audit.Event{Kind: audit.Turn}))
	whole, err := get[verified](t, d.Verification(), "", access.Auditor)
	if err != nil || !whole.Whole || len(whole.Logs) != 1 || whole.Logs[0].Events < 3 {
		t.Errorf("got %+v, %v", whole, err)
	}
	text, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path, []byte(strings.Replace(string(text), "alice.test", "carol.test", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := get[verified](t, d.Verification(), "", access.Auditor)
	if err != nil || broken.Whole || !strings.Contains(broken.Logs[0].Broken, "altered") {
		t.Errorf("an altered log: got %+v, %v", broken, err)
	}
}

func TestOverview(t *testing.T) {
	d := newHarness(t,
		person("alice", audit.Event{Kind: audit.Confirmation, Step: "opened", Confirmation: "answered"}),
		person("alice", audit.Event{Kind: audit.Confirmation, Step: "denied", Confirmation: "answered"}),
		person("bob", audit.Event{Kind: audit.Confirmation, Step: "opened", Confirmation: "late", Server: "hr", Tool: "delete_employee", TaintedBy: "text of ticket TICK-009"}),
		person("bob", audit.Event{Kind: audit.LoginSession, Step: "signed in", Roles: "support-read manager"}),
		person("bob", audit.Event{Kind: audit.LoginSession, Step: "signed in", Roles: access.WriteRoles([]string{"employee", "executive assistant"})}),
		person("cat", audit.Event{Kind: audit.LoginSession, Step: "signed in", Roles: "employee"}),
		person("cat", audit.Event{Kind: audit.LoginSession, Step: "signed in", Roles: "a-role b-role" + strings.Repeat(" and-another", 1000)}),
		person("bob", audit.Event{Kind: audit.Denial, Step: "refused", Confirmation: "late"}),
	)
	type overview struct {
		Servers []struct{ Name string }
		Tools   []struct {
			Name, Server, Pin string
			Roles             []string
		}
		Held   []struct{ Server, Tool, Why string }
		People []struct {
			Username, Sub string
			Roles         []string
			Usage         *agent.UsageView
		}
		Expired []struct{ Confirmation, Username, Issuer, Sub, Tool, TaintedBy string }
	}
	got, err := get[overview](t, d.Overview(), "", access.Auditor)
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, one := range got.Tools {
		if (one.Pin != "") != (one.Server == "notes") {
			t.Errorf("%s has the pin %q", one.Name, one.Pin)
		}
		tools = append(tools, one.Name+strings.Join(one.Roles, ","))
	}
	if want := []string{"get_employeehr-read", "whoamiauditor", "notes.add"}; !slices.Equal(tools, want) {
		t.Errorf("tools: got %v, want %v", tools, want)
	}
	if len(got.Servers) != 1 || len(got.Held) != 1 || got.Held[0].Tool != "wipe" {
		t.Errorf("servers %v, held %v", got.Servers, got.Held)
	}
	if len(got.Expired) != 1 || got.Expired[0].Confirmation != "late" || got.Expired[0].TaintedBy == "" || got.Expired[0].Issuer != testkit.Issuer || got.Expired[0].Sub == "" {
		t.Errorf("expired: %+v", got.Expired)
	}
	var alice *agent.UsageView
	roles := map[string]string{"sub-bob": "employee,executive assistant"} // of cat's last sign-in not all were kept
	for _, one := range got.People {
		if one.Sub == "sub-alice" {
			alice = one.Usage
		}
		if has := strings.Join(one.Roles, ","); has != roles[one.Sub] {
			t.Errorf("%s has the roles %q, want %q", one.Sub, has, roles[one.Sub])
		}
	}
	if len(got.People) != 4 || alice == nil || alice.Input != 15 || alice.Output != 1 {
		t.Errorf("people: %+v", got.People)
	}
}
