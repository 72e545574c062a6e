package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
)

// childEnv says that this process is a part of a benchmark and no test: a load
// or a bare server.
const childEnv = "COUNTERSIGN_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case loadChild:
		runLoad()
	case bareChild:
		serveBare()
	default:
		testkit.InMemory()
		code := m.Run()
		if postgres != nil {
			postgres.Stop()
		}
		os.Exit(code)
	}
}

// load is what a process of its own sends to a server, so that what the clients
// cost does not count as the server's: each client speaks HTTP/1.1 over plain
// connections and drops what it reads.
type load struct {
	Addr    string
	Clients []client
}

// client is one person's, or one address', part of a load.
type client struct {
	From    string // its own address, of 127.0.0.0/8
	Request []byte // the whole request
	Vary    string // a text in it in whose place each request has another of the same length
	Slow    slowness
	Conns   int // that are open at once; slow ones wait for their connections
}

// slowness is how a client wastes connections.
type slowness string

const (
	prompt     slowness = ""       // one request after the other; a refusal is followed by 20 ms at most
	slowBody   slowness = "body"   // sends its body a byte a second
	slowReader slowness = "reader" // sends many requests and reads a byte a second
)

const (
	loadChild = "load"
	bareChild = "bare" // answers 429 to every request, unread
)

// startLoad starts a load in a process of its own and returns what ends it: the
// answers by status, and how much processor time the load took.
func startLoad(t testing.TB, l load) (stop func() (answers map[int]int, cpu time.Duration)) {
	t.Helper()
	child, in, out := startChild(t, loadChild)
	must(t, json.NewEncoder(in).Encode(l))
	return func() (map[int]int, time.Duration) {
		must(t, in.Close())
		answers := map[int]int{}
		must(t, json.NewDecoder(out).Decode(&answers))
		must(t, child.Wait())
		return answers, child.ProcessState.UserTime() + child.ProcessState.SystemTime()
	}
}

// startBareServer starts the floor: a process that refuses every request with as
// little work as net/http allows. It returns its address and what ends it.
func startBareServer(t testing.TB) (addr string, stop func()) {
	t.Helper()
	child, in, out := startChild(t, bareChild)
	must(t, json.NewDecoder(out).Decode(&addr))
	return addr, func() { must(t, in.Close()); must(t, child.Wait()) }
}

func startChild(t testing.TB, part string) (*exec.Cmd, io.WriteCloser, io.Reader) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+part, "GOMAXPROCS=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	must(t, err)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	return child, in, out
}

// runLoad is the process: it works until its standard input ends.
func runLoad() {
	var l load
	if err := json.NewDecoder(os.Stdin).Decode(&l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var answers [600]atomic.Int64
	for _, c := range l.Clients {
		for range max(1, c.Conns) {
			go c.run(l.Addr, func(status int) { answers[min(status, 599)].Add(1) })
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	counts := map[int]int{}
	for status := range answers {
		if n := answers[status].Load(); n > 0 {
			counts[status] = int(n)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(counts)
}

func serveBare() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	}()
	_ = json.NewEncoder(os.Stdout).Encode(l.Addr().String())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// run opens one connection after the other, for as long as the process lives.
func (c client) run(addr string, count func(status int)) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(c.From)}}
	for {
		conn, err := from.Dial("tcp", addr)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		switch c.Slow {
		case prompt:
			c.ask(conn, count)
		case slowBody:
			head, body, _ := bytes.Cut(c.Request, []byte("\r\n\r\n"))
			_, _ = conn.Write(append(head, "\r\n\r\n"...))
			for i := range body {
				time.Sleep(time.Second)
				if _, err := conn.Write(body[i : i+1]); err != nil {
					break
				}
			}
		case slowReader:
			go func() { _, _ = conn.Write(bytes.Repeat(c.Request, 200)) }()
			for one := make([]byte, 1); ; {
				time.Sleep(time.Second)
				if _, err := conn.Read(one); err != nil {
					break
				}
			}
		}
		_ = conn.Close()
	}
}

// ask sends one request after the other until the connection ends.
func (c client) ask(conn net.Conn, count func(status int)) {
	answers := bufio.NewReaderSize(conn, 64<<10)
	for i := 0; ; i++ {
		if _, err := conn.Write(c.varied(i)); err != nil {
			return
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		count(resp.StatusCode)
		if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil || resp.Close {
			return
		}
	}
}

func (c client) varied(i int) []byte {
	if c.Vary == "" {
		return c.Request
	}
	other := strconv.Itoa(i)
	other = strings.Repeat("A", max(0, len(c.Vary)-len(other))) + other
	return bytes.Replace(c.Request, []byte(c.Vary), []byte(other), 1)
}

// request is an HTTP/1.1 request as it is sent. Without a token it has none.
func rawRequest(method, path, token, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return []byte(head + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}
