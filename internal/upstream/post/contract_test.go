package post_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
	"countersign.dev/internal/upstream/post"
)

const most = 1 << 20 // bytes of an answer

// everySender runs a test with both implementations.
func everySender(t *testing.T, test func(t *testing.T, to func(base string) post.Sender)) {
	t.Run("client", func(t *testing.T) {
		test(t, func(base string) post.Sender { return client(t, base) })
	})
	t.Run("transport", func(t *testing.T) {
		test(t, func(base string) post.Sender {
			transport := http.DefaultTransport.(*http.Transport).Clone()
			transport.MaxResponseHeaderBytes = 64 << 10
			t.Cleanup(transport.CloseIdleConnections)
			return post.Transport{Base: base, HTTP: transport, MaxAnswer: most}
		})
	})
}

func client(t testing.TB, base string, change ...func(*post.Options)) *post.Client {
	t.Helper()
	o := post.Options{MaxAnswer: most, Timeout: time.Hour} // longer than a test waits
	for _, c := range change {
		c(&o)
	}
	c, err := post.NewClient(base, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// script is a server on a bare socket. It reads whole requests, and counts them.
type script struct {
	url                   string
	connections, requests atomic.Int64
}

// raw starts a server that answers each request by a function; false ends the
// connection.
func raw(t testing.TB, answer func(w io.Writer, body string) bool) *script {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{url: "http://" + l.Addr().String()}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			open.Go(func() { s.serve(c, answer) })
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return s
}

func (s *script) serve(c net.Conn, answer func(w io.Writer, body string) bool) {
	defer func() { _ = c.Close() }()
	for in := bufio.NewReader(c); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.requests.Add(1)
		if !answer(c, string(body)) {
			return
		}
	}
}

// says answers with bytes as they are, whatever the request.
func says(text string, keep bool) func(io.Writer, string) bool {
	return func(w io.Writer, _ string) bool {
		_, err := io.WriteString(w, text)
		return keep && err == nil
	}
}

func plain(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func echoed(w io.Writer, body string) bool {
	_, err := io.WriteString(w, plain(body))
	return err == nil
}

var common = post.NewHeader(post.Field{Name: "Content-Type", Value: "application/json"})

func request(body string) post.Request {
	return post.Request{Path: "/mcp", Common: common, Fields: []post.Field{{Name: "Mcp-Name", Value: "a b"}}, Body: []byte(body)}
}

func TestRequestArrivesAndItsAnswerIsRead(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		for _, flush := range []bool{false, true} { // with a length, and in chunks
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.WriteHeader(http.StatusAccepted)
				if flush {
					_, _ = io.WriteString(w, "x")
					w.(http.Flusher).Flush()
				}
				_, _ = fmt.Fprintf(w, "%s %s %s %d %q %q %v", r.Method, r.URL.Path, r.Host, r.ContentLength, r.Header["Mcp-Name"], body, err)
			}))
			defer server.Close()
			got, err := to(server.URL).Send(t.Context(), request(`{"ö":1}`))
			want := `POST /mcp ` + strings.TrimPrefix(server.URL, "http://") + ` 8 ["a b"] "{\"ö\":1}" <nil>`
			if flush {
				want = "x" + want
			}
			if err != nil || got.Status != 202 || got.Type != "application/json; charset=utf-8" || string(got.Body) != want {
				t.Errorf("got %d %s %s (%v), want 202 %s", got.Status, got.Type, got.Body, err, want)
			}
		}
	})
}

func TestConnectionIsUsedAgain(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		s := raw(t, echoed)
		sender := to(s.url)
		for i := range 20 {
			if got, err := sender.Send(t.Context(), request(strconv.Itoa(i))); err != nil || string(got.Body) != strconv.Itoa(i) {
				t.Fatalf("call %d: got %q (%v)", i, got.Body, err)
			}
		}
		if n := s.connections.Load(); n != 1 {
			t.Errorf("got %d connections for 20 requests in turn, want 1", n)
		}
	})
}

// TestEachCallHasItsOwnAnswer: many at once, none has the answer to another.
func TestEachCallHasItsOwnAnswer(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		s := raw(t, echoed)
		sender := to(s.url)
		var calls sync.WaitGroup
		for who := range 16 {
			calls.Go(func() {
				for i := range 50 {
					body := strings.Repeat(fmt.Sprint(who, "-", i, " "), i*20)
					if got, err := sender.Send(t.Context(), request(body)); err != nil || string(got.Body) != body {
						t.Errorf("call %d of %d: got %.40q (%v)", i, who, got.Body, err)
						return
					}
				}
			})
		}
		calls.Wait()
	})
}

// TestSentRequestIsNotSentAgain: a server that ends the connection in the middle of
// an exchange has received the request once, on a new connection and on a used one.
func TestSentRequestIsNotSentAgain(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		for _, before := range []int{0, 1} {
			s := raw(t, func(w io.Writer, body string) bool { return body != "last" && echoed(w, body) })
			sender := to(s.url)
			for range before {
				if _, err := sender.Send(t.Context(), request("first")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := sender.Send(t.Context(), request("last"))
			if n := s.requests.Load(); err == nil || errors.Is(err, post.ErrNotSent) || n != int64(before+1) {
				t.Errorf("after %d: got %v with %d requests received, want an error that says nothing of not being sent, and one request more", before, err, n)
			}
		}
	})
}

// TestNothingIsSentTwiceOnDyingConnections: whenever a server ends a connection after
// an answer, each request reaches it once at most.
func TestNothingIsSentTwiceOnDyingConnections(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		var seen sync.Map
		s := raw(t, func(w io.Writer, body string) bool {
			if _, again := seen.LoadOrStore(body, true); again {
				t.Errorf("%q came twice", body)
			}
			echoed(w, body)
			return false
		})
		sender, answered := to(s.url), 0
		for i := range 50 {
			if got, err := sender.Send(t.Context(), request(strconv.Itoa(i))); err == nil {
				answered++
				if string(got.Body) != strconv.Itoa(i) {
					t.Errorf("call %d: got %s", i, got.Body)
				}
			}
		}
		if answered == 0 {
			t.Error("no call was answered")
		}
	})
}

func TestRequestThatCannotBeSentIsNotSent(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		s := raw(t, echoed)
		sender := to(s.url)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sender.Send(cancelled, request("x")); !errors.Is(err, post.ErrNotSent) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: got %v", err)
		}
		if _, err := to("http://127.0.0.1:1").Send(t.Context(), request("x")); !errors.Is(err, post.ErrNotSent) || strings.ContainsRune(err.Error(), '\n') || strings.Contains(err.Error(), "not sent") {
			t.Errorf("nothing listens: got %v, want the cause alone in one line", err)
		}
		for name, bad := range map[string]post.Request{
			"a header in a value":     {Path: "/mcp", Fields: []post.Field{{Name: "Mcp-Name", Value: "x\r\nAuthorization: Bearer y"}}},
			"a line feed in a value":  {Path: "/mcp", Fields: []post.Field{{Name: "Mcp-Name", Value: "x\ny"}}},
			"zero in a value":         {Path: "/mcp", Fields: []post.Field{{Name: "Mcp-Name", Value: "x\x00"}}},
			"a header in a name":      {Path: "/mcp", Fields: []post.Field{{Name: "A: b\r\nC", Value: "x"}}},
			"no name":                 {Path: "/mcp", Fields: []post.Field{{Name: "", Value: "x"}}},
			"a space in a name":       {Path: "/mcp", Fields: []post.Field{{Name: "A ", Value: "x"}}},
			"a request in the path":   {Path: "/mcp HTTP/1.1\r\nHost: x\r\n\r\n"},
			"a path without a slash":  {Path: "mcp"},
			"a fragment in the path":  {Path: "/mcp#x"},
			"a tab in the path":       {Path: "/mc\tp"},
			"not ASCII in the path":   {Path: "/mcp/ö"},
			"a delete in a value":     {Path: "/mcp", Fields: []post.Field{{Name: "A", Value: "\x7f"}}},
			"a colon at a name's end": {Path: "/mcp", Fields: []post.Field{{Name: "A:", Value: "x"}}},
			"another length":          {Path: "/mcp", Fields: []post.Field{{Name: "content-length", Value: "0"}}},
			"an encoding":             {Path: "/mcp", Fields: []post.Field{{Name: "Transfer-Encoding", Value: "chunked"}}},
			"another host":            {Path: "/mcp", Fields: []post.Field{{Name: "Host", Value: "x"}}},
			"another token":           {Path: "/mcp", Fields: []post.Field{{Name: "Authorization", Value: "Bearer x"}}},
			"an answer before it":     {Path: "/mcp", Fields: []post.Field{{Name: "Expect", Value: "100-continue"}}},
		} {
			if _, err := sender.Send(t.Context(), bad); !errors.Is(err, post.ErrNotSent) {
				t.Errorf("%s: got %v, want ErrNotSent", name, err)
			}
			if len(bad.Fields) == 0 {
				continue
			}
			if _, err := sender.Send(t.Context(), post.Request{Path: "/mcp", Common: post.NewHeader(bad.Fields...)}); !errors.Is(err, post.ErrNotSent) {
				t.Errorf("%s, in the common header: got %v, want ErrNotSent", name, err)
			}
		}
		if n := s.requests.Load(); n != 0 {
			t.Errorf("the server received %d requests", n)
		}
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		if _, err := to(gone.URL).Send(t.Context(), request("x")); !errors.Is(err, post.ErrNotSent) {
			t.Errorf("nothing listens: got %v, want ErrNotSent", err)
		}
	})
}

// TestBrokenAnswersAreErrors: none of them is an answer, and none says that the
// request was not sent.
func TestBrokenAnswersAreErrors(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		for name, text := range map[string]string{
			"nothing":                 "",
			"half of the status":      "HTTP/1.",
			"no HTTP":                 "SSH-2.0-OpenSSH\r\n\r\n",
			"no status":               "HTTP/1.1 OK\r\n\r\n",
			"half of the header":      head + "Content-Le",
			"half of the body":        head + "Content-Length: 10\r\n\r\n{\"a\":",
			"no body":                 head + "Content-Length: 10\r\n\r\n",
			"a negative length":       head + "Content-Length: -1\r\n\r\n{}",
			"a length in words":       head + "Content-Length: two\r\n\r\n{}",
			"two lengths":             head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
			"a list of lengths":       head + "Content-Length: 2, 3\r\n\r\n{}x",
			"an encoding of the body": head + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"half of a chunk":         head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
			"no last chunk":           head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
			"a chunk that is longer":  head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
			"a chunk without size":    head + "Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n",
			"a negative chunk":        head + "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
			"an endless chunk size":   head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 8<<10) + "2\r\n{}\r\n0\r\n\r\n",
			"a header without end":    "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\nContent-Length: 2\r\n\r\n{}",
			"headers without end":     "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: x\r\n", 20<<10) + "Content-Length: 2\r\n\r\n{}",
		} {
			s := raw(t, says(text, false))
			got, err := to(s.url).Send(t.Context(), request("x"))
			if err == nil || errors.Is(err, post.ErrNotSent) {
				t.Errorf("%s: got %d %q (%v), want an error after which the server may have acted", name, got.Status, got.Body, err)
			}
			if n := s.requests.Load(); n != 1 {
				t.Errorf("%s: %d requests, want 1", name, n)
			}
		}
	})
}

func TestAnswerIsBounded(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		for _, chunked := range []bool{false, true} {
			for size, fits := range map[int]bool{most: true, most + 1: false, 3 * most: false} {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if !chunked {
						w.Header().Set("Content-Length", strconv.Itoa(size))
					}
					_, _ = w.Write(make([]byte, size))
				}))
				got, err := to(server.URL).Send(t.Context(), request("x"))
				if fits && (err != nil || len(got.Body) != size) || !fits && (!errors.Is(err, post.ErrTooLarge) || errors.Is(err, post.ErrNotSent)) {
					t.Errorf("%d bytes, chunked %t: got %d (%v)", size, chunked, len(got.Body), err)
				}
				server.Close()
			}
		}
	})
}

// ends sends a request that has to end by itself, and returns its error.
func ends(t *testing.T, ctx context.Context, sender post.Sender, r post.Request) error {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		_, err := sender.Send(ctx, r)
		failed <- err
	}()
	select {
	case err := <-failed:
		return err
	case <-time.After(testkit.Patience):
		t.Fatal("the request does not end")
		return nil
	}
}

// TestCallEndsWithItsContext: at its deadline and when it is cancelled, before the
// answer and in the middle of it. Its connection is not used again.
func TestCallEndsWithItsContext(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		for name, begin := range map[string]string{"before": "", "in the header": "HTTP/1.1 200 OK\r\n", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"} {
			received := make(chan struct{}, 1)
			held := make(chan struct{})
			t.Cleanup(func() { close(held) })
			s := raw(t, func(w io.Writer, body string) bool {
				if body == "quick" {
					return echoed(w, body)
				}
				_, _ = io.WriteString(w, begin)
				received <- struct{}{}
				<-held
				return false
			})
			sender := to(s.url)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-received; cancel() }()
			if err := ends(t, ctx, sender, request("slow")); !errors.Is(err, context.Canceled) || errors.Is(err, post.ErrNotSent) {
				t.Errorf("cancelled %s: got %v", name, err)
			}
			late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := ends(t, late, sender, request("slow")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("late %s: got %v", name, err)
			}
			cancel()
			brief := request("slow")
			brief.Until = time.Now().Add(time.Millisecond)
			if err := ends(t, t.Context(), sender, brief); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("over its own deadline %s: got %v", name, err)
			}
			if got, err := sender.Send(t.Context(), request("quick")); err != nil || string(got.Body) != "quick" {
				t.Errorf("after %s: got %q (%v)", name, got.Body, err)
			}
		}
	})
}

// TestAbortEndsWhatIsInFlight: at once, not as a server's fault of time, and nothing is
// sent afterwards.
func TestAbortEndsWhatIsInFlight(t *testing.T) {
	received, held := make(chan struct{}), make(chan struct{})
	defer close(held)
	s := raw(t, func(io.Writer, string) bool {
		received <- struct{}{}
		<-held
		return false
	})
	c := client(t, s.url)
	go func() {
		<-received
		c.Abort()
	}()
	if err := ends(t, t.Context(), c, request("slow")); err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, post.ErrNotSent) {
		t.Errorf("in flight: got %v", err)
	}
	if _, err := c.Send(t.Context(), request("later")); !errors.Is(err, post.ErrNotSent) || s.requests.Load() != 1 {
		t.Errorf("after it: got %v and %d requests, want 1", err, s.requests.Load())
	}
}

// TestTokenIsOneHeaderLine: a token with a line's end is not sent, and another one is
// the request's authorization.
func TestTokenIsOneHeaderLine(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%q", r.Header["Authorization"])
		}))
		defer server.Close()
		sender, r := to(server.URL), request("x")
		r.Bearer = "a.b.c"
		if got, err := sender.Send(t.Context(), r); err != nil || string(got.Body) != `["Bearer a.b.c"]` {
			t.Errorf("got %s (%v)", got.Body, err)
		}
		r.Bearer = "a\r\nX-Other: 1"
		if _, err := sender.Send(t.Context(), r); !errors.Is(err, post.ErrNotSent) {
			t.Errorf("got %v, want it refused", err)
		}
	})
}

// late is a context whose deadline has passed, and whose timer has not run yet.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// TestDialingEndsWithItsDeadline: the dialer's timer may run before that of the context.
func TestDialingEndsWithItsDeadline(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	}
	own, err := post.NewClient("http://localhost:1", post.Options{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	for _, sender := range []post.Sender{own, post.Transport{Base: "http://localhost:1", HTTP: &http.Transport{DialContext: dial}}} {
		if _, err := sender.Send(late{t.Context()}, request("x")); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, post.ErrNotSent) {
			t.Errorf("%T: got %v", sender, err)
		}
		if _, err := sender.Send(t.Context(), request("x")); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%T, without a deadline: got %v", sender, err)
		}
	}
}

func TestConnectionThatIsSaidToEndIsNotUsedAgain(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		s := raw(t, says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", true))
		sender := to(s.url)
		for range 3 {
			if _, err := sender.Send(t.Context(), request("x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.connections.Load(); n != 3 {
			t.Errorf("got %d connections, want 3", n)
		}
	})
}

// TestRedirectIsAnAnswer: a request goes nowhere else.
func TestRedirectIsAnAnswer(t *testing.T) {
	everySender(t, func(t *testing.T, to func(string) post.Sender) {
		other := raw(t, echoed)
		s := raw(t, says("HTTP/1.1 307 Temporary Redirect\r\nLocation: "+other.url+"\r\nContent-Length: 0\r\n\r\n", true))
		if got, err := to(s.url).Send(t.Context(), request("x")); err != nil || got.Status != 307 {
			t.Errorf("got %d (%v)", got.Status, err)
		}
		if other.requests.Load() != 0 {
			t.Error("the request was sent elsewhere")
		}
	})
}

// TestRequestGoesToTheNamedServerOnly: none of it is sent to a server whose
// certificate is not trusted, or has another name.
func TestRequestGoesToTheNamedServerOnly(t *testing.T) {
	var received atomic.Int64
	url, roots, dial := certtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	senders := map[string]func(base string, config *tls.Config) post.Sender{
		"client": func(base string, config *tls.Config) post.Sender {
			return client(t, base, func(o *post.Options) { o.TLS, o.Dial = config, dial })
		},
		"transport": func(base string, config *tls.Config) post.Sender {
			transport := &http.Transport{TLSClientConfig: config, DialContext: dial}
			t.Cleanup(transport.CloseIdleConnections)
			return post.Transport{Base: base, HTTP: transport, MaxAnswer: most}
		},
	}
	for name, to := range senders {
		received.Store(0)
		if _, err := to(url, nil).Send(t.Context(), request("x")); !errors.As(err, new(x509.UnknownAuthorityError)) || !errors.Is(err, post.ErrNotSent) {
			t.Errorf("%s, an unknown authority: got %v", name, err)
		}
		if _, err := to("https://hr.test", &tls.Config{RootCAs: roots}).Send(t.Context(), request("x")); !errors.As(err, new(x509.HostnameError)) || !errors.Is(err, post.ErrNotSent) {
			t.Errorf("%s, another name: got %v", name, err)
		}
		if received.Load() != 0 {
			t.Errorf("%s: it received a request", name)
		}
		trusting := to(url, &tls.Config{RootCAs: roots})
		for range 3 { // the second one on the connection of the first
			if got, err := trusting.Send(t.Context(), request("x")); err != nil || string(got.Body) != "x" {
				t.Errorf("%s, a trusted one: got %q (%v)", name, got.Body, err)
			}
		}
	}
}

func TestAddressesOfServers(t *testing.T) {
	for base, ok := range map[string]bool{
		"http://localhost:3101": true, "https://hr.example.com": true, "http://[::1]:80": true,
		"": false, "localhost:3101": false, "ftp://x": false, "http://": false, "http://a:b@x": false, "http://x:y:z": false,
	} {
		if _, err := post.NewClient(base, post.Options{MaxAnswer: most}); (err == nil) != ok {
			t.Errorf("%q: got %v", base, err)
		}
	}
}
