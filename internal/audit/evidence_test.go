package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// signerOf is the signer of a process.
func signerOf(t testing.TB, name string) *Signer {
	t.Helper()
	s, err := NewSigner([]byte(strings.Repeat(name, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openSigned opens a process's log in a folder.
func openSigned(t testing.TB, dir, name string, change ...func(*Options)) *Log {
	t.Helper()
	o := Options{Now: clock(), Name: name, Signer: signerOf(t, name)}
	for _, c := range change {
		c(&o)
	}
	l, err := Open(filepath.Join(dir, name+".jsonl"), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func verifyAll(t testing.TB, ev Evidence, paths ...string) (Status, string) {
	t.Helper()
	results, err := VerifyAll(paths, ev)
	if err != nil {
		t.Fatal(err)
	}
	worst, text := Whole, ""
	for _, r := range results {
		worst = Worse(worst, r.Status())
		for _, m := range r.Remarks {
			text += fmt.Sprintf("%s %d: %s\n", r.Path, m.Line, m.Text)
		}
		if r.Broken != nil {
			text += r.Broken.String() + "\n"
		}
	}
	return worst, text
}

// memoryHeads is Redis, for processes of one test.
type memoryHeads map[string]SignedHead

func (m memoryHeads) Publish(_ context.Context, h SignedHead) error { m[h.Log] = h; return nil }

func (m memoryHeads) Newest(context.Context) (all []SignedHead, err error) {
	for _, h := range m {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b SignedHead) int { return strings.Compare(a.Log, b.Log) })
	return all, nil
}

// company is two processes that know each other's heads.
type company struct {
	dir         string
	gateway, hr *Log
	anchors     []*Anchors
	redis       memoryHeads
}

func newCompany(t testing.TB) *company {
	t.Helper()
	c := &company{dir: t.TempDir(), redis: memoryHeads{}}
	c.gateway, c.hr = openSigned(t, c.dir, "gateway"), openSigned(t, c.dir, "hr")
	for _, l := range []*Log{c.gateway, c.hr} {
		appendAll(t, l, Event{Kind: Turn}, Event{Kind: Outcome, Rows: 3}, Event{Kind: Outcome, Rows: 4})
		c.anchors = append(c.anchors, NewAnchors(l, c.redis, slog.New(slog.DiscardHandler)))
	}
	c.exchange(t)
	return c
}

// exchange lets every process see the newest heads of the others.
func (c *company) exchange(t testing.TB) {
	t.Helper()
	for range 2 {
		for _, a := range c.anchors {
			if err := a.Exchange(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (c *company) close(t testing.TB) {
	t.Helper()
	if err := errors.Join(c.gateway.Close(), c.hr.Close()); err != nil {
		t.Fatal(err)
	}
}

func (c *company) path(name string) string { return filepath.Join(c.dir, name+".jsonl") }

// rewrite writes a log again with one event changed: a consistent chain with a
// head that the signer signed, under the id of the old log.
func rewrite(t testing.TB, path string, signer *Signer, change func(*Event)) {
	t.Helper()
	events := readAll(t, path)
	old, err := readHead(path)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	last := Head{Hash: genesis}
	for _, e := range events {
		change(&e)
		e.Seq, e.Prev = last.Seq+1, last.Hash
		line := seal(&e)
		text, last = append(text, line...), Head{e.Seq, e.Hash}
	}
	head := SignedHead{Log: old.Log, Seq: last.Seq, Hash: last.Hash}
	signer.sign(&head)
	if err := errors.Join(os.WriteFile(path, text, 0o600), os.WriteFile(headPath(path), storedHead{head, head}.append(nil), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func hide(e *Event) {
	if e.Rows == 4 {
		e.Rows = 0
	}
}

func TestLogsThatAgreeAreWhole(t *testing.T) {
	c := newCompany(t)
	keys := []string{signerOf(t, "gateway").PublicKey(), signerOf(t, "hr").PublicKey()}
	heads, _ := c.redis.Newest(t.Context())
	for name, check := range map[string]func() (Status, string){
		"both logs": func() (Status, string) { return verifyAll(t, Evidence{}, c.path("gateway"), c.path("hr")) },
		"keys and Redis": func() (Status, string) {
			return verifyAll(t, Evidence{Keys: keys, Heads: heads}, c.path("gateway"), c.path("hr"))
		},
		"the folder": func() (Status, string) { return verifyAll(t, Evidence{Keys: keys}, c.dir) },
	} {
		if status, text := check(); status != Whole {
			t.Errorf("%s: got status %d: %s", name, status, text)
		}
	}
	anchored := 0
	for _, e := range readAll(t, c.path("hr")) {
		if e.Kind == Anchored && e.Anchor.Name == "gateway" {
			anchored++
		}
	}
	if anchored == 0 {
		t.Error("hr has no head of the gateway's log")
	}
}

// TestRewritingOneLogIsFound rewrites a whole file with a consistent chain: without
// a key, with the attacker's own, and with the stolen key of that server.
func TestRewritingOneLogIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		signer string
		found  func(c *company, keys []string) (Status, string)
	}{
		"its own key, by the trusted keys": {"attacker", func(c *company, keys []string) (Status, string) {
			return verifyAll(t, Evidence{Keys: keys}, c.path("hr"), c.path("gateway"))
		}},
		"its own key, by the key in the log": {"attacker", func(c *company, _ []string) (Status, string) {
			return verifyAll(t, Evidence{}, c.path("hr"), c.path("gateway"))
		}},
		"the stolen key, by the other log": {"hr", func(c *company, keys []string) (Status, string) {
			return verifyAll(t, Evidence{Keys: keys}, c.path("hr"), c.path("gateway"))
		}},
		"the stolen key, by Redis": {"hr", func(c *company, keys []string) (Status, string) {
			heads, _ := c.redis.Newest(context.Background())
			heads = slices.DeleteFunc(heads, func(h SignedHead) bool { return h.Name != "hr" })
			return verifyAll(t, Evidence{Keys: keys, Heads: heads}, c.path("hr"), c.path("gateway"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			company := newCompany(t)
			company.close(t)
			rewrite(t, company.path("hr"), signerOf(t, c.signer), hide)
			keys := []string{signerOf(t, "gateway").PublicKey(), signerOf(t, "hr").PublicKey()}
			if status, text := c.found(company, keys); status != Contradicted || text == "" {
				t.Errorf("got status %d: %s; want %d and a line", status, text, Contradicted)
			}
		})
	}
}

// TestOlderCopyIsFound puts an old log and its signed head back.
func TestOlderCopyIsFound(t *testing.T) {
	c := newCompany(t)
	old, err := os.ReadFile(c.path("hr"))
	head, err2 := os.ReadFile(headPath(c.path("hr")))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	appendAll(t, c.hr, Event{Kind: Confirmation})
	c.exchange(t)
	report := wantWhole(t, c.path("hr"), c.hr.last.Seq)
	c.close(t)
	if err := errors.Join(os.WriteFile(c.path("hr"), old, 0o600), os.WriteFile(headPath(c.path("hr")), head, 0o600)); err != nil {
		t.Fatal(err)
	}
	heads, _ := c.redis.Newest(t.Context())
	for name, found := range map[string]func() (Status, string){
		"the other log": func() (Status, string) { return verifyAll(t, Evidence{}, c.path("hr"), c.path("gateway")) },
		"Redis":         func() (Status, string) { return verifyAll(t, Evidence{Heads: heads}, c.path("hr"), c.path("gateway")) },
		"the expected head": func() (Status, string) {
			return verifyAll(t, Evidence{Expect: &report.Head}, c.path("hr"), c.path("gateway"))
		},
	} {
		if status, text := found(); status != Contradicted {
			t.Errorf("%s: got status %d: %s", name, status, text)
		}
	}
	again := openSigned(t, c.dir, "hr")
	if err := NewAnchors(again, c.redis, slog.New(slog.DiscardHandler)).Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := verifyAll(t, Evidence{}, c.path("hr")); status != Lost && status != Contradicted || !strings.Contains(text, "was cut or replaced by an older one") {
		t.Errorf("a process that starts with an old log: got status %d: %s", status, text)
	}
}

func TestExpectedHeadStillHolds(t *testing.T) {
	c := newCompany(t)
	before := wantWhole(t, c.path("hr"), c.hr.last.Seq).Head
	appendAll(t, c.hr, Event{Kind: Turn})
	parsed, err := ParseHead(before.String())
	if err != nil || parsed != before {
		t.Fatalf("got %v, %v; want %v", parsed, err, before)
	}
	if status, text := verifyAll(t, Evidence{Expect: &parsed}, c.path("hr"), c.path("gateway")); status != Whole {
		t.Errorf("got status %d: %s", status, text)
	}
	parsed.Seq--
	if status, _ := verifyAll(t, Evidence{Expect: &parsed}, c.path("hr"), c.path("gateway")); status != Contradicted {
		t.Errorf("another head: got status %d, want %d", status, Contradicted)
	}
}

func TestMissingLogIsNamed(t *testing.T) {
	c := newCompany(t)
	status, text := verifyAll(t, Evidence{}, c.path("hr"))
	if status != Lost || !strings.Contains(text, "of gateway had ") {
		t.Errorf("got status %d: %s; want %d and the gateway named", status, text, Lost)
	}
}

// TestIdleProcessesWriteNoAnchors: heads that moved by anchors alone are not
// published.
func TestIdleProcessesWriteNoAnchors(t *testing.T) {
	c := newCompany(t)
	c.exchange(t)
	before := c.gateway.last.Seq + c.hr.last.Seq
	for range 10 {
		c.exchange(t)
	}
	if after := c.gateway.last.Seq + c.hr.last.Seq; after != before {
		t.Errorf("%d anchors were written while nothing happened", after-before)
	}
}

// TestForgedHeadsAreNotKept: what anyone who can write to Redis puts there.
func TestForgedHeadsAreNotKept(t *testing.T) {
	c := newCompany(t)
	events := len(readAll(t, c.path("gateway")))
	forged, _ := c.hr.SignedHead()
	forged.Seq += 100
	c.redis[forged.Log] = forged // the old signature
	other := forged
	signerOf(t, "attacker").sign(&other)
	for _, h := range []SignedHead{forged, other} {
		c.redis[forged.Log] = h
		if err := c.anchors[0].Exchange(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(readAll(t, c.path("gateway"))); n != events {
		t.Errorf("%d forged heads were kept", n-events)
	}
}

func TestDeletedHeadIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
	appendAll(t, l, Event{Kind: Intent})
	if err := os.Remove(headPath(path)); err != nil {
		t.Fatal(err)
	}
	if status, text := verifyAll(t, Evidence{}, path); status != Lost {
		t.Errorf("without a head: got status %d: %s", status, text)
	}
	appendAll(t, l, Event{Kind: Intent})
	if status, text := verifyAll(t, Evidence{Keys: []string{signerOf(t, "hr").PublicKey()}}, path); status != Whole {
		t.Errorf("after the next event: got status %d: %s", status, text)
	}
}

func TestStormOfRefusalsIsOneLineWithACount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path := openNew(t)
		r := NewRefusals(l, nil)
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { r.Run(ctx) })
		for i := range 10_000 {
			e := Event{Kind: Denial, Outcome: "UNAUTHENTICATED", RequestID: fmt.Sprint(i), Note: "A bearer token is required."}
			if i >= 5_000 {
				e = Event{Kind: Denial, Outcome: "USER_MISMATCH", Subject: fmt.Sprint("s", i)}
			}
			if err := r.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(readAll(t, path)); n > maxRefusals+1 {
			t.Errorf("%d lines at once, want %d at most", n, maxRefusals+1)
		}
		time.Sleep(2 * refusalInterval)
		synctest.Wait()
		total, lines := 0, readAll(t, path)
		for _, e := range lines {
			total += max(e.Count, 1)
		}
		if total != 10_000 || len(lines) > 2*(maxRefusals+1) {
			t.Errorf("%d lines count %d refusals, want 10000", len(lines), total)
		}
		stop()
		done.Wait()
	})
}

// TestUnsignedLogIsContinued, and what it had is reported as unsigned: one from which somebody
// took the signatures looks the same.
func TestUnsignedLogIsContinued(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hr.jsonl")
	old := openAt(t, path)
	appendAll(t, old, Event{Kind: Turn})
	_ = old.Close()
	editFile(t, headPath(path), func(b []byte) []byte { return append(bytes.Clone(b[:85]), '\n') }) // as heads were
	appendAll(t, openSigned(t, dir, "hr"), Event{Kind: Turn})
	if status, text := verifyAll(t, Evidence{Keys: []string{signerOf(t, "hr").PublicKey()}}, path); status != Contradicted || !strings.Contains(text, "nothing shows that events 1 to 1") {
		t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
	}
}

func TestFilesOfTheLogAreTheOwnersOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hr.jsonl")
	for _, p := range []string{path, headPath(path)} {
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	appendAll(t, openSigned(t, dir, "hr", func(o *Options) { o.MaxSize = 1 }), Event{Kind: Turn}, Event{Kind: Turn})
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", f.Name(), info.Mode())
		}
	}
}

// TestForgedHeadIsFoundByThePublicKey rewrites a log of which nothing else is known.
func TestForgedHeadIsFoundByThePublicKey(t *testing.T) {
	dir := t.TempDir()
	l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
	appendAll(t, l, Event{Kind: Outcome, Rows: 4})
	_ = l.Close()
	key := Evidence{Keys: []string{signerOf(t, "hr").PublicKey()}}
	if status, text := verifyAll(t, key, path); status != Whole {
		t.Fatalf("before: got status %d: %s", status, text)
	}
	rewrite(t, path, signerOf(t, "attacker"), hide)
	if status, text := verifyAll(t, key, path); status != Contradicted {
		t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
	}
}

// TestLinesOfReadsShareASignature: a change is signed when Append returns, and what is
// no change a little later, together with others.
func TestLinesOfReadsShareASignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
		signed := func() uint64 {
			h, err := readHead(path)
			if err != nil || !h.signed.signedBy(signerOf(t, "hr").PublicKey()) {
				t.Fatalf("got %+v, %v; want a signature of this key", h, err)
			}
			return h.signed.Seq
		}
		appendAll(t, l, Event{Kind: Intent}) // event 2, after that of opening
		if got := signed(); got != 2 {
			t.Errorf("after a change: event %d is signed, want 2", got)
		}
		appendAll(t, l, Event{Kind: Outcome, Rows: 4}, Event{Kind: Turn})
		if got := signed(); got != 2 {
			t.Errorf("after two reads: event %d is signed, want 2", got)
		}
		if status, text := verifyAll(t, Evidence{}, path); status != Whole || !strings.Contains(text, "Events after number 2 are not signed") {
			t.Errorf("before they are signed: got status %d: %s", status, text)
		}
		time.Sleep(signDelay)
		synctest.Wait()
		if got := signed(); got != 4 {
			t.Errorf("a moment later: event %d is signed, want 4", got)
		}
		appendAll(t, l, Event{Kind: Outcome})
		_ = l.Close()
		if got := signed(); got != 6 {
			t.Errorf("after Close: event %d is signed, want 6, that of closing", got)
		}
	})
}

// TestEarlierSignatureHolds rewrites a log, and its head around an old signature.
func TestEarlierSignatureHolds(t *testing.T) {
	dir := t.TempDir()
	l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
	appendAll(t, l, Event{Kind: Outcome, Rows: 4}, Event{Kind: Intent})
	_ = l.Close()
	before, _ := readHead(path)
	rewrite(t, path, signerOf(t, "attacker"), hide)
	forged, _ := readHead(path)
	forged.signed = before.signed
	if err := os.WriteFile(headPath(path), forged.append(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := verifyAll(t, Evidence{}, path); status != Contradicted || !strings.Contains(text, "The signature of its head has another hash") {
		t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
	}
}

// TestHeadIsReadAsItWasWritten, also in the shapes of earlier versions.
func TestHeadIsReadAsItWasWritten(t *testing.T) {
	hash, id, signature := strings.Repeat("ab", 32), "0123456789abcdef", strings.Repeat("x", 86)
	end := SignedHead{Log: id, Seq: 7, Hash: hash, Unwritten: 3}
	signed := SignedHead{Log: id, Seq: 5, Hash: genesis, Unwritten: 1, Signature: signature}
	whole := storedHead{end, signed}
	got, err := parseHead(whole.append(nil))
	if err != nil || got != whole {
		t.Errorf("got %+v, %v; want %+v", got, err, whole)
	}
	end.Unwritten = 0
	if got, err := parseHead([]byte("00000000000000000007 " + hash + "\n")); err != nil || got.Head() != end.Head() || got.signed.Signature != "" {
		t.Errorf("without an id: got %+v, %v", got, err)
	}
	old, err := parseHead([]byte("00000000000000000007 " + hash + " " + id + " 0000000000 " + signature + "\n"))
	if end.Signature = signature; err != nil || old.signed != end {
		t.Errorf("with a signature of its own: got %+v, %v; want %+v", old.signed, err, end)
	}
}
