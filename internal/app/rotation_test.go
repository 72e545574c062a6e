package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/testkit"
)

// TestKeysRotateOverReplicas does what docs/operations.md says about keys.signing
// and keys.sealing, with two replicas of the gateway and of a server: replicas
// restart one after the other, and after every restart both serve calls,
// cursors, sign-ins and confirmations that began before, and each what the other
// one began. At the end the dropped keys open nothing.
func TestKeysRotateOverReplicas(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	before, after := newKeySet(t), newKeySet(t)
	for _, r := range c.replicas {
		r.start(before)
	}
	for _, r := range c.replicas {
		r.serves()
	}
	old := c.begin(c.replicas[0], 2, 3, 4, 5)

	for _, keys := range [][]keySet{{before, after}, {after, before}} {
		for i, r := range c.replicas {
			r.restart(keys...)
			other := c.replicas[1-i]
			c.works(r, old, "from before")
			c.works(other, old, "from before")
			c.works(r, c.begin(other), "of the other replica")
			c.works(other, c.begin(r), "of the other replica")
			c.approves(r, old.confirmations[0])
			old.confirmations = old.confirmations[1:]
		}
	}

	young := c.begin(c.replicas[0], 9)
	for i, r := range c.replicas {
		r.restart(after)
		c.works(r, young, "of the new keys")
		c.works(c.replicas[1-i], young, "of the new keys")
	}
	c.approves(c.replicas[1], young.confirmations[0])
	if status, body := c.replicas[0].page(old.cursor); status != http.StatusOK || !strings.Contains(body, "INVALID_CURSOR") {
		t.Errorf("a cursor of the dropped secret: %d %s", status, body)
	}
	if status := c.replicas[0].signedIn(old.cookie); status != http.StatusUnauthorized {
		t.Errorf("a sign-in of the dropped secret: %d", status)
	}
}

// keySet is one generation of keys.
type keySet struct{ signing, gateway, sales string }

func newKeySet(t *testing.T) keySet {
	t.Helper()
	signing, err := auth.NewKey()
	must(t, err)
	return keySet{signing, rand.Text() + rand.Text(), rand.Text() + rand.Text()}
}

// cluster is two gateways, each with a sales server, on one Redis, one store and
// one issuer. Each server finds the public keys at the other gateway, as behind
// a load balancer.
type cluster struct {
	t        *testing.T
	folder   string
	redis    string
	issuer   string
	public   string // address of the first gateway
	replicas [2]*replica
	token    string // Carol's
}

type replica struct {
	*cluster
	gateway, sales string // addresses without scheme
	keysAt         string // where the server finds the gateway's keys
	through        string // where the gateway finds Redis; empty: where it is
	stop           func()
}

// begun is what people have under way.
type begun struct {
	cursor, cookie string
	confirmations  []string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, folder: t.TempDir(), redis: "redis://" + miniredis.RunT(t).Addr()}
	for i := range c.replicas {
		c.replicas[i] = &replica{cluster: c, gateway: freeAddress(t), sales: freeAddress(t)}
	}
	c.replicas[0].keysAt, c.replicas[1].keysAt = c.replicas[1].gateway, c.replicas[0].gateway
	c.public = "http://" + c.replicas[0].gateway
	var people []issuer.Person
	for _, a := range company.Accounts() {
		people = append(people, issuer.Person(a))
	}
	server, err := issuer.Start("localhost:0", issuer.Options{People: people, TerminalClient: demoClient, Clients: []issuer.Client{{
		ID: demoClient, Audience: gatewayAudience, RedirectURIs: []string{c.public + "/callback"},
	}}})
	must(t, err)
	t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
	c.issuer = server.URL()
	c.token = c.signedToken("carol.johnson")
	seeding := c.replicas[0].config("support", []keySet{newKeySet(t)})
	options := ConfigOptions{File: seeding, Getenv: noVariables, Out: io.Discard, Err: io.Discard}
	must(t, Migrate(t.Context(), options))
	must(t, Seed(t.Context(), SeedOptions{ConfigOptions: options}))
	return c
}

// signedToken is a new token of a person.
func (c *cluster) signedToken(username string) string {
	c.t.Helper()
	var answer struct {
		Token string `json:"access_token"`
	}
	_, body := c.send("POST", c.issuer+"/dev/token", fmt.Sprintf(`{"username":%q,"audience":%q,"scope":"mcp confirm"}`, username, gatewayAudience))
	must(c.t, json.Unmarshal([]byte(body), &answer))
	return answer.Token
}

func noVariables(string) string { return "" }

// config writes the file of the gateway, of the sales server, or of `seed`.
func (r *replica) config(process string, generations []keySet) string {
	r.t.Helper()
	keys := map[string]any{}
	var signing, sealing []string
	for _, g := range generations {
		signing = append(signing, g.signing)
		sealing = append(sealing, map[string]string{"gateway": g.gateway, "sales": g.sales, "support": g.sales}[process])
	}
	if process == "gateway" {
		keys["signing"] = signing
	}
	keys["sealing"] = map[string]any{process: sealing}
	redis := r.redis
	if process == "gateway" {
		redis = cmp.Or(r.through, redis)
	}
	name := filepath.Join(r.folder, process+strings.ReplaceAll(r.gateway, ":", "-"))
	text, err := json.Marshal(map[string]any{ // JSON is YAML
		"listen": r.gateway, "public_url": r.public, "keys": keys, "redis": map[string]any{"url": redis},
		"issuer":    map[string]any{"url": r.issuer, "audience": gatewayAudience},
		"gateway":   map[string]any{"url": "http://" + r.keysAt},
		"servers":   map[string]any{"sales": map[string]any{"url": "http://" + r.sales, "listen": r.sales}},
		"databases": map[string]any{"sales": map[string]any{"url": "sqlite:" + filepath.Join(r.folder, "sales.db")}},
		"audit":     map[string]any{"path": name + ".jsonl"}, "log": map[string]any{"level": "warn"},
	})
	must(r.t, err)
	must(r.t, os.WriteFile(name+".yaml", text, 0o600))
	return name + ".yaml"
}

// start runs both processes of a replica until stop or the end of the test.
func (r *replica) start(keys ...keySet) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	var log bytes.Buffer // of the start; it is read when both ended
	ended := make(chan error, 2)
	options := func(process string) ConfigOptions {
		return ConfigOptions{File: r.config(process, keys), Getenv: noVariables, Out: io.Discard, Err: io.Discard}
	}
	sales, chatHost := options("sales"), options("gateway")
	go func() { ended <- Serve(ctx, ServeOptions{ConfigOptions: sales, Servers: []string{"sales"}}) }()
	go func() { ended <- Gateway(ctx, chatHost) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				r.t.Errorf("a process ended: %v\n%s", err, log.String())
			}
		}
	}
	r.t.Cleanup(r.stop)
	r.await("http://" + r.sales + "/ready")
	r.await("http://" + r.gateway + "/readyz")
}

func (r *replica) restart(keys ...keySet) {
	r.t.Helper()
	r.stop()
	r.start(keys...)
	r.serves()
}

// serves waits until a call reaches the store. A gateway may have looked for its server
// before that listened, and a server for keys before the other gateway did; each tries
// again after a while.
func (r *replica) serves() {
	r.t.Helper()
	deadline, tick := time.After(testkit.Patience), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		status, body := r.page("")
		if status == http.StatusOK && strings.Contains(body, `"status":"success"`) {
			return
		}
		select {
		case <-deadline:
			r.t.Fatalf("no call is served: %d %s", status, body)
		case <-tick.C:
		}
	}
}

// await asks until a process is ready.
func (r *replica) await(address string) {
	r.t.Helper()
	deadline, tick := time.After(testkit.Patience), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := testkit.Client.Get(address); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-deadline:
			r.t.Fatalf("%s is not ready", address)
		case <-tick.C:
		}
	}
}

// send sends JSON with Carol's token, unless headers say otherwise, and follows
// no redirect.
func (c *cluster) send(method, address, body string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(body))
	must(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	if len(headers) == 0 && c.token != "" {
		headers = []string{"Authorization", "Bearer " + c.token}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := testkit.Transport.RoundTrip(req)
	must(c.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(c.t, err)
	return resp, string(text)
}

// begin begins what will be under way, and proposes to close the named deals.
func (c *cluster) begin(r *replica, deals ...int) begun {
	c.t.Helper()
	var page struct {
		Metadata struct {
			Next string `json:"nextCursor"`
		}
	}
	_, body := r.page("")
	must(c.t, json.Unmarshal([]byte(body), &page))
	b := begun{cursor: page.Metadata.Next, cookie: r.signIn()}
	if b.cursor == "" {
		c.t.Fatalf("no cursor in %s", body)
	}
	for _, deal := range deals {
		_, body := c.send("POST", "http://"+r.gateway+"/api/mcp/sales/close_deal", fmt.Sprintf(`{"deal_id":"65a2d000000000000000%04d","outcome":"won"}`, deal))
		var pending struct {
			ID string `json:"confirmationId"`
		}
		if err := json.Unmarshal([]byte(body), &pending); err != nil || pending.ID == "" {
			c.t.Fatalf("close deal %d: %s", deal, body)
		}
		b.confirmations = append(b.confirmations, pending.ID)
	}
	return b
}

// works proves that a replica serves calls and what was begun.
func (c *cluster) works(r *replica, b begun, whose string) {
	c.t.Helper()
	for name, cursor := range map[string]string{"a call": "", "a cursor " + whose: b.cursor} {
		if resp, body := r.page(cursor); resp != http.StatusOK || !strings.Contains(body, `"status":"success"`) {
			c.t.Errorf("%s: %d %s", name, resp, body)
		}
	}
	if status := r.signedIn(b.cookie); status != http.StatusOK {
		c.t.Errorf("a sign-in %s: %d", whose, status)
	}
}

func (c *cluster) approves(r *replica, id string) {
	c.t.Helper()
	if resp, body := c.send("POST", "http://"+r.gateway+"/api/confirm/"+id, `{"approved":true}`); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"status":"success"`) {
		c.t.Errorf("approve: %d %s", resp.StatusCode, body)
	}
}

// page asks for two deals.
func (r *replica) page(cursor string) (int, string) {
	r.t.Helper()
	resp, body := r.send("POST", "http://"+r.gateway+"/api/mcp/sales/list_deals", fmt.Sprintf(`{"limit":2,"cursor":%q}`, cursor))
	return resp.StatusCode, body
}

func (r *replica) signedIn(cookie string) int {
	r.t.Helper()
	resp, _ := r.send("GET", "http://"+r.gateway+"/api/user", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	return resp.StatusCode
}

// signIn signs Carol in as a browser does, and returns her cookie.
func (r *replica) signIn() string {
	r.t.Helper()
	began, _ := r.send("GET", "http://"+r.gateway+"/login", "")
	at, err := url.Parse(began.Header.Get("Location"))
	must(r.t, err)
	form := at.Query()
	form.Set("username", "carol.johnson")
	chosen, body := r.send("POST", r.issuer+"/authorize", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	back, err := url.Parse(chosen.Header.Get("Location"))
	must(r.t, err)
	if back.Path != "/callback" {
		r.t.Fatalf("the issuer answered %d %s", chosen.StatusCode, body)
	}
	flow := strings.SplitN(began.Header.Get("Set-Cookie"), ";", 2)[0]
	finished, body := r.send("GET", "http://"+r.gateway+"/callback?"+back.RawQuery, "", "Cookie", flow)
	for _, c := range finished.Cookies() {
		if c.Name == "countersign" && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	r.t.Fatalf("no session: %d %s", finished.StatusCode, body)
	return ""
}
