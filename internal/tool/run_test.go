package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// harness is a fake domain behind a runner.
type harness struct {
	*tool.Runner
	domain *testkit.FakeDomain
	sink   *testkit.MemorySink
	now    time.Time
}

func newHarness(t testing.TB, dialect tool.Dialect, notes ...testkit.Note) *harness {
	t.Helper()
	h := &harness{domain: testkit.NewFakeDomain(notes...), sink: &testkit.MemorySink{}, now: time.Now()}
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	h.Runner, err = tool.NewRunner(h.domain.Tools(), tool.Options{
		Server: "notebook", Policy: h.domain.Policy(), Dialect: dialect, Cursors: ring, Confirmations: newConfirmations(t, h), Receipts: tool.OneStore(h.domain),
		Audit: h.sink, Now: func() time.Time { return h.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func someNotes(n int) []testkit.Note {
	notes := make([]testkit.Note, n)
	for i := range notes {
		notes[i] = testkit.Note{ID: i + 1, Author: []string{"ann", "ben"}[i%2], Text: "text", Diary: "secret-" + string(rune('a'+i%26))}
	}
	return notes
}

func wantFault(t *testing.T, o result.Outcome, code *fault.Code) *fault.Error {
	t.Helper()
	if o.Fault() == nil || o.Fault().Code != code {
		t.Fatalf("got %s (%v), want %s", o.Code(), o.Fault(), code.Name)
	}
	return o.Fault()
}

func TestChecksRunInOrder(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	ann := testkit.As(t, "ann", access.Employee)
	wantFault(t, h.Call(t.Context(), "no_such", nil), fault.Unauthorized)
	wantFault(t, h.Call(ann, "no_such", json.RawMessage(`{"x":`)), fault.UnknownTool)
	f := wantFault(t, h.Call(ann, "burn_note", json.RawMessage(`{"x":`)), fault.Insufficient)
	if !strings.Contains(f.Message, "manager") {
		t.Errorf("the refusal %q does not name the role that may call", f.Message)
	}
	wantFault(t, h.Call(ann, "get_note", json.RawMessage(`{"x":`)), fault.ValidationError)
	wantFault(t, h.Call(ann, "get_note", json.RawMessage(`{"id":99}`)), testkit.ErrNote)
}

func TestBadInputIsNamedFieldByField(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	ann := testkit.As(t, "ann", access.Employee)
	for _, c := range []struct{ tool, input, want string }{
		{"get_note", `{}`, "id: is required. Use list_notes to find valid ids."},
		{"get_note", `{"id":"7"}`, "id: must be integer, not string. Use list_notes to find valid ids."},
		{"get_note", `{"id":1,"reasn":"x"}`, "reasn: is not a field of this tool. Did you mean reason?"},
		{"get_note", `{"id":1,"id":2}`, `input: repeats the name "id"`},
		{"get_note", `{"id":1} {"id":2}`, "input: has data after its end"},
		{"get_note", `[1]`, "input: must be an object"},
		{"get_note", `{"id":`, "input: is not valid JSON"},
		{"get_note", strings.Repeat(`{"id":`, 70) + "1" + strings.Repeat("}", 70), "input: is nested deeper than 64"},
		{"list_notes", `{"limit":51}`, "limit: must be at most 50"},
		{"list_notes", `{"limit":0}`, "limit: must be at least 1"},
		{"list_notes", `{"author":"` + strings.Repeat("ä", 51) + `"}`, "author: must have at most 50 characters"},
		{"add_note", `{"text":""}`, "text: must have at least 1 character"},
		{"add_note", `{"text":"a\u0000b"}`, "text: contains a NUL character, which no text may contain"},
		{"get_note", `{"id":1e-999999}`, "input: has a number that is out of range"},
		{"get_note", `{"id":1.5}`, "id: must be integer, not number. Use list_notes to find valid ids."},
		{"get_note", `{"id":1e30}`, "id: is out of range"},
		{"get_note", `{"id":0.` + strings.Repeat("1", 900_000) + `}`, "input: has a number of more than 64 characters"},
	} {
		f := wantFault(t, h.Call(ann, c.tool, json.RawMessage(c.input)), fault.ValidationError)
		if f.SuggestedAction != c.want {
			t.Errorf("%s %s: got %q, want %q", c.tool, c.input, f.SuggestedAction, c.want)
		}
	}
}

func TestIntegersMayBeSpelledAsNumbers(t *testing.T) {
	h := newHarness(t, nil, someNotes(5)...)
	ann := testkit.As(t, "ann", access.Employee)
	first := h.Call(ann, "list_notes", json.RawMessage(`{"limit":2}`))
	for _, two := range []string{"2.0", "2e0", "20e-1", "0.2e1", "2.000"} {
		o := h.Call(ann, "list_notes", json.RawMessage(`{"limit":`+two+`,"cursor":"`+first.Page().Next+`"}`))
		if o.Fault() != nil || o.Page().Returned != 2 {
			t.Errorf("limit %s: got %v, want two notes", two, o.Fault())
		}
		if o := h.Call(ann, "get_note", json.RawMessage(`{"id":`+two+`}`)); o.Fault() != nil {
			t.Errorf("id %s: %v", two, o.Fault())
		}
	}
	digests := map[string]bool{}
	for _, e := range h.sink.Events() {
		if e.Tool == "get_note" {
			digests[e.Digest] = true
		}
	}
	if len(digests) != 1 {
		t.Errorf("the spellings of 2 have %d digests, want one", len(digests))
	}
}

// Five faults are named and the others counted, however short or long the names are.
func TestManyFaultsOfAnInputMakeAShortAnswer(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	for length, named := range map[int]int{1: 5, 50: 5, 800: 4} {
		var input strings.Builder
		for i := range 990 {
			fmt.Fprintf(&input, `,"%d%s":1`, i, strings.Repeat("k", length))
		}
		o := h.Call(testkit.As(t, "ann", access.Employee), "get_note", json.RawMessage(`{"id":1`+input.String()+`}`))
		f := wantFault(t, o, fault.ValidationError)
		if answer := h.Encode(o); len(answer) > 2000 {
			t.Errorf("names of %d characters: %d bytes: %.600s", length, len(answer), answer)
		}
		if got := strings.Count(f.SuggestedAction, ";") + 1; got != named || !strings.HasSuffix(f.SuggestedAction, fmt.Sprint(" and ", 990-named, " more")) {
			t.Errorf("names of %d characters: %d are named, want %d: %s", length, got, named, f.SuggestedAction)
		}
	}
}

func TestEachRowIsMaskedByItsOwnRelation(t *testing.T) {
	h := newHarness(t, nil, someNotes(4)...)
	o := h.Call(testkit.As(t, "ann", access.Employee), "list_notes", nil)
	var rows []testkit.Note
	if err := json.Unmarshal(o.Data(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, n := range rows {
		if hidden := n.Diary == access.Hidden; hidden != (n.Author != "ann") {
			t.Errorf("note %d of %s: diary %q", n.ID, n.Author, n.Diary)
		}
	}
}

func TestPagesReachTheEnd(t *testing.T) {
	h := newHarness(t, nil, someNotes(120)...)
	ann := testkit.As(t, "ann", access.Employee)
	seen, cursor := map[int]bool{}, ""
	for pages := 1; ; pages++ {
		o := h.Call(ann, "list_notes", json.RawMessage(`{"limit":50,"cursor":"`+cursor+`"}`))
		if o.Fault() != nil {
			t.Fatal(o.Fault())
		}
		var rows []testkit.Note
		if err := json.Unmarshal(o.Data(), &rows); err != nil {
			t.Fatal(err)
		}
		for _, n := range rows {
			if seen[n.ID] {
				t.Fatalf("note %d was returned twice", n.ID)
			}
			seen[n.ID] = true
		}
		if !o.Page().More {
			if len(seen) != 120 || pages != 3 {
				t.Fatalf("got %d notes in %d pages, want 120 in 3", len(seen), pages)
			}
			return
		}
		cursor = o.Page().Next
	}
}

func TestMetadataReportsTruncation(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	ann := testkit.As(t, "ann", access.Employee)
	var whole, part result.Envelope
	_ = json.Unmarshal(h.Encode(h.Call(ann, "list_notes", nil)), &whole)
	_ = json.Unmarshal(h.Encode(h.Call(ann, "list_notes", json.RawMessage(`{"limit":2}`))), &part)
	if m := whole.Metadata; m.Truncated || m.HasMore || m.TotalCount != "3" || m.Warning != "" || m.NextCursor != "" {
		t.Errorf("whole list: %+v", m)
	}
	m := part.Metadata
	if !m.Truncated || !m.HasMore || m.TotalEstimate != "2+" || m.NextCursor == "" ||
		m.Hint != "Showing 2 of 2+ notes. Results are incomplete. Narrow by author." || m.Hint != m.Warning {
		t.Errorf("part of a list: %+v", m)
	}
	var second result.Envelope
	_ = json.Unmarshal(h.Encode(h.Call(ann, "list_notes", json.RawMessage(`{"limit":1,"cursor":"`+h.Call(ann, "list_notes", json.RawMessage(`{"limit":1}`)).Page().Next+`"}`))), &second)
	if m := second.Metadata; m.Hint != "Showing 1 more note. Results are incomplete. Narrow by author." || m.Hint != m.Warning || m.TotalEstimate != "2+" {
		t.Errorf("the second page of three: %+v", m)
	}
	var third result.Envelope
	_ = json.Unmarshal(h.Encode(h.Call(ann, "list_notes", json.RawMessage(`{"limit":1,"cursor":"`+second.Metadata.NextCursor+`"}`))), &third)
	if m := third.Metadata; m.HasMore || m.TotalEstimate != "3" {
		t.Errorf("the third page of three: %+v", m)
	}
	var last result.Envelope
	_ = json.Unmarshal(h.Encode(h.Call(ann, "list_notes", json.RawMessage(`{"limit":2,"cursor":"`+m.NextCursor+`"}`))), &last)
	if m := last.Metadata; m.HasMore || m.TotalEstimate != "3" || m.TotalCount != "3" || m.Warning != "" || m.Hint != "The last one of the 3 notes." {
		t.Errorf("the last page of two: %+v", m)
	}
}

func TestCursorIsBoundToToolPersonAndFilter(t *testing.T) {
	h := newHarness(t, nil, someNotes(10)...)
	ann, ben := testkit.As(t, "ann", access.Employee), testkit.As(t, "ben", access.Employee)
	cursor := h.Call(ann, "list_notes", json.RawMessage(`{"limit":2}`)).Page().Next
	with := func(extra string) json.RawMessage {
		return json.RawMessage(`{"limit":3,"cursor":"` + cursor + `"` + extra + `}`)
	}
	if o := h.Call(ann, "list_notes", with("")); o.Fault() != nil {
		t.Fatalf("the owner's own cursor, another limit: %v", o.Fault())
	}
	wantFault(t, h.Call(ben, "list_notes", with("")), fault.InvalidCursor)
	wantFault(t, h.Call(ann, "list_notes", with(`,"author":"ben"`)), fault.InvalidCursor)
	wantFault(t, h.Call(ann, "list_notes", json.RawMessage(`{"cursor":"bm90IG91cnM"}`)), fault.InvalidCursor)
	strange := h.Call(ann, "list_notes", json.RawMessage(`{"cursor":"%%%"}`))
	wantFault(t, strange, fault.InvalidCursor)
	if got := fmt.Sprint(strange.Fault().Details); got != "map[fields:[cursor]]" {
		t.Errorf("details are %s, want the cursor", got)
	}
	h.now = h.now.Add(tool.CursorLife)
	wantFault(t, h.Call(ann, "list_notes", with("")), fault.InvalidCursor)
}

func TestWriteOnlyOpensAConfirmation(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	boss := testkit.As(t, "boss", access.Manager)
	o := h.Call(boss, "burn_note", json.RawMessage(`{"id":1,"reason":"old"}`))
	if o.Pending() == nil {
		t.Fatalf("got %s, want pending", o.Code())
	}
	if len(h.domain.Notes()) != 3 {
		t.Fatal("calling a write changed something")
	}
	if want := "Burn the note with the diary *** (Hidden)?"; o.Pending().Message != want {
		t.Errorf("got %q, want the masked sentence %q", o.Pending().Message, want)
	}
	if o.Pending().Data["action"] != "burn_note" || o.Pending().Data["mcpServer"] != "notebook" || o.Pending().Data["userId"] != "sub-boss" {
		t.Errorf("confirmationData: %v", o.Pending().Data)
	}
}

func TestApprovalAppliesOnceAndRepeatsTheReceipt(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	boss := testkit.As(t, "boss", access.Manager)
	id := h.Call(boss, "burn_note", json.RawMessage(`{"id":1,"reason":"old"}`)).Pending().ID
	first, again := h.Encode(h.Answer(boss, id, true, "")), h.Encode(h.Answer(boss, id, true, ""))
	if want := `{"status":"success","data":{"burned":true,"message":"The note has been burned."}}`; string(first) != want {
		t.Fatalf("got %s, want %s", first, want)
	}
	if string(first) != string(again) {
		t.Errorf("repeated: got %s, want the same bytes", again)
	}
	if n := len(h.domain.Notes()); n != 2 {
		t.Errorf("%d notes are left, want 2", n)
	}
}

func TestDenialChangesNothing(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	boss := testkit.As(t, "boss", access.Manager)
	id := h.Call(boss, "burn_note", json.RawMessage(`{"id":1}`)).Pending().ID
	if got, want := string(h.Encode(h.Answer(boss, id, false, ""))), `{"status":"cancelled","message":"Action cancelled by user"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantFault(t, h.Answer(boss, id, true, ""), fault.ConfirmationDenied)
	if len(h.domain.Notes()) != 3 {
		t.Error("a denied change was made")
	}
}

func TestChangedPreconditionIsStale(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	boss := testkit.As(t, "boss", access.Manager)
	id := h.Call(boss, "burn_note", json.RawMessage(`{"id":1}`)).Pending().ID
	h.domain.Rewrite(1, "something else")
	wantFault(t, h.Answer(boss, id, true, ""), fault.ConfirmationStale)
	if o := h.Answer(boss, id, true, ""); o.Fault() == nil || o.Fault().Code.Name != fault.ConfirmationStale.Name || o.Fault().Details["confirmationId"] != id {
		t.Errorf("repeated: got %s %v, want the same refusal, with the id", o.Code(), o.Fault().Details)
	}
	if len(h.domain.Notes()) != 3 {
		t.Error("a stale change was made")
	}
}

func TestRoleIsCheckedAgainAtApply(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	id := h.Call(testkit.As(t, "boss", access.Manager), "burn_note", json.RawMessage(`{"id":1}`)).Pending().ID
	demoted := testkit.As(t, "boss", access.Employee)
	wantFault(t, h.Answer(demoted, id, true, ""), fault.Insufficient)
	if len(h.domain.Notes()) != 3 {
		t.Error("someone without the role made a change")
	}
}

func TestUnwritableAuditRefusesChangesAndNotReads(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	both := testkit.As(t, "boss", access.Manager, access.Employee)
	id := h.Call(both, "burn_note", json.RawMessage(`{"id":1}`)).Pending().ID
	h.sink.Break(errors.New("disk full"))
	wantFault(t, h.Call(both, "burn_note", json.RawMessage(`{"id":2}`)), fault.ServiceDown)
	wantFault(t, h.Call(both, "add_note", json.RawMessage(`{"text":"x"}`)), fault.ServiceDown)
	if o := h.Answer(both, id, true, ""); o.Fault() == nil {
		t.Error("an approval went through without a record")
	}
	if len(h.domain.Notes()) != 3 {
		t.Error("something changed without a record")
	}
	if o := h.Call(both, "get_note", json.RawMessage(`{"id":1}`)); o.Fault() != nil {
		t.Errorf("a read was refused: %v", o.Fault())
	}
	h.sink.Break(nil)
	if o := h.Answer(both, id, true, ""); o.Fault() != nil {
		t.Errorf("after the audit was repaired: %v", o.Fault())
	}
}

func TestUnwritableAuditWithholdsReadsWhereItIsAskedFor(t *testing.T) {
	h := newHarness(t, nil)
	domain := testkit.NewFakeDomain(someNotes(3)...)
	r, err := tool.NewRunner(domain.Tools(), tool.Options{
		Server: "notebook", Policy: domain.Policy(), Cursors: ring(t), Confirmations: newConfirmations(t, h), Receipts: tool.OneStore(domain), Audit: h.sink, FailClosed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ann := testkit.As(t, "ann", access.Employee)
	h.sink.Break(errors.New("disk full"))
	for name, in := range map[string]string{"get_note": `{"id":1}`, "list_notes": `{}`, "page_notes": `{}`} {
		o := r.Call(ann, name, json.RawMessage(in))
		wantFault(t, o, fault.ServiceDown)
		if strings.Contains(string(r.Encode(o)), "secret-") || o.Data() != nil {
			t.Errorf("%s: the answer is there: %s", name, r.Encode(o))
		}
	}
	h.sink.Break(nil)
	if o := r.Call(ann, "get_note", json.RawMessage(`{"id":1}`)); o.Fault() != nil {
		t.Errorf("after the audit was repaired: %v", o.Fault())
	}
}

func TestAuditHoldsDigestsAndNoValues(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	both := testkit.As(t, "boss", access.Manager, access.Employee)
	h.Call(both, "get_note", json.RawMessage(`{"id":1}`))
	h.Call(both, "burn_note", json.RawMessage(`{"id":1,"reason":"too old"}`))
	h.Call(testkit.As(t, "ann", access.Employee), "burn_note", json.RawMessage(`{"id":1}`))
	h.Call(both, "add_note", json.RawMessage(`{"text":"private-wording"}`))
	var kinds []string
	for _, e := range h.sink.Events() {
		encoded, _ := json.Marshal(e)
		if strings.Contains(string(encoded), "secret-") || strings.Contains(string(encoded), "private-") {
			t.Errorf("the audit holds a value: %s", encoded)
		}
		kinds = append(kinds, string(e.Kind)+":"+e.Outcome+e.Step)
	}
	want := "outcome:success intent: confirmation:pending_confirmationopened outcome:pending_confirmation denial:INSUFFICIENT_PERMISSIONS intent: outcome:success"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i, e := range h.sink.Events()[:4] { // a read, and the steps of a change
		if e.Row != "1" {
			t.Errorf("event %d is about row %q, want the one that the call named: %+v", i+1, e.Row, e)
		}
	}
	if e := h.sink.Events()[1]; e.Kind != audit.Intent || e.Note != "too old" || len(e.Digest) != 64 {
		t.Errorf("the intent: %+v", e)
	}
}

func TestEditRunsAtOnceInItsOwnDialect(t *testing.T) {
	h := newHarness(t, testkit.Plain{}, someNotes(3)...)
	ann := testkit.As(t, "ann", access.Employee)
	h.Call(ann, "add_note", json.RawMessage(`{"text":"mine"}`))
	got := string(h.Encode(h.Call(ann, "page_notes", json.RawMessage(`{"limit":1,"offset":3}`))))
	if !strings.Contains(got, `"text":"mine"`) || !strings.Contains(got, `"total_count":4`) || !strings.Contains(got, `"offset":3`) {
		t.Errorf("got %s", got)
	}
	if got, want := string(h.Encode(h.Call(ann, "get_note", json.RawMessage(`{"id":9}`)))), `{"error":{"code":"NOTE_NOT_FOUND","message":"Note 9 was not found."}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if k := h.sink.Events()[0].Kind; k != audit.Intent {
		t.Errorf("the first event of an edit is %s, want its intent", k)
	}
}

func TestListedIsCallable(t *testing.T) {
	h := newHarness(t, nil, someNotes(3)...)
	for _, roles := range [][]access.Role{{}, {access.Employee}, {access.Manager}, {access.Employee, access.Manager}} {
		p := testkit.Person("p", roles...)
		visible := map[string]bool{}
		for _, info := range h.Visible(p) {
			visible[info.Name] = true
		}
		for _, info := range h.Visible(catalogue()) {
			o := h.Call(access.With(t.Context(), p), info.Name, json.RawMessage(`{"nonsense":1}`))
			if callable := o.Fault().Code != fault.Insufficient; callable != visible[info.Name] {
				t.Errorf("%v: %s callable %v, listed %v", roles, info.Name, callable, visible[info.Name])
			}
		}
	}
}

func TestAnswerThatIsTooLargeIsRefused(t *testing.T) {
	long := tool.Read(tool.Spec{Name: "long", Title: "Long", Description: "Tells all.", Allow: []access.Role{access.Employee}},
		func(context.Context, struct{}) (testkit.Note, error) {
			return testkit.Note{Text: strings.Repeat("x", tool.MaxResult)}, nil
		})
	r, err := tool.NewRunner([]tool.Tool{long}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: &testkit.MemorySink{}})
	if err != nil {
		t.Fatal(err)
	}
	o := r.Call(testkit.As(t, "ann", access.Employee), "long", nil)
	if f := wantFault(t, o, fault.OperationFailed); len(o.Data()) > 0 || strings.Contains(f.Message, "xx") {
		t.Errorf("got %q with %d bytes", f.Message, len(o.Data()))
	}
}

// FuzzCursor gives any text as a cursor: only one that the kernel sealed for this
// person and these filters is accepted, whatever else the input says.
func FuzzCursor(f *testing.F) {
	sealed := ring(f)
	runner, err := tool.NewRunner(testkit.NewFakeDomain(someNotes(10)...).Tools(), tool.Options{
		Server: "notebook", Policy: testkit.NewFakeDomain().Policy(), Cursors: sealed, Confirmations: &confirm.Service{},
		Receipts: tool.OneStore(testkit.NewFakeDomain()), Audit: discarded{},
	})
	if err != nil {
		f.Fatal(err)
	}
	who := access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "ann", Username: "ann", Roles: []string{string(access.Employee)}})
	call := func(ctx context.Context, cursor string) result.Outcome {
		input, err := json.Marshal(map[string]any{"limit": 2, "cursor": cursor})
		if err != nil {
			f.Fatal(err)
		}
		return runner.Call(access.With(ctx, who), "list_notes", input)
	}
	good := call(context.Background(), "").Page().Next
	for _, cursor := range []string{good, good + "A", good + "\n", good[:9] + "\r\n" + good[9:], good[1:], strings.ToUpper(good), "", "e30", "\x00", "....", sealed.Seal([]byte(`{"k":1,"e":9999999999}`), []byte("another"))} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		o := call(t.Context(), cursor)
		switch {
		case o.Fault() == nil && cursor != "":
			// This run's key sealed none of the corpus. Another spelling of a good cursor's bytes would be found here too.
			if cursor != good {
				t.Fatalf("%q was accepted", cursor)
			}
		case o.Fault() != nil && o.Fault().Code != fault.InvalidCursor && o.Fault().Code != fault.ValidationError:
			t.Fatalf("%q: got %v", cursor, o.Fault())
		}
	})
}

// discarded is an audit sink that keeps nothing.
type discarded struct{}

func (discarded) Append(context.Context, audit.Event) error { return nil }
