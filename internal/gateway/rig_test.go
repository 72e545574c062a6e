package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/live"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/session"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// rig is a gateway on loopback over a real Redis protocol, with a scripted model
// and scripted servers.
type rig struct {
	t             testing.TB
	conversations *conversation.Service
	url           string
	redis         *state.Redis
	mini          *miniredis.Miniredis
	ring          *seal.Ring
	confirmations *confirm.Service
	revocations   *revocation.List // read every second, and by refresh
	audit         *testkit.MemorySink
	servers       *servers
	model         *model
	quotas        *quota.Quotas
	login         *login
	gateway       *gateway.Gateway
}

// newRig starts a gateway; change are functions that change its conversation.Options
// or its gateway.Options.
func newRig(t testing.TB, change ...any) *rig {
	mini := miniredis.RunT(t)
	return rigOn(t, mini, change...)
}

// rigOn starts one more replica on the same Redis.
func rigOn(t testing.TB, mini *miniredis.Miniredis, change ...any) *rig {
	t.Helper()
	r := rigAt(t, "redis://"+mini.Addr(), change...)
	r.mini = mini
	return r
}

// rigAt starts a replica on the Redis of an address.
func rigAt(t testing.TB, address string, change ...any) *rig {
	redis, err := state.Open(context.Background(), address, &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, redis: redis, audit: &testkit.MemorySink{}, model: newModel(), login: &login{}}
	r.confirmations = confirm.NewService(state.NewConfirmations(redis, testkit.Ring("record")), r.audit, &confirm.Options{Notifier: conversation.NewChanges(redis, slog.New(slog.DiscardHandler))})
	r.servers = newServers(r.confirmations, state.NewEntries(redis))
	r.revocations, r.login.verify = revocation.New(state.NewList(redis, revocation.Name, revocation.Life), nil), r.verify
	r.refresh()
	const publicURL = "http://gateway.test"
	ring, err := seal.NewRing("test", bytes.Repeat([]byte("k"), 32))
	r.ring = ring
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := session.New(session.Options{PublicURL: publicURL, Issuer: r.login, Verify: r.verifyBrowser, Revoke: r.revocations.RevokeToken, Ring: ring, Keys: redis, Audit: named{r.audit}})
	if err != nil {
		t.Fatal(err)
	}
	reachable := gateway.WithApproval(r.servers, approval.At(publicURL))
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Timeout: testkit.Patience, Limits: quota.Limits{Requests: 100_000}}) // tests are faster than people
	o := conversation.Options{Quotas: quotas, Models: models{r.model}, Toolbox: reachable, Redis: redis, Ring: ring, Audit: r.audit, Watch: r.revocations.Watch}
	for _, c := range change {
		if c, ok := c.(func(*conversation.Options)); ok {
			c(&o)
		}
	}
	if r.conversations, err = conversation.New(o); err != nil {
		t.Fatal(err)
	}
	host := gateway.Options{
		Quotas:    o.Quotas,
		PublicURL: publicURL, Issuers: []string{"https://issuer.test"}, Scopes: []string{"openid", "mcp"}, Origins: []string{"https://portal.test"}, Verify: r.verify, Sessions: sessions, Revocations: r.revocations, Revocable: []string{testkit.Issuer, "https://partner.test"}, Audit: named{r.audit},
		Conversations: r.conversations, Models: models{r.model}, Servers: reachable, Confirmations: r.servers,
		Connections: live.NewConnections(redis, ring), Tickets: &session.Tickets{Ring: ring, Keys: redis},
		Web: fstest.MapFS{"index.html": {Data: []byte(`<!doctype html>page<script type="module" src="app.js"></script><!-- given -->`)}, "app.js": {Data: []byte("//")}},
	}
	for _, c := range change {
		if c, ok := c.(func(*gateway.Options)); ok {
			c(&host)
		}
	}
	chatHost, err := gateway.New(host)
	if err != nil {
		t.Fatal(err)
	}
	r.quotas, r.gateway = o.Quotas, chatHost
	server := httptest.NewServer(chatHost.Handler())
	r.url = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		r.model.release()
		if err := r.conversations.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := chatHost.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		server.Close()
		r.quotas.Close()
		_ = redis.Close()
	})
	r.keepFresh()
	return r
}

// keepFresh reads the list of revocations every second, as a process does: a copy
// that grows old rejects every request.
func (r *rig) keepFresh() {
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() { r.revocations.Run(ctx) })
	r.t.Cleanup(func() { stop(); reading.Wait() })
}

// refresh reads the list of revocations now.
func (r *rig) refresh() {
	r.t.Helper()
	if err := r.revocations.Refresh(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// verify is verify for tokens that were not revoked.
func (r *rig) verify(ctx context.Context, token string) (*access.Principal, error) {
	p, err := verify(ctx, token)
	if err == nil {
		err = r.revocations.Check(p)
	}
	return p, err
}

func (r *rig) verifyBrowser(ctx context.Context, token string, _ auth.SignIn) (*access.Principal, error) {
	return r.verify(ctx, token)
}

// verify takes tokens of the form name:role,role or name:role,role:id:life.
func verify(_ context.Context, token string) (*access.Principal, error) {
	parts := strings.Split(token, ":")
	if len(parts) < 2 {
		return nil, fault.Unauthorized.New("The token is not valid.")
	}
	var list []access.Role
	for role := range strings.SplitSeq(parts[1], ",") {
		list = append(list, access.Role(role))
	}
	if len(parts) == 2 {
		return testkit.Person(parts[0], list...), nil
	}
	life, err := time.ParseDuration(parts[3])
	return testkit.Tokened(parts[0], parts[2], time.Now(), life, list...), err
}

const (
	alice   = "alice.chen:hr-read,hr-write"
	frank   = "frank.davis:employee"
	auditor = "audrey.stone:auditor"
)

// send makes one request as a person; body is JSON or empty.
func (r *rig) send(method, path, token, body string, headers ...string) *http.Response {
	r.t.Helper()
	return r.sendCtx(context.Background(), method, path, token, body, headers...)
}

func (r *rig) sendCtx(ctx context.Context, method, path, token, body string, headers ...string) *http.Response {
	r.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	ctx, cancel := context.WithTimeout(ctx, testkit.Patience) // a stream that never ends fails its test
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, reader)
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: testkit.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// read returns the status and the body of a whole answer.
func (r *rig) read(resp *http.Response) (int, string) {
	r.t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (r *rig) get(path, token string, into any) int {
	r.t.Helper()
	status, body := r.read(r.send("GET", path, token, ""))
	if into != nil {
		if err := json.Unmarshal([]byte(body), into); err != nil {
			r.t.Fatalf("%s: %v in %s", path, err, body)
		}
	}
	return status
}

// event is one server-sent event.
type event struct{ id, data string }

// stream reads the events of an answer one by one.
type stream struct {
	t    testing.TB
	resp *http.Response
	scan *bufio.Scanner
}

func (r *rig) stream(resp *http.Response) *stream {
	r.t.Helper()
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream" {
		_, body := r.read(resp)
		r.t.Fatalf("got %d %s %s, want a stream", resp.StatusCode, got, body)
	}
	return &stream{r.t, resp, bufio.NewScanner(resp.Body)}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	for s.scan.Scan() {
		switch line := s.scan.Text(); {
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "data: "):
			e.data = line[6:]
		case line == "" && e.data != "":
			return e, true
		}
	}
	return e, false
}

// rest reads until [DONE], which it includes, or the end.
func (s *stream) rest() (all []event) {
	for {
		e, ok := s.next()
		if !ok {
			return all
		}
		all = append(all, e)
		if e.data == "[DONE]" {
			return all
		}
	}
}

// ask asks in a conversation ("" for a new one) and returns the whole turn.
func (r *rig) ask(token, question, conversation string) []event {
	r.t.Helper()
	return r.stream(r.send("POST", "/api/query", token, askBody(question, conversation))).rest()
}

// released returns when the last turn of a conversation has released its lease:
// a turn does that after its last event was sent.
func (r *rig) released(conversation string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), testkit.Patience)
	defer cancel()
	for {
		_, leased, err := r.redis.Get(ctx, "turn:"+conversation)
		if err != nil {
			r.t.Fatal(err)
		}
		if !leased {
			return
		}
	}
}

func askBody(question, conversation string) string {
	b, _ := json.Marshal(map[string]string{"query": question, "conversationId": conversation})
	return string(b)
}

// conversationOf reads the id out of a turn's start event.
func conversationOf(t testing.TB, events []event) string {
	t.Helper()
	var start struct{ Type, ConversationID string }
	if len(events) == 0 || json.Unmarshal([]byte(events[0].data), &start) != nil || start.Type != "start" {
		t.Fatalf("got %v, want a start event first", events)
	}
	return start.ConversationID
}

func dataOf(events []event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.data + "\n")
	}
	return b.String()
}
