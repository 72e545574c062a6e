package gateway_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"countersign.dev/internal/gateway"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
)

// idleSockets is how many connections the benchmark opens. Each takes a descriptor
// here and one in the process of the clients.
const idleSockets = 10_000

// asClients makes the test binary the process of clients: its value is "address
// path token count".
const asClients = "COUNTERSIGN_BENCH_SOCKETS"

func TestMain(m *testing.M) {
	if load := os.Getenv(asClients); load != "" {
		if err := holdSockets(strings.Fields(load)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// patience is how long the clients of a benchmark may take to open their connections, or
// to answer their heartbeats.
const patience = 3 * time.Minute

// beats is how many heartbeats each connection has answered when memory is counted.
const beats = 2

// beat is the time between two heartbeats of a connection.
const beat = 15 * time.Second

// holdSockets opens connections, says so, answers pings, says when each connection has
// answered enough of them, and keeps them until its input ends. Its error says that a
// connection could not be opened, or has ended before.
func holdSockets(load []string) error {
	count, err := strconv.Atoi(load[3])
	if err != nil {
		return err
	}
	open := make([]net.Conn, count) // a connection without a reference is closed
	ended := make(chan error, count)
	for i := range open {
		if open[i], err = openSocket(load[0], load[1], load[2]); err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		go func() { ended <- answerPings(open[i]) }()
	}
	fmt.Println("open")
	for range count {
		if err := <-ended; err != nil {
			return err
		}
	}
	fmt.Println("beaten")
	for i := range open {
		go func() { _ = answerPings(open[i]) }()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range open {
		_ = c.Close()
	}
	return nil
}

// answerPings answers as many pings of a connection as are enough. Each message is
// shorter than 126 bytes or a greeting of at most 64 KiB.
func answerPings(c net.Conn) error {
	for answered := 0; answered < beats; {
		var head [2]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return err
		}
		size := int(head[1])
		if size == 126 {
			var long [2]byte
			if _, err := io.ReadFull(c, long[:]); err != nil {
				return err
			}
			size = int(binary.BigEndian.Uint16(long[:]))
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(c, body); err != nil {
			return err
		}
		if head[0] != 0x89 { // a ping, whole
			continue
		}
		if _, err := c.Write(append([]byte{0x8a, 0x80 | head[1], 0, 0, 0, 0}, body...)); err != nil { // masked with zeros
			return err
		}
		answered++
	}
	return nil
}

// openSocket makes the upgrade by hand: a client of a few hundred bytes.
func openSocket(address, path, token string) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", address, testkit.Patience)
	if err != nil {
		return nil, err
	}
	_ = c.SetReadDeadline(time.Now().Add(testkit.Patience))
	key := make([]byte, 16)
	_, _ = rand.Read(key)
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", path, address, token, base64.StdEncoding.EncodeToString(key))
	answer := bufio.NewReaderSize(c, 16)
	line, err := answer.ReadString('\n')
	if err == nil && !strings.Contains(line, "101") {
		rest := make([]byte, 2000)
		n, _ := io.ReadFull(answer, rest)
		err = fmt.Errorf("got %s%s", line, rest[:n])
	}
	for line != "\r\n" && err == nil { // the rest of the headers
		line, err = answer.ReadString('\n')
	}
	_ = c.SetReadDeadline(time.Time{})
	return upgraded{c, answer}, err
}

// upgraded reads what follows the headers.
type upgraded struct {
	net.Conn
	in *bufio.Reader
}

func (u upgraded) Read(p []byte) (int, error) { return u.in.Read(p) }

// The question: what does an idle WebSocket take of the gateway's memory, when it is
// new and after heartbeats? `floor` is the same library with a handler that only reads
// and pings. KiB are of heap and stacks, of 10,000 connections whose clients are another
// process.
func BenchmarkIdleSockets(b *testing.B) {
	r := rigAt(b, testkit.StartRedis(b).URL(), limited(quota.Limits{Streams: idleSockets + 1, Requests: 1_000_000}), func(o *gateway.Options) { o.Heartbeat = beat })
	floor := httptest.NewServer(http.HandlerFunc(pingAndRead))
	defer floor.Close()
	for _, target := range []struct{ name, url, path string }{{"floor", floor.URL, "/"}, {"gateway", r.url, "/ws"}} {
		b.Run(target.name, func(b *testing.B) {
			for range b.N {
				goroutines, before := runtime.NumGoroutine(), usedMemory()
				began := time.Now()
				clients := startSockets(b, strings.TrimPrefix(target.url, "http://")+" "+target.path+" "+alice+" "+strconv.Itoa(idleSockets))
				clients.await("open")
				b.ReportMetric(float64(idleSockets)/time.Since(began).Seconds(), "connections/s")
				b.ReportMetric(float64(usedMemory()-before)/idleSockets/1024, "KiB/new")
				clients.await("beaten")
				b.ReportMetric(float64(usedMemory()-before)/idleSockets/1024, "KiB/connection")
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/idleSockets, "goroutines/connection")
				clients.end()
				for until := time.Now().Add(patience); runtime.NumGoroutine() > goroutines+100; runtime.Gosched() { // the next figure begins without these connections
					if time.Now().After(until) {
						b.Fatalf("%d goroutines of connections that have ended", runtime.NumGoroutine()-goroutines)
					}
				}
			}
		})
	}
}

func pingAndRead(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	var pings *time.Timer
	pings = time.AfterFunc(beat, func() { _ = ws.Ping(context.Background()); pings.Reset(beat) })
	_, _, _ = ws.Read(context.Background())
	pings.Stop()
	_ = ws.CloseNow()
}

// usedMemory is what is in use after two collections, which also shrink stacks.
func usedMemory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// clients are a process that holds connections.
type clients struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// startSockets starts the process of clients.
func startSockets(b *testing.B, load string) *clients {
	b.Helper()
	c := &clients{b: b, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), asClients+"="+load)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return c
}

// await returns when the clients say so. Clients that say anything else, end or hang end
// the benchmark.
func (c *clients) await(state string) {
	c.b.Helper()
	hung := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer hung.Stop()
	if line, err := c.out.ReadString('\n'); line != state+"\n" {
		c.end()
		c.b.Fatalf("the clients are not %s: %q, %v", state, line, err)
	}
}

func (c *clients) end() { _ = c.in.Close(); _ = c.cmd.Wait() }
