package app

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"countersign.dev/internal/testkit"
)

// TestRevocationEndsSocketsOfAnotherReplica: people who are revoked at one gateway, by a
// request from outside, lose the WebSockets that another one holds, with its first reading of the
// list after that: there are two readings in two seconds (TestWatchEndsWithinTwoSeconds in package
// revocation), and no other is let through here. Somebody else's stays.
func TestRevocationEndsSocketsOfAnotherReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	proxy := testkit.NewProxy(t, strings.TrimPrefix(c.redis, "redis://"))
	c.replicas[1].through = "redis://" + proxy.Address()
	keys := newKeySet(t)
	for _, r := range c.replicas {
		r.start(keys)
	}
	auditor := c.signedToken("auditor.demo")
	stays := c.socket(c.replicas[1], c.signedToken("nina.patel"))
	for _, username := range []string{"carol.johnson", "ryan.garcia", "amanda.white"} {
		ended := c.socket(c.replicas[1], c.signedToken(username))
		resp, body := c.send("POST", "http://"+c.replicas[0].gateway+"/api/revoke", `{"issuer":"`+c.issuer+`","sub":"`+subjectOf(t, username)+`"}`, "Authorization", "Bearer "+auditor)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d %s", resp.StatusCode, body)
		}
		var asked atomic.Int32
		proxy.Filter(func(toServer bool, data []byte) bool { // a reading asks for the version, and then for the list
			return !toServer || !bytes.Contains(data, []byte("revoked:version")) || asked.Add(1) <= 2
		})
		if err := <-ended; websocket.CloseStatus(err) != websocket.StatusPolicyViolation || !strings.Contains(err.Error(), "SIGN_IN_REVOKED") {
			t.Errorf("%s: got %v, want the end", username, err)
		}
		proxy.Filter(nil)
	}
	select {
	case err := <-stays:
		t.Errorf("somebody else's socket ended: %v", err)
	default:
	}
}

// socket connects to a gateway, and returns the error that ends the connection.
func (c *cluster) socket(r *replica, token string) <-chan error {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), testkit.Patience)
	c.t.Cleanup(cancel)
	ws, _, err := websocket.Dial(ctx, "http://"+r.gateway+"/ws", &websocket.DialOptions{Host: c.replicas[0].gateway, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}}) //nolint:bodyclose // Dial replaces the body
	must(c.t, err)
	c.t.Cleanup(func() { _ = ws.CloseNow() })
	_, first, err := ws.Read(ctx)
	must(c.t, err)
	var f struct{ Type string }
	if must(c.t, json.Unmarshal(first, &f)); f.Type != "connection" {
		c.t.Fatalf("got %s", first)
	}
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, _, err = ws.Read(ctx)
		}
		ended <- err
	}()
	return ended
}
