package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
)

// TestChangesOfEveryProcessReachTheirPersonsLog: two processes serve the
// tools, another the chat.
func TestChangesOfEveryProcessReachTheirPersonsLog(t *testing.T) {
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	p := testkit.Person("ann", access.Employee)
	opening, answering, chat := platformOn(t, redis.URL()), platformOn(t, redis.URL()), platformOn(t, redis.URL())
	answering.keys = opening.keys // replicas of one server
	service := func(pl *platform) *confirm.Service {
		s, err := pl.confirmations("hr", false)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r, err := service(opening).Open(t.Context(), p, confirm.Request{Action: "free_lion", Server: "hr"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service(answering).Answer(t.Context(), p, confirm.Reply{ID: r.ID, Server: "hr"}, noReceipts{}); err != nil {
		t.Fatal(err)
	}
	entries, err := chat.redis.ReadAfter(t.Context(), "person:"+p.Owner().String(), "", 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("got %d entries, %v, want 2", len(entries), err)
	}
	for i, state := range []confirm.State{confirm.Pending, confirm.Denied} {
		var e conversation.Event
		if err := e.UnmarshalBinary(entries[i].Data); err != nil || e.Type != conversation.Change || e.Status != string(state) || e.Tool != "free_lion" {
			t.Errorf("entry %d: got %+v, %v, want %s", i, e, err, state)
		}
	}
}

// noReceipts is an executor of changes that were never applied.
type noReceipts struct{ confirm.Executor }

func (noReceipts) Find(context.Context, access.Owner, confirm.ID) (json.RawMessage, bool, error) {
	return nil, false, nil
}

func platformOn(t *testing.T, redisURL string) *platform {
	t.Helper()
	return platformIn(t, t.TempDir(), redisURL)
}

// platformIn keeps its keys and its audit log in a folder.
func platformIn(t *testing.T, folder, redisURL string) *platform {
	t.Helper()
	return platformOf(t, folder, redisURL, config.Audit{Path: filepath.Join(folder, "audit.jsonl")})
}

func platformOf(t *testing.T, folder, redisURL string, log config.Audit) *platform {
	t.Helper()
	keys, err := demoKeys(folder)
	if err != nil {
		t.Fatal(err)
	}
	life := newLifetime()
	pl, err := newPlatform(t.Context(), life, slog.New(slog.DiscardHandler), keys, platformOptions{name: "hr", audit: log, redis: redisURL, patience: testkit.Patience, limits: quota.Limits{Requests: demoRequests, Unproven: 10_000}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		if err := life.end(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// TestReadsAreWithheldWhereTheConfigurationAsks: a server whose audit log cannot be written
// any more answers reads, unless its configuration says fail_closed_reads.
func TestReadsAreWithheldWhereTheConfigurationAsks(t *testing.T) {
	for withheld, want := range map[bool]string{true: "SERVICE_UNAVAILABLE", false: `"status":"success"`} {
		folder := t.TempDir()
		pl := platformOf(t, folder, "redis://"+miniredis.RunT(t).Addr(), config.Audit{Path: filepath.Join(folder, "audit.jsonl"), FailClosedReads: withheld})
		pl.keys.sealing["notes"] = [][]byte{seal.RandomSecret()}
		fake := testkit.NewFakeDomain(testkit.Note{ID: 1, Text: "a note"})
		edge, err := pl.edge(domain{name: "notes", title: "notes", policy: fake.Policy()}, noteServer{fake}, domainOptions{url: "http://localhost", issuers: []auth.Config{{URL: "http://localhost:1"}}})
		must(t, err)
		minter, err := auth.NewMinter(pl.keys.signing, nil)
		must(t, err)
		token, err := minter.Token(access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s", Username: "ann", Roles: []string{"employee"}}), "notes", access.PurposeCall)
		must(t, err)
		must(t, pl.audit.Close())
		r := httptest.NewRequest("POST", "http://localhost/tools/get_note", strings.NewReader(`{"id":1}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
		w := httptest.NewRecorder()
		edge.Handler().ServeHTTP(w, r)
		if got := w.Body.String(); !strings.Contains(got, want) || withheld && strings.Contains(got, "a note") {
			t.Errorf("fail_closed_reads %v: got %d %s, want %s", withheld, w.Code, got, want)
		}
	}
}

// TestADemoLogsThatItsCodeNeedsNoToken: the repository in which a demo was started is
// searched without a token, and the log says so.
func TestADemoLogsThatItsCodeNeedsNoToken(t *testing.T) {
	t.Parallel()
	pl, code := platformOn(t, "redis://"+miniredis.RunT(t).Addr()), sampleCode(t)
	var log testkit.Logs
	pl.log = log.Logger()
	d, _ := domainNamed("codesearch")
	db, err := d.store.Demo(t.Context(), storage.Engines{Folder: t.TempDir(), Code: code})
	must(t, err)
	listener, err := httpx.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	demo := demonstration{listeners: map[string]net.Listener{d.name: listener}, ports: map[string]string{d.name: "http://localhost:1"}}
	must(t, demo.serve(t.Context(), pl, d, db, "https://id.example.com"))
	if !strings.Contains(log.String(), "a setting weakens a check") || !strings.Contains(log.String(), "anonymous") {
		t.Errorf("the log does not say it:\n%s", log.String())
	}
}
