package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"countersign.dev/internal/testkit"
)

// TestReplicaDiesInMidAnswer runs two gateways behind a proxy that gives each
// request to the next one, as people run them. The gateway that answers a question
// is killed: its reader resumes at the other one, a second device that is connected
// there needs not even that, and both see the end.
func TestReplicaDiesInMidAnswer(t *testing.T) {
	t.Parallel()
	d, folder := sharedDemo(t), dataFolder(t)
	model := stallingModel(t)
	ports := []string{freePort(t), freePort(t)}
	first, _ := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": ports[0], "HR_PORT": freePort(t), "ISSUER": d.Issuer, "REDIS": redisServer(t, folder),
		"MORE": fmt.Sprintf("models: {stalling: {provider: openai, model: m, base_url: %q, api_key: k}}", model.URL),
	})
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dataFolder(t), "gateway.yaml")
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), "listen: 127.0.0.1:"+ports[0], "listen: 127.0.0.1:"+ports[1], 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var gateways []*process
	for i, file := range []string{first, other} {
		gateways = append(gateways, startConfigured(t, "http://localhost:"+ports[i]+"/readyz", "gateway", "--config", file))
	}
	balanced := httptest.NewServer(roundRobin(ports))
	defer balanced.Close()

	c := &chatClient{t: t, token: d.token(t, "alice.chen", "gateway")}
	c.dial(balanced.URL) // the first request, so the first gateway
	c.ask("hello")
	if got := c.until("end"); got != "Hello to you." {
		t.Fatalf("got %q", got)
	}
	watching := &chatClient{t: t, token: c.token, session: c.session, seq: c.seq}
	watching.dial("http://localhost:" + ports[1])
	c.ask("stall")
	for c.next().Payload.Content == "" {
	}
	killed := time.Now()
	gateways[0].kill(t)
	for c.dial(balanced.URL) != nil {
	}
	for name, reader := range map[string]*chatClient{"resumed": c, "watching": watching} {
		reader.until("error")
		if reader.last.Payload.Code != "SERVICE_UNAVAILABLE" || !strings.Contains(reader.last.Payload.Message, "interrupted") {
			t.Errorf("%s: got %+v, want to learn that the answer was interrupted", name, reader.last)
		}
		reader.until("end")
	}
	t.Logf("both readers saw the end %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	if got := turnNews(t, "http://localhost:"+ports[1], c.token, 4); got != "running ended running ended" {
		t.Errorf("the person's events: got %s, want that both turns have ended", got)
	}
	c.ask("hello")
	for name, reader := range map[string]*chatClient{"resumed": c, "watching": watching} {
		if got := reader.until("end"); got != "Hello to you." {
			t.Errorf("%s, afterwards: got %q", name, got)
		}
	}
}

// turnNews reads what a person's events say about their turns.
func turnNews(t *testing.T, gateway, token string, count int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, gateway+"/api/events?after=0-0", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := testkit.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var states []string
	for lines := bufio.NewScanner(resp.Body); len(states) < count && lines.Scan(); {
		var news struct{ Type, State string }
		data, _ := strings.CutPrefix(lines.Text(), "data: ")
		if json.Unmarshal([]byte(data), &news) == nil && news.Type == "turn" {
			states = append(states, news.State)
		}
	}
	return strings.Join(states, " ")
}

// roundRobin gives each request to the next of the ports.
func roundRobin(ports []string) http.Handler {
	var next atomic.Int64
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		port := ports[int(next.Add(1)-1)%len(ports)]
		r.SetURL(&url.URL{Scheme: "http", Host: "localhost:" + port})
	}}
}

// stallingModel speaks OpenAI's protocol. It greets, and stalls when asked to.
func stallingModel(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var asked struct{ Messages []struct{ Content any } }
		_ = json.Unmarshal(raw, &asked)
		w.Header().Set("Content-Type", "text/event-stream")
		piece := func(text, finish string) {
			fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", text, finish)
			_ = http.NewResponseController(w).Flush()
		}
		if len(asked.Messages) > 0 && strings.Contains(fmt.Sprint(asked.Messages[len(asked.Messages)-1].Content), "stall") {
			piece("One moment, "+strings.Repeat("please, ", 100), "null")
			<-r.Context().Done()
			return
		}
		piece("Hello to you.", "null")
		piece("", `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// chatClient is a client of /ws that resumes.
type chatClient struct {
	t       *testing.T
	ws      *websocket.Conn
	ctx     context.Context
	token   string
	session string
	seq     int64
	last    chatFrame
}

type chatFrame struct {
	Type    string
	Seq     int64
	Payload struct{ SessionID, State, Content, Source, Code, Message string }
}

// dial connects, or resumes where the client has been.
func (c *chatClient) dial(gateway string) error {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), testkit.Patience)
	c.t.Cleanup(cancel)
	address := gateway + "/ws"
	if c.session != "" {
		address += fmt.Sprintf("?sessionId=%s&after=%d", c.session, c.seq)
	}
	ws, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token}}}) //nolint:bodyclose // Dial replaces the body
	if err != nil {
		if c.ws == nil || ctx.Err() != nil {
			c.t.Fatal(err)
		}
		return err
	}
	c.t.Cleanup(func() { _ = ws.CloseNow() })
	c.ws, c.ctx = ws, ctx
	c.ws.SetReadLimit(1 << 20)
	c.session = c.next().Payload.SessionID
	return nil
}

func (c *chatClient) next() chatFrame {
	c.t.Helper()
	_, body, err := c.ws.Read(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	c.last = chatFrame{}
	if err := json.Unmarshal(body, &c.last); err != nil {
		c.t.Fatal(err)
	}
	c.seq = max(c.seq, c.last.Seq)
	return c.last
}

// until reads up to a type, and returns the model's text.
func (c *chatClient) until(kind string) string {
	c.t.Helper()
	var text strings.Builder
	for {
		f := c.next()
		if f.Payload.Source == "" {
			text.WriteString(f.Payload.Content)
		}
		if f.Type == kind {
			return text.String()
		}
	}
}

func (c *chatClient) ask(text string) {
	c.t.Helper()
	if err := c.ws.Write(c.ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"message","payload":{"text":%q}}`, text)); err != nil {
		c.t.Fatal(err)
	}
}
