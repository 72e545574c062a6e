package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/domain/hr"
)

// How much BenchmarkGateway does.
var (
	benchCalls = flag.Int("calls", 20_000, "calls of the long run of BenchmarkGateway, in which nothing may grow")
	benchSlice = flag.Duration("slice", 500*time.Millisecond, "how long BenchmarkGateway calls in one way before the next one")
	benchTurns = flag.Int("turns", 6, "slices of each way in BenchmarkGateway")
	benchAwake = flag.Bool("awake", false, "keep the processors from sleeping between the calls of BenchmarkGateway")
	benchOther = flag.String("other", "", "shell `command` of another gateway for BenchmarkGateway, which listens at 127.0.0.1:$PORT and passes POST /mcp on to $TARGET/mcp")
)

// lap is one way to make the same call.
type lap struct {
	name    string
	url     string
	body    string // @ is the call's number
	headers []string
	want    string   // a part of the answer; @ is the call's number
	through *process // between the client and the server; nil: nothing
	metrics string   // where that says what it has allocated

	took    []time.Duration
	cpu     time.Duration // of what is between
	wall    time.Duration
	mallocs float64 // of what is between
}

// BenchmarkGateway asks what a gateway with every policy costs a call, against a
// bare hop in front of the same server, in one run. Slices of each alternate, so
// that a busy machine is busy for all of them. Processes of their own: the HR
// server on PostgreSQL, an echo server, the gateway on Redis, a hop to each server, and
// this client. It prints tables for docs/performance.md. The flag -other adds another
// gateway, which is started in front of each server.
func BenchmarkGateway(b *testing.B) {
	if *benchAwake {
		stayAwake(b)
	}
	rig := newGatewayRig(b)
	held := []holding{rig.held(b, "started")}
	for _, server := range []string{"hr", "echo"} {
		laps := rig.laps(b, server)
		for _, clients := range []int{1, 8, 32} {
			alternate(b, laps, clients)
			printLaps(fmt.Sprintf("%s, %d clients", server, clients), laps)
		}
	}
	held = append(held, rig.held(b, "after these calls"))
	hr, echo := rig.laps(b, "hr")[3], rig.laps(b, "echo")[2]
	hr.manySessions(b, 1000)
	held = append(held, rig.held(b, "with 1,000 sessions more"))
	laps := rig.laps(b, "echo")
	alternate(b, laps, 32)
	printLaps("echo, 32 clients beside 1,000 sessions", laps)
	for range 4 {
		echo.many(b, 32, *benchCalls/4)
		held = append(held, rig.held(b, fmt.Sprintf("after %d calls more", *benchCalls/4)))
	}
	printHoldings(held)
	fmt.Print("\nWith another gateway in between: -other 'COMMAND', which listens at 127.0.0.1:$PORT and passes POST /mcp on to $TARGET/mcp. Each answer was checked to be the one to its call.\n")
	for b.Loop() { // the figures are those of the tables
	}
}

// stayAwake gives each processor something to do that gives way to all else (SCHED_IDLE).
// One that has nothing to do sleeps, and a call of a single client waits several times
// until one has woken up.
func stayAwake(b *testing.B) {
	for range runtime.NumCPU() {
		c := exec.Command("chrt", "--idle", "0", "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
}

// alternate calls in each way in turn, after a while that does not count.
func alternate(b *testing.B, laps []*lap, clients int) {
	for _, l := range laps {
		l.run(b, clients, min(200*time.Millisecond, *benchSlice)) // connections, caches
		l.took, l.cpu, l.wall, l.mallocs = nil, 0, 0, 0
	}
	for range *benchTurns {
		for _, l := range laps {
			l.run(b, clients, *benchSlice)
		}
	}
}

// gatewayRig is the processes of BenchmarkGateway.
type gatewayRig struct {
	gateway      *process
	url, metrics string // of the gateway
	token        string
	employee     string
	servers      map[string]string   // addresses
	hops         map[string]string   // by server
	between      map[string]*process // the hops
	others       map[string]string   // other gateways by server, of the flag
}

func newGatewayRig(b *testing.B) *gatewayRig {
	d, folder := sharedDemo(b), dataFolder(b)
	pg := privatePostgres(b, folder)
	gatewayPort, hrPort, echoPort, metricsPort := freePort(b), freePort(b), freePort(b), freePort(b)
	gatewayFile, path := writeConfigs(b, folder, map[string]string{
		"GATEWAY_PORT": gatewayPort, "HR_PORT": hrPort, "ISSUER": d.Issuer, "REDIS": redisServer(b, folder),
		"DATABASE": loginURL(b, pg, hr.Login), "ADMIN": pg.AdminURL("postgres"), "FOLDER": folder,
		"SERVERS": "  sales: {url: \"http://localhost:" + echoPort + "\"}", // the echo server, under a name that the gateway knows
		"MORE":    "limits: {requests_per_second: 1000000, mcp_sessions: 2000}",
	})
	appendTo(b, gatewayFile, "metrics: {listen: \"127.0.0.1:"+metricsPort+"\"}\n")
	for _, args := range [][]string{{"migrate", "--config", path}, {"seed", "--config", path}} {
		if out, code := runConfigured(b, auditOf(path, "check"), args...); code != 0 {
			b.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	r := &gatewayRig{
		url: "http://localhost:" + gatewayPort, metrics: "http://localhost:" + metricsPort, token: d.token(b, "alice.chen", "gateway"), employee: employee(b, "Marcus Johnson").ID,
		servers: map[string]string{"hr": "http://localhost:" + hrPort, "echo": "http://localhost:" + echoPort}, hops: map[string]string{}, between: map[string]*process{}, others: map[string]string{},
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	self = copied(b, self)
	r.listening(b, self, asEcho+"=echo_back", echoPort)
	file := installed(b)
	startFileUntil(b, file, func() bool { return isReady(r.servers["hr"] + "/ready") }, "serve", "hr", "--config", path)
	r.gateway = startFileUntil(b, file, func() bool { return isReady(r.url + "/readyz") }, "gateway", "--config", gatewayFile)
	for name, address := range r.servers {
		port := freePort(b)
		r.hops[name], r.between[name] = "http://localhost:"+port, r.listening(b, self, asHop+"="+address, port)
		if *benchOther != "" {
			r.others[name] = otherGateway(b, address)
		}
	}
	return r
}

// installed builds the program as people do. The test binary is another one: it has the
// tests' own dependencies, and the runtime keeps records for profiles of memory in it.
func installed(b *testing.B) (file string) {
	built := filepath.Join(b.TempDir(), "built")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return copied(b, built)
}

// copied copies a program as an installer does. What a linker has just written is in
// larger pieces in the kernel's cache: more of it counts as resident, and it runs faster.
func copied(b *testing.B, program string) (file string) {
	text, err := os.ReadFile(program)
	file = filepath.Join(b.TempDir(), "countersign")
	if err == nil {
		err = os.WriteFile(file, text, 0o700)
	}
	if err != nil {
		b.Fatal(err)
	}
	return file
}

// otherGateway starts the gateway of the flag in front of a server.
func otherGateway(b *testing.B, target string) (url string) {
	port := freePort(b)
	c := exec.Command("sh", "-c", "exec "+*benchOther)
	c.Env = append(os.Environ(), "PORT="+port, "TARGET="+target)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	awaitListener(b, port)
	return "http://127.0.0.1:" + port
}

// listening starts a process of the test binary, a file, and waits until it listens.
func (r *gatewayRig) listening(b *testing.B, file, as, port string) *process {
	p, err := startFile(file, []string{as}, "127.0.0.1:"+port)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.kill(b) })
	awaitListener(b, port)
	return p
}

func awaitListener(b *testing.B, port string) {
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "localhost:"+port); err == nil {
			_ = c.Close()
			return
		} else if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
}

func appendTo(b *testing.B, path, text string) {
	before, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(before, text...), 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// laps are the ways to call a server's tool.
func (r *gatewayRig) laps(b *testing.B, server string) []*lap {
	tool, args, want := "get_employee", `{"employee_id":"`+r.employee+`"}`, "marcus.j@"
	if server == "echo" {
		tool, args, want = "echo_back", `{"number":"call @","text":"`+strings.Repeat("some text ", 40)+`"}`, `"number":"call @"`
	}
	call := `{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `%s}}`
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	modern, sdk := fmt.Sprintf(call, `,"_meta":{`+meta+`}`), fmt.Sprintf(call, `,"_meta":{"progressToken":1,`+meta+`}`)
	headers := []string{"Authorization", "Bearer " + r.token, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
	session := []string{"Authorization", "Bearer " + r.token, "Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", begin(b, r.url, "Bearer "+r.token)}
	laps := []*lap{
		{name: "direct", url: r.servers[server], body: modern, headers: headers, want: want},
		{name: "bare hop", url: r.hops[server], body: modern, headers: headers, want: want, through: r.between[server], metrics: r.hops[server]},
		{name: "gateway, 2026-07-28", url: r.url, body: modern, headers: headers, want: want, through: r.gateway, metrics: r.metrics},
		{name: "gateway, 2025-11-25", url: r.url, body: fmt.Sprintf(call, ""), headers: session, want: want, through: r.gateway, metrics: r.metrics},
		{name: "gateway, the SDK on both sides", url: r.url, body: sdk, headers: headers, want: want, through: r.gateway, metrics: r.metrics},
	}
	if other := r.others[server]; other != "" {
		laps = append(laps, &lap{name: "another gateway", url: other, body: modern, headers: headers, want: want})
	}
	return laps
}

var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

var callIDs atomic.Int64

// run calls with some clients for a while and keeps what each call took.
func (l *lap) run(b *testing.B, clients int, length time.Duration) {
	var (
		mu      sync.Mutex
		group   sync.WaitGroup
		busy    = l.used(b)
		made    = l.allocated(b)
		start   = time.Now()
		stopped = start.Add(length)
	)
	for range clients {
		group.Go(func() {
			var took []time.Duration
			for now := time.Now(); now.Before(stopped); {
				if err := l.call(b.Context()); err != nil {
					b.Errorf("%s: %v", l.name, err)
					return
				}
				next := time.Now()
				took, now = append(took, next.Sub(now)), next
			}
			mu.Lock()
			defer mu.Unlock()
			l.took = append(l.took, took...)
		})
	}
	group.Wait()
	if b.Failed() {
		b.FailNow()
	}
	l.wall += time.Since(start)
	l.cpu += l.used(b) - busy
	l.mallocs += l.allocated(b) - made
}

// allocated counts the allocations of what is between.
func (l *lap) allocated(b *testing.B) float64 {
	if l.through == nil {
		return 0
	}
	return scraped(b, l.metrics)["go_memstats_mallocs_total"]
}

// many makes so many calls.
func (l *lap) many(b *testing.B, clients, calls int) {
	var left atomic.Int64
	left.Store(int64(calls))
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := l.call(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// call makes one call and checks that the answer is to it.
func (l *lap) call(ctx context.Context) error {
	number := strconv.FormatInt(callIDs.Add(1), 10)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/mcp", strings.NewReader(strings.ReplaceAll(l.body, "@", number)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(l.headers); i += 2 {
		req.Header.Set(l.headers[i], l.headers[i+1])
	}
	resp, err := benchClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	want := l.want
	if !strings.HasSuffix(want, "@") { // of an address
		want = strings.ReplaceAll(want, "@", number)
	}
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"id":`+number+`,`)) || !bytes.Contains(text, []byte(want))) {
		err = fmt.Errorf("%s, call %s: got %d %.300s", l.name, number, resp.StatusCode, text)
	}
	return err
}

// manySessions begins sessions, and makes a call in each by 32 clients at once.
func (l *lap) manySessions(b *testing.B, sessions int) {
	var group sync.WaitGroup
	turns := make(chan struct{}, sessions)
	for range sessions {
		turns <- struct{}{}
	}
	close(turns)
	for range 32 {
		group.Go(func() {
			for range turns {
				own := *l
				own.headers = append(slices.Clone(l.headers[:len(l.headers)-1]), begin(b, l.url, l.headers[1]))
				if err := own.call(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// begin begins a session of a handshake version.
func begin(b *testing.B, url, authorization string) (session string) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	got := send(b, "POST", url+"/mcp", "", hello, "Authorization", authorization, "Accept", "application/json, text/event-stream")
	return got.header.Get("Mcp-Session-Id")
}

// holding is what the gateway has at one time.
type holding struct {
	when                  string
	resident, anonymous   float64 // MiB
	descriptors, routines float64
	beginnings            float64 // of the gateway at the echo server
}

func (r *gatewayRig) held(b *testing.B, when string) holding {
	metrics := scraped(b, r.metrics)
	h := holding{when: when, descriptors: metrics["process_open_fds"], routines: metrics["go_goroutines"], beginnings: scraped(b, r.servers["echo"])["beginnings"]}
	h.resident, h.anonymous = resident(b, r.gateway)
	return h
}

func printHoldings(held []holding) {
	fmt.Print("\n| the gateway | MiB resident | of that not its program file | descriptors | goroutines | MCP sessions begun at the echo server |\n|---|---|---|---|---|---|\n")
	for _, h := range held {
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.0f | %.0f |\n", h.when, h.resident, h.anonymous, h.descriptors, h.routines, h.beginnings)
	}
}

// used is the CPU time of what is between the client and the server.
func (l *lap) used(b *testing.B) time.Duration {
	if l.through == nil {
		return 0
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.through.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	fields, ticks := strings.Fields(rest), 0
	for _, field := range fields[11:13] { // user and system time, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func (l *lap) percentile(p float64) time.Duration {
	slices.SortFunc(l.took, cmp.Compare[time.Duration])
	return l.took[min(len(l.took)-1, int(p*float64(len(l.took))))]
}

func printLaps(title string, laps []*lap) {
	direct, floor := laps[0], laps[1]
	rate := func(l *lap) float64 { return float64(len(l.took)) / l.wall.Seconds() }
	perCall := func(l *lap) float64 { return float64(l.cpu.Microseconds()) / float64(len(l.took)) }
	micros := func(l *lap, p float64) float64 { return float64(l.percentile(p).Microseconds()) }
	added := func(l *lap) float64 { return micros(l, 0.5) - micros(direct, 0.5) }
	fmt.Printf("\n| %s | calls/s | × hop | p50 µs | added | × hop | p99 µs | × hop | CPU between µs | × hop | allocations between |\n|%s\n", title, strings.Repeat("---|", 11))
	for _, l := range laps {
		fmt.Printf("| %s | %.0f | %.2f | %.0f | %.0f | %.2f | %.0f | %.2f | %.0f | %.2f | %.0f |\n", l.name, rate(l), rate(l)/rate(floor), micros(l, 0.5), added(l), added(l)/added(floor),
			micros(l, 0.99), micros(l, 0.99)/micros(floor, 0.99), perCall(l), perCall(l)/perCall(floor), l.mallocs/float64(len(l.took)))
	}
}
