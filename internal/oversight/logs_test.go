package oversight_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/oversight"
)

// verified is what a check of the chains answers.
type verified struct {
	Whole bool
	Logs  []struct {
		Name, Status, Broken string
		Whole                bool
		Events               uint64
		Remarks              []string
	}
	Unread []named
}

type named struct {
	Name    string
	Events  uint64
	Problem string
}

// processes are the audit logs of a gateway and of servers that run by themselves, with
// their heads. Their clocks show even and odd minutes.
type processes struct {
	*oversight.Service
	logs  map[string]*audit.Log
	paths map[string]string
}

func newProcesses(t *testing.T, read ...string) processes {
	t.Helper()
	p := processes{logs: map[string]*audit.Log{}, paths: map[string]string{}}
	folder := t.TempDir()
	for i, name := range []string{"gateway", "hr", "finance"} {
		signer, err := audit.NewSigner([]byte(strings.Repeat(name, 40)))
		if err != nil {
			t.Fatal(err)
		}
		at := start.Add(time.Duration(i) * time.Minute)
		p.paths[name] = filepath.Join(folder, name+".jsonl")
		log, err := audit.Open(p.paths[name], &audit.Options{Name: name, Signer: signer, Now: func() time.Time { at = at.Add(3 * time.Minute); return at }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		p.logs[name] = log
	}
	var paths []string
	for _, name := range read {
		paths = append(paths, p.paths[name])
	}
	heads := func(context.Context) (all []audit.SignedHead, _ error) {
		for _, name := range []string{"hr", "gateway", "finance"} {
			h, _ := p.logs[name].SignedHead()
			all = append(all, h)
		}
		return append(all, audit.SignedHead{Log: "forged", Name: "forged", Seq: 9}), nil
	}
	p.Service = oversight.New(oversight.Options{Logs: paths, Audit: p.logs["gateway"], Servers: servers{}, Heads: heads, Now: func() time.Time { return start.Add(8 * time.Hour) }})
	return p
}

func (p processes) append(t *testing.T, log string, e audit.Event) {
	t.Helper()
	if err := p.logs[log].Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// TestLogsOfOtherProcessesAreReadAsOne: by time, each event once, page by page, with whose
// log it is in; those that are not read are named.
func TestLogsOfOtherProcessesAreReadAsOne(t *testing.T) {
	p := newProcesses(t, "gateway", "hr")
	for i := range 60 {
		p.append(t, "gateway", person("alice", audit.Event{Kind: audit.Turn, Note: fmt.Sprint("gateway ", i)}))
		p.append(t, "hr", person("alice", audit.Event{Kind: audit.Outcome, Server: "hr", Note: fmt.Sprint("hr ", i)}))
	}
	p.append(t, "finance", person("alice", audit.Event{Kind: audit.Outcome}))
	type answer struct {
		Events []struct{ From, Note string }
		Next   string
		Logs   []named
		Unread []named
	}
	var got []string
	for query, pages := "person=alice", 1; query != ""; pages++ {
		one, err := get[answer](t, p.Record(), query, access.Auditor)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range one.Events {
			if !strings.HasPrefix(e.Note, e.From+" ") {
				t.Fatalf("%q is said to be in the log of %s", e.Note, e.From)
			}
			got = append(got, e.Note)
		}
		if len(one.Logs) != 2 || one.Logs[1].Name != "hr" || one.Logs[1].Events != 61 || !slices.Equal(one.Unread, []named{{Name: "finance", Events: 2}}) {
			t.Errorf("covers %+v and leaves out %+v, want gateway and hr, and finance", one.Logs, one.Unread)
		}
		if query = ""; one.Next != "" {
			query = "person=alice&before=" + one.Next
		} else if pages != 3 {
			t.Errorf("got %d pages, want 3", pages)
		}
	}
	var want []string
	for i := 59; i >= 0; i-- {
		want = append(want, fmt.Sprint("hr ", i), fmt.Sprint("gateway ", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want the newest first: %q", got, want)
	}
	for _, before := range []string{"5", "5,0", "5,5,5", "5,", "5;5"} {
		if got, err := get[answer](t, p.Record(), "before="+before, access.Auditor); err == nil {
			t.Errorf("before=%s: got %+v, want a refusal", before, got)
		}
	}
}

// TestRequestsOfOtherProcessesAreInTheOverview: who asked for what expired there.
func TestRequestsOfOtherProcessesAreInTheOverview(t *testing.T) {
	p := newProcesses(t, "gateway", "hr")
	p.append(t, "hr", person("bob", audit.Event{Kind: audit.Confirmation, Step: "opened", Confirmation: "late", Server: "hr"}))
	got, err := get[struct {
		Expired []struct{ Confirmation string }
		People  []struct{ Username string }
		Unread  []named
	}](t, p.Overview(), "", access.Auditor)
	if err != nil || len(got.Expired) != 1 || len(got.People) != 2 || len(got.Unread) != 1 {
		t.Errorf("got %+v, %v, want the request, bob and ann, and one log that is not read", got, err)
	}
}

// TestEachLogIsVerified: one that was altered is not whole, and the others are. A log that is
// not read is not missing.
func TestEachLogIsVerified(t *testing.T) {
	p := newProcesses(t, "gateway", "hr")
	h, _ := p.logs["finance"].SignedHead()
	p.append(t, "gateway", audit.Event{Kind: audit.Anchored, Anchor: &h})
	for _, name := range []string{"hr", "finance"} {
		p.append(t, name, person("alice", audit.Event{Kind: audit.Turn}))
	}
	whole, err := get[verified](t, p.Verification(), "", access.Auditor)
	if err != nil || !whole.Whole || len(whole.Logs) != 2 || len(whole.Unread) != 1 || whole.Unread[0].Name != "finance" {
		t.Errorf("got %+v, %v", whole, err)
	}
	text, err := os.ReadFile(p.paths["hr"])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.paths["hr"], []byte(strings.Replace(string(text), "alice.test", "carol.test", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := get[verified](t, p.Verification(), "", access.Auditor)
	if err != nil || broken.Whole || !broken.Logs[0].Whole || broken.Logs[1].Whole || !strings.Contains(broken.Logs[1].Broken, "altered") {
		t.Errorf("an altered log of hr: got %+v, %v", broken, err)
	}
	found, err := get[struct {
		Events []audit.Event
		Logs   []named
	}](t, p.Record(), "", access.Auditor)
	if err != nil || len(found.Events) == 0 || found.Logs[0].Problem != "" || !strings.Contains(found.Logs[1].Problem, "altered") {
		t.Errorf("a search that reads an altered log: got %+v, %v, want its other events and the problem", found, err)
	}
}

// TestLogThatCannotBeReadIsNamed, and hides no other.
func TestLogThatCannotBeReadIsNamed(t *testing.T) {
	p := newProcesses(t, "gateway", "hr")
	for _, file := range []string{p.paths["hr"], p.paths["hr"] + ".head"} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	found, err := get[struct {
		Events []audit.Event
		Logs   []named
	}](t, p.Record(), "", access.Auditor)
	if err != nil || len(found.Events) == 0 || found.Logs[1].Problem == "" {
		t.Errorf("got %+v, %v, want the gateway's events and what is wrong with hr's log", found, err)
	}
	chain, err := get[verified](t, p.Verification(), "", access.Auditor)
	if err != nil || chain.Whole || !chain.Logs[0].Whole || chain.Logs[1].Whole {
		t.Errorf("got %+v, %v, want the gateway's chain to be whole, and not hr's", chain, err)
	}
}
