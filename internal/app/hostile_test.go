package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/quota"
)

// The question: how much slower is a person's call through the gateway while
// eight others send what they may, and more? Each hostile client is a person of
// their own and asks without a pause but the one that a refusal advises, which is
// cut to 20 ms. Compare p95 of quiet and hostile in one run.
func BenchmarkHostileClients(b *testing.B) {
	const clients = 8
	var people []issuer.Person
	for i := range clients {
		name := fmt.Sprint("hostile.", i)
		people = append(people, issuer.Person{Subject: name, Username: name, Name: name, Email: name + "@tamshai.local", Roles: []string{"employee", "hr-read"}})
	}
	x := newRig(b, quota.Limits{}, people...)
	paced := time.NewTicker(25 * time.Millisecond) // below the person's own quota
	defer paced.Stop()
	measure := func(b *testing.B) {
		token, refused, times := x.token(b, "alice.chen"), 0, []time.Duration{}
		for b.Loop() {
			<-paced.C
			began := time.Now()
			if status, _ := x.send(b, "POST", "/api/mcp/hr/list_employees", token, `{"limit":10}`); status != http.StatusOK {
				refused++
			}
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2].Seconds()*1000, "p50-ms")
		b.ReportMetric(times[len(times)*95/100].Seconds()*1000, "p95-ms")
		b.ReportMetric(float64(refused), "errors")
	}
	b.Run("quiet", measure)
	for _, kind := range []struct{ name, method, path, body string }{
		{"flood", "POST", "/api/mcp/hr/list_employees", `{}`},
		{"big-body", "POST", "/api/mcp/hr/list_employees", `{"name":"` + strings.Repeat("x", 200<<10) + `"}`},
		{"unknown-keys", "POST", "/api/mcp/hr/list_employees", `{` + strings.TrimSuffix(manyKeys(10_000), ",") + `}`},
		{"questions", "POST", "/api/query", `{"query":"List all employees"}`},
		{"sessions", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`},
	} {
		b.Run(kind.name, func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var group sync.WaitGroup
			for i := range clients {
				token := x.token(b, fmt.Sprint("hostile.", i))
				group.Go(func() { x.attack(ctx, kind.method, kind.path, token, kind.body) })
			}
			defer group.Wait()
			defer stop()
			measure(b)
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String()
}

// attack sends one request after the other until ctx ends.
func (x *rig) attack(ctx context.Context, method, path, token, body string) {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, method, x.gateway+path, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusTooManyRequests {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}
