package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
	"countersign.dev/internal/upstream"
)

// rights is a gateway and two domain servers, "notes" and "direct", of which the
// second takes answers from people's own tokens; and an issuer whose key the test
// has, so that it makes every kind of token.
type rights struct {
	*platform
	issuer *issuer.Server
	signer jose.Signer
	minter *auth.Minter
	urls   map[string]string
	folder string
	files  connectedFiles // of the gateway; none: no other servers
	traffic
}

// traffic is what the servers behind the gateway received: each request whole.
type traffic struct {
	describe func(text string)    // changes the definition of the server's tool; nil: it has none
	before   func(request string) // is called before each request is served; nil: nothing

	mu       sync.Mutex
	requests []string
}

func (x *traffic) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, err := httputil.DumpRequest(req, true)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		x.mu.Lock()
		x.requests = append(x.requests, string(text))
		x.mu.Unlock()
		if x.before != nil {
			x.before(string(text))
		}
		next.ServeHTTP(w, req)
	})
}

// received returns what was received since it was last asked.
func (x *traffic) received() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.requests
	x.requests = nil
	return all
}

// noteServer is a fake domain as the platform serves one.
type noteServer struct{ *testkit.FakeDomain }

func (s noteServer) Receipts() tool.ReceiptStores { return tool.OneStore(s.FakeDomain) }
func (s noteServer) Ready(context.Context) error  { return nil }

func newRights(t *testing.T, change ...func(*rights)) *rights {
	t.Helper()
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	folder := t.TempDir()
	r := &rights{platform: platformIn(t, folder, redis.URL()), urls: map[string]string{}, folder: folder}
	for _, c := range change {
		c(r)
	}
	listeners := map[string]net.Listener{}
	for _, name := range []string{"gateway", "notes", "direct"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[name], r.urls[name] = l, "http://"+l.Addr().String()
	}
	r.startIssuer(t)
	if r.minter, err = auth.NewMinter(r.keys.signing, nil); err != nil {
		t.Fatal(err)
	}
	own := []auth.Config{{URL: r.issuer.URL(), ConfirmClients: []string{demoClient}}} // each server's audience is its name
	believed := []auth.Config{{URL: r.issuer.URL(), Audiences: []string{gatewayAudience}, ConfirmClients: []string{demoClient}}}
	var servers []upstream.Server
	for _, name := range []string{"notes", "direct"} {
		r.keys.sealing[name] = [][]byte{seal.RandomSecret()}
		notes := make([]testkit.Note, 100)
		for i := range notes {
			notes[i] = testkit.Note{ID: i + 1, Author: "alice.chen", Text: "a note"}
		}
		fake := testkit.NewFakeDomain(notes...)
		edge, err := r.edge(domain{name: name, title: name, policy: fake.Policy()}, noteServer{fake}, domainOptions{url: r.urls[name], issuers: own, direct: name == "direct", approvals: r.urls["gateway"]})
		if err != nil {
			t.Fatal(err)
		}
		r.life.serve(listeners[name], r.recorded(edge.Handler()), r.log, edge.Close)
		servers = append(servers, upstream.Server{Name: name, URL: r.urls[name]})
	}
	models, err := llm.New(map[string]llm.Options{llm.Rehearsal: {Provider: llm.Rehearsal}}, llm.Policy{Default: llm.Rehearsal})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.serveGateway(gatewayOptions{listener: listeners["gateway"], url: r.urls["gateway"], issuers: believed, clientID: demoClient, servers: servers, files: r.files, models: models}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rights) startIssuer(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "issuer-key.pem")
	people := []issuer.Person{{Username: "alice.chen", Subject: "alice", Name: "Alice Chen", Email: "alice@tamshai.local", Roles: []string{"employee", "manager"}}}
	server, err := issuer.Start("localhost:0", issuer.Options{
		People: people, KeyFile: file,
		Clients: []issuer.Client{{ID: demoClient, Audience: gatewayAudience, RedirectURIs: []string{r.urls["gateway"] + "/callback"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	r.issuer = server
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: parsed.(*ecdsa.PrivateKey), KeyID: keyIDOf(t, server.URL())}
	if r.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil); err != nil {
		t.Fatal(err)
	}
}

// keyIDOf reads the id of the issuer's only key.
func keyIDOf(t *testing.T, issuerURL string) string {
	t.Helper()
	resp, err := testkit.Client.Get(issuerURL + "/jwks")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("got %d keys, %v", len(set.Keys), err)
	}
	return set.Keys[0].KeyID
}

// token makes a token of Alice for an audience, with more claims.
func (r *rights) token(t *testing.T, audience string, more map[string]any) string {
	t.Helper()
	claims := map[string]any{
		"iss": r.issuer.URL(), "sub": "alice", "aud": audience, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"preferred_username": "alice.chen", "email": "alice@tamshai.local", "email_verified": true, "roles": []string{"employee", "manager"},
	}
	maps.Copy(claims, more)
	token, err := jwt.Signed(r.signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// internal makes an internal token of Alice for a server.
func (r *rights) internal(t *testing.T, audience string, purpose access.Purpose) string {
	t.Helper()
	p := access.NewPrincipal(access.Claims{Issuer: r.issuer.URL(), Subject: "alice", Username: "alice.chen", Roles: []string{"employee", "manager"}, MayConfirm: true})
	token, err := r.minter.Token(p, audience, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// open asks a server for a change and returns the id of its confirmation.
func (r *rights) open(t *testing.T, server string, note int) string {
	t.Helper()
	a := r.send(t, testkit.Client, "POST", r.urls[server]+"/tools/burn_note", r.token(t, server, nil), fmt.Sprintf(`{"id":%d}`, note))
	var pending struct{ ConfirmationID string }
	if err := json.Unmarshal([]byte(a.body), &pending); err != nil || pending.ConfirmationID == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	return pending.ConfirmationID
}

// digest reads the digest of a confirmation at the gateway; empty when the caller
// may not.
func (r *rights) digest(t *testing.T, c *http.Client, token, id string) string {
	t.Helper()
	var shown struct{ ConfirmationData struct{ Digest string } }
	a := r.send(t, c, "GET", r.urls["gateway"]+"/api/confirmations/"+id, token, "")
	if err := json.Unmarshal([]byte(a.body), &shown); err != nil {
		t.Fatal(err)
	}
	return shown.ConfirmationData.Digest
}

type reply struct {
	status    int
	challenge string
	body      string
}

func (r *rights) send(t *testing.T, c *http.Client, method, address, token, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	} else {
		req.Header.Set("Origin", r.urls["gateway"])
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header.Get("WWW-Authenticate"), string(text)}
}

// mcp sends a message of revision 2026-07-28 to a server. name is that of the tool
// of a call.
func (r *rights) mcp(t *testing.T, server, token, method, name, args string) string {
	t.Helper()
	params := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if name != "" {
		params += `,"name":"` + name + `","arguments":` + args
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
	c := &http.Client{Transport: headers{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name, "Accept": "application/json, text/event-stream"}}
	return r.send(t, c, "POST", r.urls[server]+"/mcp", token, body).body
}

// headers adds headers to each request.
type headers map[string]string

func (h headers) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range h {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return testkit.Transport.RoundTrip(req)
}

// TestClientOfAServerIsSentToThePage: an MCP client of a server or of the gateway
// learns where its person approves, and what the outcome is.
func TestClientOfAServerIsSentToThePage(t *testing.T) {
	r := newRights(t)
	browser := r.signIn(t)
	for note, server := range []string{"gateway", "notes", "direct"} {
		token, tool := r.token(t, server, map[string]any{"scope": "mcp", "azp": "agent"}), "burn_note"
		var called struct {
			Result struct {
				Structured struct {
					ConfirmationID, Message string
					ConfirmationData        struct{ ApprovalURL, Digest string }
				} `json:"structuredContent"`
			}
		}
		answer := r.mcp(t, server, token, "tools/call", tool, fmt.Sprintf(`{"id":%d}`, note+1))
		if err := json.Unmarshal([]byte(answer), &called); err != nil {
			t.Fatal(err)
		}
		waiting := called.Result.Structured
		page := r.urls["gateway"] + "/#/approve/" + waiting.ConfirmationID
		if waiting.ConfirmationID == "" || waiting.ConfirmationData.ApprovalURL != page || !strings.Contains(waiting.Message, "Open "+page+" to approve or deny this, within 5 minutes.") {
			t.Fatalf("%s: got %s, want the page", server, answer)
		}
		if list := r.mcp(t, server, token, "tools/list", "", ""); !strings.Contains(list, `"name":"get_confirmation"`) {
			t.Errorf("%s: got %s, want the tool", server, list)
		}
		show := func() string {
			return r.mcp(t, server, token, "tools/call", "get_confirmation", fmt.Sprintf(`{"confirmation_id":%q}`, waiting.ConfirmationID))
		}
		if got := show(); !strings.Contains(got, `"state":"pending"`) || !strings.Contains(got, page) {
			t.Errorf("%s: got %s, want it pending", server, got)
		}
		body := fmt.Sprintf(`{"approved":true,"digest":%q}`, waiting.ConfirmationData.Digest)
		if got := r.send(t, browser, "POST", r.urls["gateway"]+"/api/confirm/"+waiting.ConfirmationID, "", body); got.status != 200 {
			t.Errorf("%s: the page: got %d %s", server, got.status, got.body)
		}
		if got := show(); !strings.Contains(got, `"state":"applied"`) || !strings.Contains(got, `"receipt":{"status":"success"`) {
			t.Errorf("%s: got %s, want its receipt", server, got)
		}
	}
}

// signIn signs Alice in with a browser.
func (r *rights) signIn(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: testkit.Transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	next := func(resp *http.Response, err error) *url.URL {
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		to, err := resp.Location()
		if err != nil {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("got %s: %s", resp.Status, text)
		}
		return to
	}
	asked := next(c.Get(r.urls["gateway"] + "/login"))
	form := asked.Query()
	form.Set("username", "alice.chen")
	back := next(c.PostForm(r.issuer.URL()+"/authorize", form))
	next(c.Get(back.String()))
	return c
}

// TestRightToAnswerOnEverySurface: every kind of caller, every surface, both
// answers. A refused answer leaves the confirmation as it was, is audited, and
// names the scope that is missing.
func TestRightToAnswerOnEverySurface(t *testing.T) {
	r := newRights(t)
	browser := r.signIn(t)
	const ours = demoClient
	claims := map[string]map[string]any{
		"mcp confirm, our client":     {"scope": "mcp confirm", "azp": ours},
		"confirm, our client":         {"scope": "confirm", "client_id": ours},
		"mcp, our client":             {"scope": "mcp", "azp": ours},
		"mcp confirm, another client": {"scope": "mcp confirm", "azp": "agent"},
		"mcp confirm, no client":      {"scope": "mcp confirm"},
		"no scope, our client":        {"azp": ours},
		"no scope, no client":         {},
	}
	note := 0
	answerAt := func(surface, token string, c *http.Client, approved bool) (reply, string) {
		note++
		server := strings.TrimPrefix(surface, "/execute of ")
		if surface == "POST /api/confirm" {
			server = "notes"
		}
		id := r.open(t, server, note)
		if surface == "POST /api/confirm" {
			body := fmt.Sprintf(`{"approved":%v,"digest":%q}`, approved, r.digest(t, c, token, id))
			return r.send(t, c, "POST", r.urls["gateway"]+"/api/confirm/"+id, token, body), id
		}
		return r.send(t, c, "POST", r.urls[server]+"/execute", token, fmt.Sprintf(`{"confirmationId":%q,"approved":%v}`, id, approved)), id
	}
	check := func(surface, caller, token string, c *http.Client, status int, code string) {
		t.Helper()
		for _, approved := range []bool{true, false} {
			before := len(r.events(t))
			got, id := answerAt(surface, token, c, approved)
			if got.status != status || code != "" && !strings.Contains(got.body, `"code":"`+code+`"`) {
				t.Errorf("%s, %s, approved %v: got %d %s, want %d %s", surface, caller, approved, got.status, got.body, status, code)
			}
			if code == "INSUFFICIENT_SCOPE" && !strings.Contains(got.body, `"details":{"confirmationId":"`+id+`"}`) {
				t.Errorf("%s, %s: got %s, want the id %s", surface, caller, got.body, id)
			}
			if challenged := strings.Contains(got.challenge, `error="insufficient_scope", scope="confirm"`); challenged != (code == "INSUFFICIENT_SCOPE") {
				t.Errorf("%s, %s: the challenge is %q", surface, caller, got.challenge)
			}
			want := ""
			if code == "INSUFFICIENT_SCOPE" || code == "FORBIDDEN" && !strings.HasPrefix(caller, "internal") {
				want = code
			}
			if got := refusalOf(r.events(t)[before:], id); got != want {
				t.Errorf("%s, %s: the audit has %q, want %q", surface, caller, got, want)
			}
		}
	}
	for name, more := range claims {
		right := name == "mcp confirm, our client" || name == "confirm, our client"
		for surface, audience := range map[string]string{"POST /api/confirm": "gateway", "/execute of notes": "notes", "/execute of direct": "direct"} {
			status, code := 403, "INSUFFICIENT_SCOPE"
			switch {
			case right && surface == "/execute of notes":
				status, code = 403, "FORBIDDEN"
			case right:
				status, code = 200, ""
			}
			check(surface, name, r.token(t, audience, more), testkit.Client, status, code)
		}
	}
	check("POST /api/confirm", "a browser's sign-in", "", browser, 200, "")
	check("POST /api/confirm", "no token", "", testkit.Client, 401, "UNAUTHENTICATED")
	for purpose, status := range map[access.Purpose]int{access.PurposeExecute: 200, access.PurposeCall: 403, access.PurposeCatalogue: 403} {
		for _, server := range []string{"notes", "direct"} {
			code := ""
			if status != 200 {
				code = "FORBIDDEN"
			}
			check("/execute of "+server, "internal "+string(purpose), r.internal(t, server, purpose), testkit.Client, status, code)
		}
		check("POST /api/confirm", "internal "+string(purpose), r.internal(t, gatewayAudience, purpose), testkit.Client, 401, "UNAUTHENTICATED")
	}
	r.checkNoToolAnswers(t, claims)
}

// checkNoToolAnswers: over MCP no token of any kind is offered a tool that takes
// a confirmation's id, but the one that only shows it.
func (r *rights) checkNoToolAnswers(t *testing.T, claims map[string]map[string]any) {
	t.Helper()
	for name, more := range claims {
		for _, server := range []string{"gateway", "notes", "direct"} {
			list := r.mcp(t, server, r.token(t, server, more), "tools/list", "", "")
			if strings.Count(list, `"confirmation_id":{`) != 1 || strings.Contains(list, `"approved"`) {
				t.Errorf("%s at %s: a tool answers confirmations: %s", name, server, list)
			}
		}
	}
}

// events are the lines of the audit log.
func (r *rights) events(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(bytes.TrimSpace(text))), "\n")
}

// refusalOf is the code with which the answer to a confirmation was refused.
func refusalOf(events []string, id string) string {
	for _, line := range events {
		var e struct{ Kind, Step, Confirmation, Outcome string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Step == "refused" && e.Confirmation == id {
			return e.Outcome
		}
	}
	return ""
}

// TestProvenanceOfAChangeIsItsSurface: the record at the server has the surface that
// the gateway saw, and a person's own token at the server has the server's.
func TestProvenanceOfAChangeIsItsSurface(t *testing.T) {
	mcpClient := &http.Client{Transport: accepting{}}
	r := newRights(t)
	token := r.token(t, "gateway", map[string]any{"scope": "mcp confirm", "azp": demoClient, "origin": map[string]any{"surface": "chat"}})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"burn_note","arguments":{"id":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r.send(t, testkit.Client, "POST", r.urls["gateway"]+"/api/mcp/notes/burn_note", token, `{"id":1}`)
	a := r.send(t, mcpClient, "POST", r.urls["gateway"]+"/mcp", token, call)
	r.open(t, "notes", 3)
	var list struct {
		Confirmations []struct {
			Data struct {
				Provenance access.Provenance `json:"origin"`
			} `json:"confirmationData"`
		}
	}
	shown := r.send(t, testkit.Client, "GET", r.urls["gateway"]+"/api/confirmations", token, "")
	if err := json.Unmarshal([]byte(shown.body), &list); err != nil {
		t.Fatal(err)
	}
	got := map[access.Surface]int{}
	for _, c := range list.Confirmations {
		got[c.Data.Provenance.Surface]++
	}
	if want := (map[access.Surface]int{access.SurfaceAPI: 1, access.SurfaceMCP: 1, access.SurfaceServer: 1}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v; MCP answered %s; listed %s", got, want, a.body, shown.body)
	}
}

// accepting sends the headers of an MCP client that calls burn_note.
type accepting struct{}

func (accepting) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", "burn_note")
	return testkit.Transport.RoundTrip(req)
}
