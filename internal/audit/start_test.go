package audit

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		e.Seq, e.Prev, e.Time = head.Seq+1, head.Hash, noon
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
