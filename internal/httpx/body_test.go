package httpx_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/testkit"
)

type answer struct {
	ConfirmationID string `json:"confirmationId"`
	Approved       *bool  `json:"approved"`
}

func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestBodyIsReadStrictly(t *testing.T) {
	deep := strings.Repeat(`{"confirmationId":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct {
		name string
		r    *http.Request
		want *fault.Code
	}{
		{"good", post(`{"confirmationId":"c","approved":true}`), nil},
		{"good with charset", post(`{"confirmationId":"c"}`, "Content-Type", "application/json; charset=UTF-8"), nil},
		{"half", post(`{"confirmationId":"c`), fault.BadRequest},
		{"empty", post(``), fault.BadRequest},
		{"array", post(`[{}]`), fault.BadRequest},
		{"trailing", post(`{} {}`), fault.BadRequest},
		{"repeated key", post(`{"approved":false,"approved":true}`), fault.BadRequest},
		{"repeated key, escaped", post(`{"approved":false,"\u0061pproved":true}`), fault.BadRequest},
		{"other spelling", post(`{"approved":false,"Approved":true}`), fault.BadRequest},
		{"unknown field", post(`{"approve":true}`), fault.BadRequest},
		{"wrong type", post(`{"approved":"yes"}`), fault.BadRequest},
		{"deep", post(deep), fault.BadRequest},
		{"bad UTF-8", post("{\"confirmationId\":\"\xff\"}"), fault.BadRequest},
		{"text", post(`{}`, "Content-Type", "text/plain"), fault.UnsupportedMedia},
		{"no type", post(`{}`, "Content-Type", ""), fault.UnsupportedMedia},
		{"latin1", post(`{}`, "Content-Type", "application/json; charset=latin1"), fault.UnsupportedMedia},
		{"gzip", post(`{}`, "Content-Encoding", "gzip"), fault.UnsupportedMedia},
		{"large", post(`{"confirmationId":"` + strings.Repeat("x", 1<<20) + `"}`), fault.BodyTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := httpx.Decode[answer](c.r, httpx.MaxBody)
			if c.want == nil && err != nil || c.want != nil && !fault.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestLimitHoldsForABodyOfUnknownLength(t *testing.T) {
	refused := make(chan error, 1)
	s := httptest.NewServer(plain(io.Discard).Handle(func(w http.ResponseWriter, r *http.Request) error {
		_, err := httpx.ReadObject(r, 1000)
		refused <- err
		return err
	}))
	defer s.Close()
	chunked := io.MultiReader(strings.NewReader(`{"a":"`), bytes.NewReader(bytes.Repeat([]byte("x"), 10<<20)))
	if resp, err := http.Post(s.URL, "application/json", chunked); err == nil { // a client still writing may see a reset instead
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d, want 413", resp.StatusCode)
		}
	}
	if err := <-refused; !fault.Is(err, fault.BodyTooLarge) {
		t.Errorf("got %v, want BODY_TOO_LARGE", err)
	}
}

// TestBytesAfterAChunkedBodyAreNoRequest: a proxy may have taken the Content-Length for the end of
// the body, so that what follows it was sent by another client than the body.
func TestBytesAfterAChunkedBodyAreNoRequest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served atomic.Int32
	s := httpx.NewServer(plain(io.Discard).Handle(func(w http.ResponseWriter, r *http.Request) error {
		served.Add(1)
		_, err := httpx.ReadObject(r, 1000)
		return err
	}), slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testkit.Patience))
	const start = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 7\r\n"
	if _, err := io.WriteString(c, start+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"+start+"\r\n{}     "); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection stays open")
	}
	if n := served.Load(); n != 1 {
		t.Errorf("got %d requests, want one", n)
	}
}

// TestSlowClientsAreCut: clients that send their headers or their body a byte a second, read no
// answer, or send nothing any more, keep their connections for a bounded time.
func TestSlowClientsAreCut(t *testing.T) {
	const head = "POST /%s HTTP/1.1\r\nHost: localhost\r\n"
	body := head + "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
	for name, c := range map[string]struct {
		first string // sent at once
		drip  string // sent again each second
		reads bool
		limit time.Duration
	}{
		"headers":          {fmt.Sprintf(head, "read"), "X: y\r\n", true, 10 * time.Second},
		"no request":       {"", "", true, 10 * time.Second},
		"a body":           {fmt.Sprintf(body, "read"), " ", true, 32 * time.Second},
		"a body, refused":  {fmt.Sprintf(body, "refuse"), " ", true, 2 * time.Second},
		"an unread answer": {fmt.Sprintf(head, "large") + "\r\n", "", false, 90 * time.Second},
		"a stream":         {fmt.Sprintf(body, "stream"), " ", false, 10 * time.Second},
		"a silent one":     {fmt.Sprintf(head, "refuse") + "\r\n", "", true, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, ended := served(t)
				began := time.Now()
				var sides sync.WaitGroup
				if c.reads {
					sides.Go(func() { _, _ = io.Copy(io.Discard, client) })
				}
				sides.Go(func() {
					_, err := io.WriteString(client, c.first)
					for c.drip != "" && err == nil {
						time.Sleep(time.Second) // of the bubble's clock
						_, err = io.WriteString(client, c.drip)
					}
				})
				select {
				case <-ended:
				case <-time.After(time.Hour):
				}
				if took := time.Since(began); took < c.limit/2 || took > c.limit+time.Second {
					t.Errorf("it was cut after %v, want %v", took, c.limit)
				}
				_ = client.Close()
				sides.Wait()
			})
		})
	}
}

// TestAnswerThatTakesLongArrives: the time for an answer begins with it, and a handler that sets
// another one decides.
func TestAnswerThatTakesLongArrives(t *testing.T) {
	for _, path := range []string{"late", "empty", "pauses"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, ended := served(t)
				if _, err := fmt.Fprintf(client, "POST /%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", path); err != nil {
					t.Fatal(err)
				}
				answer, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				if body, err := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK || err != nil || len(body) > 0 && string(body) != "done" {
					t.Errorf("got %d, %q and %v", answer.StatusCode, body, err)
				}
				<-ended
			})
		})
	}
}

// served is the client's end of a connection to a server; ended is closed when the server
// closes its own.
func served(t *testing.T) (client net.Conn, ended chan struct{}) {
	mux := httpx.NewMux(plain(io.Discard))
	mux.HandleFunc("POST /read", func(w http.ResponseWriter, r *http.Request) error {
		_, err := httpx.ReadObject(r, httpx.MaxBody)
		return err
	})
	mux.HandleFunc("POST /refuse", func(http.ResponseWriter, *http.Request) error { return fault.Unauthorized.New("No.") })
	mux.HandleFunc("POST /large", func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write(make([]byte, 10<<20))
		return err
	})
	mux.HandleFunc("POST /stream", func(w http.ResponseWriter, _ *http.Request) error {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(10 * time.Second)) // decides
		_, err := w.Write(make([]byte, 10<<20))
		return err
	})
	const long = 10 * time.Minute // of the bubble's clock
	mux.HandleFunc("POST /empty", func(http.ResponseWriter, *http.Request) error { time.Sleep(long); return nil })
	mux.HandleFunc("POST /late", func(w http.ResponseWriter, _ *http.Request) error {
		time.Sleep(long)
		_, err := io.WriteString(w, "done")
		return err
	})
	mux.HandleFunc("POST /pauses", func(w http.ResponseWriter, _ *http.Request) error {
		httpx.KeepOpen(w)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(long)
		_, err := io.WriteString(w, "done")
		return err
	})
	s := httpx.NewServer(mux, slog.New(slog.DiscardHandler))
	near, far := net.Pipe()
	ended = make(chan struct{})
	l := &onePipe{make(chan net.Conn, 1), make(chan struct{})}
	l.conns <- far
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(ended)
		}
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); _ = near.Close() })
	return near, ended
}

// onePipe is a listener of one connection.
type onePipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *onePipe) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *onePipe) Close() error   { close(l.closed); return nil }
func (l *onePipe) Addr() net.Addr { return &net.TCPAddr{} }

// TestDeadlineOfABodyIsLifted: what a handler does after it has read the body is not cut.
func TestDeadlineOfABodyIsLifted(t *testing.T) {
	s := httpx.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if s.ReadTimeout != 0 {
		t.Errorf("got %v, want no limit that cuts streams", s.ReadTimeout)
	}
	deadlines := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	read := func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }
	httpx.NewServer(http.HandlerFunc(read), slog.New(slog.DiscardHandler)).Handler.ServeHTTP(deadlines, post(`{}`))
	if deadlines.set != 1 || !deadlines.lifted {
		t.Errorf("got %d deadlines, lifted %v, want one for the body, lifted once it is there", deadlines.set, deadlines.lifted)
	}
}

// TestBodyIsClosedAtItsEnd: net/http looks for no rest of it then. A handler may read the end
// again.
func TestBodyIsClosedAtItsEnd(t *testing.T) {
	given := &closable{Reader: strings.NewReader(`{}`)}
	r := post("")
	r.Body, r.ContentLength = given, 2
	httpx.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, inner *http.Request) {
		body := inner.Body
		got, err := io.ReadAll(body)
		if err != nil || string(got) != "{}" || !given.closed || r.Body != given {
			t.Errorf("got %q (%v), closed: %v, want a body that is closed and the request's own again", got, err, given.closed)
		}
		if n, err := body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after the end: got %d %v", n, err)
		}
	}), slog.New(slog.DiscardHandler)).Handler.ServeHTTP(httptest.NewRecorder(), r)
}

// closable is a body that fails once it is closed, as that of net/http.
type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Read(p []byte) (int, error) {
	if c.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return c.Reader.Read(p)
}

func (c *closable) Close() error {
	c.closed = true
	return nil
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"confirmationId":"c","approved":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := httpx.Decode[answer](post(string(b)), 1000)
		if err != nil {
			if e := fault.From(err); e.Kind() != fault.Invalid {
				t.Fatalf("got %v, want a fault of the caller", err)
			}
			return
		}
		var want answer
		if err := json.Unmarshal(b, &want); err != nil || want.ConfirmationID != got.ConfirmationID {
			t.Fatalf("got %+v of %q, want what encoding/json reads: %v", got, b, err)
		}
	})
}

// TestUnsentBodyHoldsNoRefusal speaks raw TCP: it announces a body and sends
// none of it. A refusal is answered at once, and then the connection ends.
func TestUnsentBodyHoldsNoRefusal(t *testing.T) {
	mux := httpx.NewMux(plain(io.Discard))
	refuse := func(err error) httpx.Handler { return func(http.ResponseWriter, *http.Request) error { return err } }
	mux.HandleFunc("POST /401", refuse(fault.Unauthorized.New("No.")))
	mux.HandleFunc("POST /403", refuse(fault.ForbiddenRequest.New("No.")))
	mux.HandleFunc("POST /body", func(w http.ResponseWriter, r *http.Request) error {
		_, err := httpx.ReadObject(r, httpx.MaxBody)
		return err
	})
	mux.HandleFunc("POST /200", func(w http.ResponseWriter, _ *http.Request) error { return httpx.JSON(w, 200, "unread") })
	s := httptest.NewUnstartedServer(nil)
	s.Config = httpx.NewServer(plain(io.Discard).Middleware(mux), slog.New(slog.DiscardHandler))
	s.Start()
	defer s.Close()
	var clients sync.WaitGroup
	for name, c := range map[string]struct{ method, path, headers string }{
		"401": {"POST", "/401", "Content-Length: 100000"},
		"403": {"POST", "/403", "Transfer-Encoding: chunked"},
		"404": {"POST", "/nowhere", "Content-Length: 5"},
		"405": {"PUT", "/401", "Content-Length: 5"},
		"413": {"POST", "/body", "Content-Type: application/json\r\nContent-Length: 9000000"},
		"415": {"POST", "/body", "Content-Type: text/plain\r\nContent-Length: 500000"},
		"200": {"POST", "/200", "Content-Length: 50"},
	} {
		clients.Go(func() {
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", c.method, c.path, c.headers)
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // less than the deadline of a body
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%s: no answer: %v", name, err)
				return
			}
			if _, err := io.ReadAll(resp.Body); err != nil || resp.Status[:3] != name || !resp.Close {
				t.Errorf("got %s, close %v (%v), want %s whole, and the connection closed", resp.Status, resp.Close, err, name)
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s: got %v, want the end of the connection", name, err)
			}
		})
	}
	clients.Wait()
}

// TestBodyIsReadWhole: whatever length is declared, around the size of the first
// buffer and when the bytes come one by one.
func TestBodyIsReadWhole(t *testing.T) {
	for _, size := range []int{2, 511, 512, 4094, 4095, 4096, 4097, 9000, 100_000} {
		want := `"` + strings.Repeat("x", size-2) + `"`
		for _, declared := range []int64{int64(size), -1} {
			r := post(want)
			r.ContentLength = declared
			r.Body = io.NopCloser(iotest.OneByteReader(strings.NewReader(want)))
			got, err := httpx.ReadJSON(r, 1<<20)
			if err != nil || string(got) != want {
				t.Errorf("%d bytes, declared as %d: got %d (%v)", size, declared, len(got), err)
			}
		}
	}
}

// TestHalfABodyIsRejected: also when what did arrive is valid by itself.
func TestHalfABodyIsRejected(t *testing.T) {
	for name, failed := range map[string]error{"the client went away": io.ErrUnexpectedEOF, "the connection broke": net.ErrClosed} {
		r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader(`{"a":1}`), iotest.ErrReader(failed)))
		r.Header.Set("Content-Type", "application/json")
		if body, err := httpx.ReadJSON(r, httpx.MaxBody); !fault.Is(err, fault.BadRequest) || body != nil {
			t.Errorf("%s: got %s (%v), want %s", name, body, err, fault.BadRequest.Name)
		}
	}
}
