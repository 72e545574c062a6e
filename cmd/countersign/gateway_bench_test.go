package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/domain/hr"
)

// asHop makes the test binary a bare hop to the address that it names: net/http in,
// http.Transport out, no protocol and no policy. It is the floor of a gateway.
const asHop = "COUNTERSIGN_TEST_AS_HOP"

func hop(listen, target string) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	s := &http.Server{Addr: listen, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.Path, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		out.Header, out.ContentLength = r.Header, r.ContentLength
		resp, err := transport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	})}
	return s.ListenAndServe()
}

// lap is one way to make the same call.
type lap struct {
	name    string
	url     string
	body    string
	headers []string
	through *process // between the client and the server; nil: nothing

	took []time.Duration
	cpu  time.Duration // of what is between
	wall time.Duration
}

// BenchmarkGateway asks what a gateway with every policy costs a call, against a
// bare hop in front of the same server, in one run. Slices of each alternate, so
// that a busy machine is busy for all of them. Processes of their own: the HR
// server on PostgreSQL, the gateway on Redis, the hop, and this client.
func BenchmarkGateway(b *testing.B) {
	laps := gatewayLaps(b)
	for _, clients := range []int{1, 8, 32} {
		for i := range laps {
			laps[i].took, laps[i].cpu, laps[i].wall = nil, 0, 0
			laps[i].run(b, clients, 200*time.Millisecond) // connections, caches
			laps[i].took, laps[i].cpu, laps[i].wall = nil, 0, 0
		}
		for range 6 {
			for i := range laps {
				laps[i].run(b, clients, 500*time.Millisecond)
			}
		}
		printLaps(clients, laps)
	}
	before := held(b, laps[3].through)
	laps[3].manySessions(b, 1000)
	fmt.Printf("\nthe gateway before, and after calls in 1,000 sessions: %s, %s\n", before, held(b, laps[3].through))
	for b.Loop() { // the figures are those of the table
	}
}

func gatewayLaps(b *testing.B) []*lap {
	d, folder := sharedDemo(b), dataFolder(b)
	pg := privatePostgres(b, folder)
	gatewayPort, hrPort, hopPort := freePort(b), freePort(b), freePort(b)
	gatewayFile, path := writeConfigs(b, folder, map[string]string{
		"GATEWAY_PORT": gatewayPort, "HR_PORT": hrPort, "ISSUER": d.Issuer, "REDIS": redisServer(b, folder),
		"DATABASE": loginURL(b, pg, hr.Login), "ADMIN": pg.AdminURL("postgres"), "FOLDER": folder,
		"MORE": "limits: {requests_per_second: 1000000, mcp_sessions: 2000}",
	})
	for _, args := range [][]string{{"migrate", "--config", path}, {"seed", "--config", path}} {
		if out, code := runConfigured(b, auditOf(path, "check"), args...); code != 0 {
			b.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	server, gatewayURL := "http://localhost:"+hrPort, "http://localhost:"+gatewayPort
	startConfigured(b, server+"/ready", "serve", "hr", "--config", path)
	gateway := startConfigured(b, gatewayURL+"/readyz", "gateway", "--config", gatewayFile)
	floor, err := startProcess([]string{asHop + "=" + server}, "127.0.0.1:"+hopPort)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { floor.kill(b) })
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "localhost:"+hopPort); err == nil {
			_ = c.Close()
			break
		} else if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
	call := `{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"get_employee","arguments":{"employee_id":"` + employee(b, "Marcus Johnson").ID + `"}%s}}`
	meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	modern, sdk := fmt.Sprintf(call, `,"_meta":{`+meta+`}`), fmt.Sprintf(call, `,"_meta":{"progressToken":1,`+meta+`}`)
	token := d.token(b, "alice.chen", "gateway")
	headers := func() []string {
		return []string{"Authorization", "Bearer " + token, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "get_employee"}
	}
	session := append(headers()[:2], "Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", begin(b, gatewayURL, "Bearer "+token))
	return []*lap{
		{name: "direct", url: server, body: modern, headers: headers()},
		{name: "bare hop", url: "http://localhost:" + hopPort, body: modern, headers: headers(), through: floor},
		{name: "gateway, 2026-07-28", url: gatewayURL, body: modern, headers: headers(), through: gateway},
		{name: "gateway, 2025-11-25", url: gatewayURL, body: fmt.Sprintf(call, ""), headers: session, through: gateway},
		{name: "gateway, by the SDK (progress)", url: gatewayURL, body: sdk, headers: headers(), through: gateway},
	}
}

var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

var callIDs atomic.Int64

// run calls with some clients for a while and keeps what each call took.
func (l *lap) run(b *testing.B, clients int, length time.Duration) {
	var (
		mu      sync.Mutex
		group   sync.WaitGroup
		busy    = l.used(b)
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
}

// call makes one call and checks that the answer is to it.
func (l *lap) call(ctx context.Context) error {
	id := fmt.Sprintf(`"id":%d,`, callIDs.Add(1))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/mcp", strings.NewReader(strings.Replace(l.body, `"id":ID,`, id, 1)))
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
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(id)) || !bytes.Contains(text, []byte("marcus.j@"))) {
		err = fmt.Errorf("got %d %.300s", resp.StatusCode, text)
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

// held says what memory and descriptors a process has.
func held(b *testing.B, p *process) string {
	folder := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	status, err := os.ReadFile(folder + "status")
	if err != nil {
		b.Fatal(err)
	}
	open, err := os.ReadDir(folder + "fd")
	if err != nil {
		b.Fatal(err)
	}
	_, rss, _ := strings.Cut(string(status), "VmRSS:")
	rss, _, _ = strings.Cut(rss, "\n")
	return fmt.Sprintf("%s resident and %d descriptors", strings.TrimSpace(rss), len(open))
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

func printLaps(clients int, laps []*lap) {
	direct, floor := laps[0], laps[1]
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	rate := func(l *lap) float64 { return float64(len(l.took)) / l.wall.Seconds() }
	perCall := func(l *lap) float64 { return float64(l.cpu.Microseconds()) / float64(len(l.took)) }
	added := func(l *lap) float64 { return float64((l.percentile(0.5) - direct.percentile(0.5)).Microseconds()) }
	_, _ = fmt.Fprintf(w, "\n%d clients\tcalls/s\t× hop\tp50 µs\tadded\t× hop\tp99 µs\t× hop\tCPU µs between\t× hop\t\n", clients)
	for _, l := range laps {
		_, _ = fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%d\t%.0f\t%.2f\t%d\t%.2f\t%.0f\t%.2f\t\n", l.name, rate(l), rate(l)/rate(floor),
			l.percentile(0.5).Microseconds(), added(l), added(l)/added(floor), l.percentile(0.99).Microseconds(),
			float64(l.percentile(0.99))/float64(floor.percentile(0.99)), perCall(l), perCall(l)/perCall(floor))
	}
	_ = w.Flush()
}
