package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
)

// What 500 streams at once are made of: each has so many deltas, so far apart, and
// each delta is the time at which it was made.
const (
	streamsAtOnce  = 500
	deltasOfStream = 40
	betweenDeltas  = 100 * time.Millisecond
)

// stamps writes the time, as the words of a model would come.
func stamps(ctx context.Context, write func(text string) bool) {
	tick := time.NewTicker(betweenDeltas)
	defer tick.Stop()
	for range deltasOfStream {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !write("@" + strconv.FormatInt(time.Now().UnixNano(), 10) + " ") {
			return
		}
	}
}

// delays reads a stream to its end, and returns how long each delta was on its way.
func delays(body io.Reader) (all []time.Duration) {
	for scan := bufio.NewScanner(body); scan.Scan(); {
		now, line := time.Now(), scan.Text()
		for {
			_, rest, found := strings.Cut(line, "@")
			if !found {
				break
			}
			stamp, after, _ := strings.Cut(rest, " ")
			if at, err := strconv.ParseInt(stamp, 10, 64); err == nil {
				all = append(all, now.Sub(time.Unix(0, at)))
			}
			line = after
		}
		if line == "data: [DONE]" {
			return all
		}
	}
	return all
}

// The question: how long is a delta on its way while 500 people's answers stream at
// once? `floor` is a handler that writes each as a server-sent event. The clients are
// in this process, so their work is in both. And how often is a log read for each event
// that was written to it?
func BenchmarkStreamsAtOnce(b *testing.B) {
	redis := testkit.StartRedis(b).URL()
	r := rigAt(b, redis, limited(quota.Limits{Streams: streamsAtOnce, Turns: streamsAtOnce, Requests: 1_000_000, Conversations: 1_000_000}))
	r.model.script["stamp"] = []step{func(ctx context.Context, _ *model, yield func(agent.Delta, error) bool) {
		stamps(ctx, func(text string) bool { return yield(agent.Delta{Text: text}, nil) })
		yield(agent.Delta{Stop: agent.StopEnd}, nil)
	}}
	floor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		stamps(r.Context(), func(text string) bool {
			_, err := fmt.Fprintf(w, "data: %s\n\n", text)
			http.NewResponseController(w).Flush() //nolint:errcheck // the write tells
			return err == nil
		})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer floor.Close()
	for name, ask := range map[string]func(int) *http.Response{
		"floor": func(int) *http.Response {
			resp, err := http.Get(floor.URL)
			if err != nil {
				b.Fatal(err)
			}
			return resp
		},
		"gateway": func(i int) *http.Response {
			return r.send("POST", "/api/query", fmt.Sprintf("p%d:employee", i), askBody("stamp", ""))
		},
	} {
		b.Run(name, func(b *testing.B) {
			reads, events := commandsOf(b, redis)
			for range b.N {
				reportDelays(b, ask)
			}
			if r, e := commandsOf(b, redis); e > events {
				b.ReportMetric(float64(r-reads)/float64(e-events), "reads/event")
			}
		})
	}
}

// commandsOf returns how often Redis has read logs, and added events to them.
func commandsOf(b *testing.B, address string) (reads, adds int64) {
	b.Helper()
	c, err := net.Dial("unix", strings.TrimPrefix(address, "unix://"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "INFO commandstats\r\nQUIT\r\n")
	stats, err := io.ReadAll(c)
	if err != nil {
		b.Fatal(err)
	}
	for command, calls := range map[string]*int64{"xrange": &reads, "xadd": &adds} {
		_, rest, _ := strings.Cut(string(stats), "cmdstat_"+command+":calls=")
		number, _, _ := strings.Cut(rest, ",")
		*calls, _ = strconv.ParseInt(number, 10, 64) // none yet
	}
	return reads, adds
}

func reportDelays(b *testing.B, ask func(int) *http.Response) {
	var mu sync.Mutex
	var all []time.Duration
	var streams sync.WaitGroup
	for i := range streamsAtOnce {
		streams.Go(func() {
			resp := ask(i)
			defer resp.Body.Close()
			seen := delays(resp.Body)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, seen...)
		})
	}
	streams.Wait()
	if len(all) != streamsAtOnce*deltasOfStream {
		b.Fatalf("%d deltas arrived of %d", len(all), streamsAtOnce*deltasOfStream)
	}
	slices.Sort(all)
	ms := func(part float64) float64 {
		return float64(all[int(float64(len(all)-1)*part)].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "ms-p50")
	b.ReportMetric(ms(0.95), "ms-p95")
	b.ReportMetric(ms(0.99), "ms-p99")
}

// The question: how many bytes are on the wire for an answer of 10,000 tokens, of
// those of its text? `floor` is one event for each token, as a vendor sends them.
func BenchmarkWireBytes(b *testing.B) {
	r := rigAt(b, testkit.StartRedis(b).URL())
	tokens := strings.SplitAfter(strings.Repeat("word ", 10_000), " ")
	tokens = tokens[:10_000]
	r.model.script["much"] = []step{func(ctx context.Context, _ *model, yield func(agent.Delta, error) bool) {
		for i, token := range tokens {
			if i%100 == 99 { // a fast model: 10,000 tokens a second
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					return
				}
			}
			if !yield(agent.Delta{Text: token}, nil) {
				return
			}
		}
		yield(agent.Delta{Stop: agent.StopEnd}, nil)
	}}
	text, floor := 0, 0
	for i, token := range tokens {
		text += len(token)
		floor += len(fmt.Sprintf("id: %d-0\ndata: {\"type\":\"text\",\"text\":%q}\n\n", i, token))
	}
	for b.Loop() {
		_, body := r.read(r.send("POST", "/api/query", alice, askBody("much", "")))
		b.ReportMetric(float64(len(body))/float64(text), "gateway-bytes/text")
		s := r.connect(alice, "", "connected")
		s.ask("much")
		frames := 0
		for kind := ""; kind != "end"; {
			_, frame, err := s.ws.Read(s.ctx)
			if err != nil {
				b.Fatal(err)
			}
			frames += len(frame) + 4 // its header
			kind = map[bool]string{true: "end"}[strings.HasPrefix(string(frame), `{"type":"end"`)]
		}
		b.ReportMetric(float64(frames)/float64(text), "ws-bytes/text")
	}
	b.ReportMetric(float64(floor)/float64(text), "floor-bytes/text")
}

// disconnects is how often the clients of the benchmark lose their connection.
const disconnects = 10_000

// The question: is anything lost or repeated over 10,000 random disconnects, on two
// replicas? A checker compares what was seen with what was sent.
func BenchmarkDisconnects(b *testing.B) {
	address, wide := testkit.StartRedis(b).URL(), limited(quota.Limits{Streams: 1000, Turns: 1000, Requests: 1_000_000, Conversations: 1_000_000})
	replicas := []*rig{rigAt(b, address, wide), rigAt(b, address, wide)}
	pieces := make([]string, 100)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%03d", i) + strings.Repeat(" word", 60)
	}
	for _, r := range replicas {
		r.model.script["count"] = []step{says(pieces...)}
	}
	for b.Loop() {
		began, lost := time.Now(), 0
		for round := uint64(0); lost < disconnects; round++ {
			lost += disconnected(b, replicas, rand.New(rand.NewPCG(3, round)), strings.Join(pieces, ""))
		}
		b.ReportMetric(float64(lost), "disconnects")
		b.ReportMetric(time.Since(began).Seconds()*1000/float64(lost), "ms/disconnect")
	}
}

// disconnected follows one answer over connections that end at random, and returns how
// many ended.
func disconnected(b *testing.B, replicas []*rig, random *rand.Rand, want string) (lost int) {
	b.Helper()
	token := fmt.Sprintf("p%d:employee", random.IntN(1000))
	s := replicas[random.IntN(2)].connect(token, "", "connected")
	s.ask("count")
	frames := []frame{s.next()}
	for frames[len(frames)-1].Type != "end" {
		if random.IntN(2) == 0 {
			_ = s.ws.CloseNow()
			lost++
			last := s.last
			s = replicas[random.IntN(2)].connect(token, fmt.Sprintf("?sessionId=%s&after=%d", s.id, last), "reconnected")
			s.last = last
		}
		frames = append(frames, s.next())
	}
	_ = s.ws.CloseNow()
	if got := contentIn(frames); got != want {
		b.Fatalf("got %d bytes of text, want the %d that were sent, once and in order", len(got), len(want))
	}
	return lost
}
