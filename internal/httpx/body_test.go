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
			_, err := httpx.Decode[answer](httptest.NewRecorder(), c.r, httpx.MaxBody)
			if c.want == nil && err != nil || c.want != nil && !fault.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestLimitHoldsForABodyOfUnknownLength(t *testing.T) {
	refused := make(chan error, 1)
	s := httptest.NewServer(plain(io.Discard).Handle(func(w http.ResponseWriter, r *http.Request) error {
		_, err := httpx.ReadObject(w, r, 1000)
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
		_, err := httpx.ReadObject(w, r, 1000)
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

func TestSlowHeadersAndBodiesAreBounded(t *testing.T) {
	s := httpx.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.WriteTimeout == 0 || s.ReadTimeout != 0 {
		t.Errorf("got %v %v %v %v, want limits on headers, idling and answers, and none that cuts streams", s.ReadHeaderTimeout, s.IdleTimeout, s.WriteTimeout, s.ReadTimeout)
	}
	deadlines := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	read := func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }
	httpx.NewServer(http.HandlerFunc(read), slog.New(slog.DiscardHandler)).Handler.ServeHTTP(deadlines, post(`{}`))
	if deadlines.set != 1 {
		t.Fatalf("got %d read deadlines, want one for the body", deadlines.set)
	}
	if !deadlines.lifted {
		t.Error("got the deadline still set, want it lifted once the body is there")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"confirmationId":"c","approved":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := httpx.Decode[answer](httptest.NewRecorder(), post(string(b)), 1000)
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
		_, err := httpx.ReadObject(w, r, httpx.MaxBody)
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
			got, err := httpx.ReadJSON(httptest.NewRecorder(), r, 1<<20)
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
		if body, err := httpx.ReadJSON(httptest.NewRecorder(), r, httpx.MaxBody); !fault.Is(err, fault.BadRequest) || body != nil {
			t.Errorf("%s: got %s (%v), want %s", name, body, err, fault.BadRequest.Name)
		}
	}
}
