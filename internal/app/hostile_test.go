package app

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/quota"
)

// hostileClients is how many there are at once, each a person of their own.
const hostileClients = 8

// settle is how long a load runs before it is measured: until every hostile client
// has used up the burst that its quota allows.
const settle = 4 * time.Second

// The question: how much slower is a person's call through the gateway while
// eight others send what they may, and more? They are in a process of their own:
// each asks without a pause but the one after a refusal, 20 ms at most. `bare` is
// the floor of each kind: the same process sends the same to a third one that
// refuses everything unread, so what is left of the difference is what the
// machine is kept busy with by the clients alone. Compare p95 of one run.
func BenchmarkHostileClients(b *testing.B) {
	var people []issuer.Person
	for i := range hostileClients {
		name := fmt.Sprint("hostile.", i)
		people = append(people, issuer.Person{Subject: name, Username: name, Name: name, Email: name + "@tamshai.local", Roles: []string{"employee", "hr-read"}})
	}
	x := newRig(b, quota.Limits{}, people...)
	tokens := make([]string, hostileClients)
	for i := range tokens {
		tokens[i] = x.token(b, fmt.Sprint("hostile.", i))
	}
	bare, stopBare := startBareServer(b)
	defer stopBare()
	b.Run("quiet", x.measure)
	for _, kind := range hostileKinds() {
		l := load{Clients: make([]client, hostileClients)}
		for i, token := range tokens {
			if kind.stranger {
				token = kind.token(token)
			}
			c := client{From: fmt.Sprint("127.0.1.", i+1), Slow: kind.slow, Conns: kind.conns, Request: rawRequest(cmp.Or(kind.method, "POST"), kind.path, token, kind.body)}
			if kind.fresh {
				c.Vary = token[len(token)-20:]
			}
			l.Clients[i] = c
		}
		for _, target := range []struct{ name, addr string }{{"", strings.TrimPrefix(x.gateway, "http://")}, {"/bare", bare}} {
			b.Run(kind.name+target.name, func(b *testing.B) {
				l.Addr = target.addr
				stop, began := startLoad(b, l), time.Now()
				<-time.After(settle)
				x.measure(b)
				answers, cpu := stop()
				for status, n := range answers {
					b.ReportMetric(float64(n)/time.Since(began).Seconds(), fmt.Sprint(status, "/s"))
				}
				b.ReportMetric(100*cpu.Seconds()/time.Since(began).Seconds()/float64(runtime.NumCPU()), "load-cpu-%")
			})
		}
	}
}

// hostileKind is what each hostile client sends.
type hostileKind struct {
	name, method, path, body string

	slow     slowness
	conns    int
	stranger bool // has no valid token
	fresh    bool // sends another one each time
}

func (k hostileKind) token(valid string) string {
	if k.fresh {
		return valid
	}
	return ""
}

func hostileKinds() []hostileKind {
	const list = "/api/mcp/hr/list_employees"
	return []hostileKind{
		{name: "flood", path: list, body: `{}`},
		{name: "big-body", path: list, body: `{"name":"` + strings.Repeat("x", 200<<10) + `"}`},
		{name: "unknown-keys", path: list, body: `{` + strings.TrimSuffix(manyKeys(10_000), ",") + `}`},
		{name: "questions", path: "/api/query", body: `{"query":"List all employees"}`},
		{name: "sessions", path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`},
		{name: "slow-bodies", path: list, body: `{"name":"` + strings.Repeat("x", 200<<10) + `"}`, slow: slowBody, conns: 50},
		{name: "slow-readers", path: list, body: `{}`, slow: slowReader, conns: 20},
		{name: "no-token", path: list, body: `{}`, stranger: true},
		{name: "forged-tokens", path: list, body: `{}`, stranger: true, fresh: true},
	}
}

// measure is the other person: ten employees every 25 ms, which is below their
// own quota.
func (x *rig) measure(b *testing.B) {
	paced := time.NewTicker(25 * time.Millisecond)
	defer paced.Stop()
	token, failed, times := x.token(b, "alice.chen"), 0, []time.Duration{}
	for b.Loop() {
		<-paced.C
		began := time.Now()
		if status, _ := x.send(b, "POST", "/api/mcp/hr/list_employees", token, `{"limit":10}`); status != http.StatusOK {
			failed++
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(times[len(times)*95/100].Seconds()*1000, "p95-ms")
	b.ReportMetric(float64(failed), "errors")
	b.ReportMetric(0, "ns/op") // the pace
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String()
}
