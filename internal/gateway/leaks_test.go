package gateway_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
)

// TestAbruptDisconnectsLeaveNothing: clients of every kind of stream, and one in the middle of
// a question, reset their connections. Their slots, goroutines and descriptors are free again.
func TestAbruptDisconnectsLeaveNothing(t *testing.T) {
	r := newRig(t)
	id := conversationOf(t, r.ask(alice, "hello", ""))
	kinds := []string{
		"GET /api/events HTTP/1.1\r\n", "GET /api/conversations/" + id + "/events HTTP/1.1\r\n",
		"GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
		"GET /api/query?query=hello HTTP/1.1\r\n",
	}
	round := func() {
		var open []*net.TCPConn
		for i := range 16 { // of the 20 streams that a person may have
			open = append(open, r.begun(kinds[i%len(kinds)]))
		}
		for _, c := range open {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
		r.falls("open streams", 0, func() int { return r.quotas.Held(quota.Streams) })
		r.falls("turns", 0, func() int { return r.quotas.Held(quota.Turns) }) // a person may have four
	}
	// Connections of the pool of Redis stay, as many as were ever used at once: both ends of
	// each and two goroutines of its server are in this process.
	goroutines := func() int { return runtime.NumGoroutine() - 2*r.mini.CurrentConnectionCount() }
	files := func() int { return descriptors(t) - 2*r.mini.CurrentConnectionCount() }
	round()
	running, open := goroutines(), files()
	for range 20 {
		round()
	}
	r.falls("goroutines", running+10, goroutines)
	r.falls("descriptors", open+10, files)
}

// begun sends a request of Alice and reads the begin of its answer.
func (r *rig) begun(request string) *net.TCPConn {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(testkit.Patience))
	if _, err := io.WriteString(c, request+"Host: localhost\r\nAuthorization: Bearer "+alice+"\r\n\r\n"); err != nil {
		r.t.Fatal(err)
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, status); err != nil || !bytes.Contains(status, []byte(" 200")) && !bytes.Contains(status, []byte(" 101")) {
		r.t.Fatalf("%.40s: got %q, %v", request, status, err)
	}
	return c.(*net.TCPConn)
}

// falls waits until a number is as low as before.
func (r *rig) falls(what string, to int, count func() int) {
	r.t.Helper()
	for until := time.Now().Add(testkit.Patience); count() > to; runtime.Gosched() {
		if time.Now().After(until) {
			r.t.Fatalf("%d %s, want %d at most", count(), what, to)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted on Linux only")
	}
	return len(files)
}
