package audit

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// start opens a process's log once more, appends an event, and ends in order.
func start(t testing.TB, dir, name string) {
	t.Helper()
	l := openSigned(t, dir, name)
	appendAll(t, l, Event{Kind: Outcome})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func keyOf(t testing.TB, name string) Evidence {
	t.Helper()
	return Evidence{Keys: []string{signerOf(t, name).PublicKey()}, Some: true}
}

// TestRewrittenLogIsReportedAfterAStart rewrites all of a log without its key while its
// process is down. The starts after it sign the log, and what they found is still reported.
func TestRewrittenLogIsReportedAfterAStart(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, path string, before storedHead) storedHead{
		"no signature": func(t *testing.T, path string, _ storedHead) storedHead {
			rewrite(t, path, nil, hide)
			return mustReadHead(t, path)
		},
		"a key of its own": func(t *testing.T, path string, _ storedHead) storedHead {
			rewrite(t, path, signerOf(t, "attacker"), hide)
			return mustReadHead(t, path)
		},
		"the signature of before": func(t *testing.T, path string, before storedHead) storedHead {
			rewrite(t, path, nil, hide)
			return storedHead{mustReadHead(t, path).SignedHead, before.signed}
		},
		"no signature, and many remarks": func(t *testing.T, path string, _ storedHead) storedHead {
			rewrite(t, path, nil, hide)
			forgeLines(t, path, slices.Repeat([]Event{{Kind: Recovery, Step: stepTorn}}, maxRemarks)...)
			return mustReadHead(t, path)
		},
		"the signature of before, and a line more": func(t *testing.T, path string, before storedHead) storedHead {
			rewrite(t, path, nil, hide)
			forgeLines(t, path, Event{Kind: Outcome})
			return storedHead{mustReadHead(t, path).SignedHead, before.signed}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l, path := openSigned(t, dir, "hr"), filepath.Join(dir, "hr.jsonl")
			appendAll(t, l, Event{Kind: Turn}, Event{Kind: Outcome, Rows: 4}, Event{Kind: Intent})
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			head := forge(t, path, mustReadHead(t, path))
			if err := os.WriteFile(headPath(path), head.append(nil), 0o600); err != nil {
				t.Fatal(err)
			}
			if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Contradicted {
				t.Errorf("before a start: got status %d: %s; want %d", status, text, Contradicted)
			}
			if err := openSigned(t, dir, "hr").Close(); err != nil { // without an event
				t.Fatal(err)
			}
			for range 2 {
				if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Contradicted || strings.Contains(text, "none of the trusted keys") {
					t.Errorf("after a start: got status %d: %s; want %d and a signature", status, text, Contradicted)
				}
				start(t, dir, "hr")
			}
		})
	}
}

func mustReadHead(t testing.TB, path string) storedHead {
	t.Helper()
	h, err := readHead(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// forgeLines adds events to a log and its head, as one can who has no key.
func forgeLines(t testing.TB, path string, events ...Event) {
	t.Helper()
	head := mustReadHead(t, path)
	for _, e := range events {
		if e.Seq, e.Prev = head.Seq+1, head.Hash; e.Time.IsZero() {
			e.Time = noon
		}
		addBytes(t, path, string(seal(&e)))
		head.Seq, head.Hash = e.Seq, e.Hash
	}
	if err := os.WriteFile(headPath(path), head.append(nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRewrittenLogContradictsItsPublishedHead rewrites a log with the stolen key: its own
// signature shows nothing, and the head in Redis is replaced when the process starts.
func TestRewrittenLogContradictsItsPublishedHead(t *testing.T) {
	c := newCompany(t)
	c.close(t)
	rewrite(t, c.path("hr"), signerOf(t, "hr"), hide)
	again := openSigned(t, c.dir, "hr")
	appendAll(t, again, Event{Kind: Outcome})
	if err := NewAnchors(again, c.redis, slog.New(slog.DiscardHandler)).Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := verifyAll(t, keyOf(t, "hr"), c.path("hr")); status != Contradicted || !strings.Contains(text, "Its published head has another hash for event 4") {
		t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
	}
}

// TestOtherHashOfAKnownEventIsRecorded, by the processes that knew the one before.
func TestOtherHashOfAKnownEventIsRecorded(t *testing.T) {
	c := newCompany(t)
	other := c.anchors[0].seen[c.hr.id]
	other.Hash = strings.Repeat("ab", 32)
	signerOf(t, "hr").sign(&other)
	c.redis[other.Log] = other
	if err := c.anchors[0].Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := verifyAll(t, keyOf(t, "gateway"), c.path("gateway")); status != Contradicted || !strings.Contains(text, "The head of the log of hr has another hash") {
		t.Errorf("got status %d: %s; want %d", status, text, Contradicted)
	}
}

// TestLogOfAnotherSecretIsContinued: the secrets of a process change one after the other.
func TestLogOfAnotherSecretIsContinued(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, "hr")
	path := filepath.Join(dir, "hr.jsonl")
	secret := func(name string) []byte { return []byte(strings.Repeat(name, 32)) }
	both, err := NewSigner(secret("new"), secret("hr"))
	alone, err2 := NewSigner(secret("other"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signer *Signer
		want   Status
	}{{both, Whole}, {alone, Contradicted}} {
		l := openSigned(t, dir, "hr", func(o *Options) { o.Signer = c.signer })
		appendAll(t, l, Event{Kind: Turn})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if status, text := verifyAll(t, Evidence{}, path); status != c.want {
			t.Errorf("got status %d: %s; want %d", status, text, c.want)
		}
	}
}

// TestLinesAfterTheEndOfAProcessAreReported: approvals are added without a key to the log of
// a process that ended in order. The starts after it sign them, and they are still reported.
func TestLinesAfterTheEndOfAProcessAreReported(t *testing.T) {
	approval := Event{Kind: Confirmation, Step: "approved", Confirmation: "c-1"}
	for name, c := range map[string]struct {
		forged   []Event
		headless bool // the head is left as it was
		lines    string
	}{
		"one":                           {forged: []Event{approval}, lines: "Events 4 to 4 were added"},
		"a thousand":                    {forged: slices.Repeat([]Event{approval}, 1000), lines: "Events 4 to 1003 were added"},
		"a start before it":             {forged: []Event{{Kind: Opened, Step: stepOpened}, approval}, lines: "Events 4 to 5 were added"},
		"the end of a process after it": {forged: []Event{approval, {Kind: Opened, Step: stepClosed}}, lines: "Events 4 to 5 were added"},
		"the head as it was":            {forged: []Event{approval}, headless: true, lines: "Events 4 to 4 were added"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			start(t, dir, "hr") // its start, the event, its end
			path := filepath.Join(dir, "hr.jsonl")
			before := mustReadHead(t, path)
			forgeLines(t, path, c.forged...)
			if c.headless {
				addFile(t, headPath(path), string(before.append(nil)))
			}
			for range 3 {
				if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Damaged || !strings.Contains(text, c.lines) {
					t.Errorf("got status %d: %s; want %d and %q", status, text, Damaged, c.lines)
				}
				start(t, dir, "hr")
			}
		})
	}
}

// TestUnsignedLinesOfACrashAreNamed: a process that is killed leaves lines without a signature,
// and so does somebody who adds some. The next start goes on, and names them for good.
func TestUnsignedLinesOfACrashAreNamed(t *testing.T) {
	var flood []Event // as many remarks as a report has
	for i := range 3 * maxRemarks {
		flood = append(flood, Event{Kind: Confirmation, Time: noon.Add(time.Duration(i%2) * time.Hour)})
	}
	for name, c := range map[string]struct {
		forged []Event
		want   string
	}{
		"killed":                   {nil, "Events 3 to 4 were not signed when the process started, 0 of them"},
		"killed, and lines added":  {flood, "Events 3 to " + strconv.Itoa(4+len(flood)) + " were not signed when the process started, " + strconv.Itoa(len(flood)) + " of them"},
		"killed after a new start": {nil, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir, killed := t.TempDir(), t.TempDir()
			l := openSigned(t, dir, "hr")
			appendAll(t, l, Event{Kind: Intent}, Event{Kind: Outcome}, Event{Kind: Outcome}) // no time passes, so the reads are not signed
			if c.want == "" {
				appendAll(t, l, Event{Kind: Intent})
			}
			path := filepath.Join(killed, "hr.jsonl")
			for _, file := range []string{"hr.jsonl", "hr.jsonl.head"} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				addFile(t, filepath.Join(killed, file), string(text))
			}
			forgeLines(t, path, c.forged...)
			for range 2 {
				start(t, killed, "hr")
				status, text := verifyAll(t, keyOf(t, "hr"), path)
				if status != Whole || !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "not signed") {
					t.Errorf("%s: got status %d: %s; want %d and %q", name, status, text, Whole, c.want)
				}
			}
		})
	}
}

// TestKilledBetweenAStartAndItsHead: of a start, one line can be without a signature.
func TestKilledBetweenAStartAndItsHead(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, "hr")
	path := filepath.Join(dir, "hr.jsonl")
	before := mustReadHead(t, path)
	forgeLines(t, path, Event{Kind: Opened, Step: stepOpened, Log: &Identity{ID: before.Log, Name: "hr"}})
	addFile(t, headPath(path), string(before.append(nil)))
	for range 2 {
		if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Whole || !strings.Contains(text, "not signed") {
			t.Errorf("got status %d: %s; want %d and a remark", status, text, Whole)
		}
		start(t, dir, "hr")
	}
}

// TestStartWhoseSyncFailsIsWrittenAgain, and no line follows before its head is on disk.
func TestStartWhoseSyncFailsIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	l := openSigned(t, dir, "hr")
	disk := &disk{file: l.file}
	disk.space.Store(1 << 20)
	disk.sick.Store(true)
	l.file = disk
	if err := l.Append(t.Context(), Event{Kind: Outcome}); err == nil {
		t.Fatal("an event was written after a start that is not on disk")
	}
	disk.sick.Store(false)
	appendAll(t, l, Event{Kind: Outcome})
	var steps []string
	for _, e := range readAll(t, filepath.Join(dir, "hr.jsonl")) {
		steps = append(steps, string(e.Kind)+" "+e.Step)
	}
	if want := []string{"log opened", "recovery unwritten", "outcome "}; !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
}

// TestEndOnAFullDiskIsAnEnd without a line.
func TestEndOnAFullDiskIsAnEnd(t *testing.T) {
	dir := t.TempDir()
	l := openSigned(t, dir, "hr")
	appendAll(t, l, Event{Kind: Outcome})
	l.file = &disk{file: l.file}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "hr")
	if status, text := verifyAll(t, keyOf(t, "hr"), filepath.Join(dir, "hr.jsonl")); status != Whole || strings.Contains(text, "not signed") {
		t.Errorf("got status %d: %s; want %d", status, text, Whole)
	}
}

// TestStartsInOrderLeaveNoRemark: what a process writes is signed when it ends.
func TestStartsInOrderLeaveNoRemark(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		l := openSigned(t, dir, "hr", func(o *Options) { o.Now = time.Now })
		appendAll(t, l, Event{Kind: Outcome}, Event{Kind: Intent})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if status, text := verifyAll(t, keyOf(t, "hr"), dir); status != Whole || text != "" {
		t.Errorf("got status %d: %s; want %d and no remark", status, text, Whole)
	}
}

// TestUnprovenLinesAreNamedBesideDamage: without its head, or the lines that it was of, the
// signature of a log shows nothing of the others.
func TestUnprovenLinesAreNamedBesideDamage(t *testing.T) {
	for name, damage := range map[string]func(path string){
		"no head":        func(path string) { _ = os.Remove(headPath(path)) },
		"lines are lost": func(path string) { keepLines(t, path, 2) },
		"lines are lost, and the head was changed to fit": func(path string) {
			keepLines(t, path, 2)
			events, head := readAll(t, path), mustReadHead(t, path)
			head.Seq, head.Hash = events[1].Seq, events[1].Hash
			addFile(t, headPath(path), string(head.append(nil)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			start(t, dir, "hr")
			path := filepath.Join(dir, "hr.jsonl")
			damage(path)
			for range 2 {
				start(t, dir, "hr")
				if status, text := verifyAll(t, keyOf(t, "hr"), path); status != Recovered || !strings.Contains(text, "No signature shows that events 1 to ") {
					t.Errorf("got status %d: %s; want %d", status, text, Recovered)
				}
			}
		})
	}
}
