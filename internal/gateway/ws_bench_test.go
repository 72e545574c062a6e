package gateway_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
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
		holdSockets(strings.Fields(load))
		return
	}
	os.Exit(m.Run())
}

// holdSockets opens connections, says so, and keeps them until its input ends.
func holdSockets(load []string) {
	count, err := strconv.Atoi(load[3])
	if err != nil {
		panic(err)
	}
	open := make([]net.Conn, count) // a connection without a reference is closed
	for i := range open {
		if open[i], err = openSocket(load[0], load[1], load[2]); err != nil {
			panic(err)
		}
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range open {
		_ = c.Close()
	}
}

// openSocket makes the upgrade by hand and answers nothing: a client of a few
// hundred bytes.
func openSocket(address, path, token string) (net.Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
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
	return c, err
}

// The question: what does an idle WebSocket take of the gateway's memory? `floor` is
// the same library with a handler that only reads. KiB are of heap and stacks, of
// 10,000 connections whose clients are another process.
func BenchmarkIdleSockets(b *testing.B) {
	r := rigAt(b, testkit.StartRedis(b).URL(), limited(quota.Limits{Streams: idleSockets + 1, Requests: 1_000_000}))
	floor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err == nil {
			_, _, _ = ws.Read(context.Background())
			_ = ws.CloseNow()
		}
	}))
	defer floor.Close()
	for _, target := range []struct{ name, url, path string }{{"floor", floor.URL, "/"}, {"gateway", r.url, "/ws"}} {
		b.Run(target.name, func(b *testing.B) {
			for range b.N {
				goroutines, before := runtime.NumGoroutine(), usedMemory()
				began := time.Now()
				end := startSockets(b, strings.TrimPrefix(target.url, "http://")+" "+target.path+" "+alice+" "+strconv.Itoa(idleSockets))
				b.ReportMetric(float64(idleSockets)/time.Since(began).Seconds(), "connections/s")
				b.ReportMetric(float64(usedMemory()-before)/idleSockets/1024, "KiB/connection")
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/idleSockets, "goroutines/connection")
				end()
				for runtime.NumGoroutine() > goroutines+100 { // the next figure begins without these connections
					runtime.Gosched()
				}
			}
		})
	}
}

func usedMemory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// startSockets starts the process of clients and returns when all are connected.
func startSockets(b *testing.B, load string) (end func()) {
	b.Helper()
	clients := exec.Command(os.Args[0])
	clients.Env = append(os.Environ(), asClients+"="+load)
	clients.Stderr = os.Stderr
	in, err := clients.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := clients.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := clients.Start(); err != nil {
		b.Fatal(err)
	}
	end = func() { _ = in.Close(); _ = clients.Wait() }
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		end()
		b.Fatalf("the clients are not connected: %q, %v", line, err)
	}
	return end
}
