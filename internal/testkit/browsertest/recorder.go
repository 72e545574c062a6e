package browsertest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync"
	"testing"
)

// Recorder is a proxy that keeps every byte of the responses that windows get,
// streams included.
type Recorder struct {
	proxy *httptest.Server

	mu      sync.Mutex
	answers []*Answer
}

// Answer is the response to one request.
type Answer struct {
	Method, URL string
	Status      int

	mu   sync.Mutex
	body bytes.Buffer
}

// NewRecorder starts a recorder that ends with its test.
func NewRecorder(t testing.TB) *Recorder {
	t.Helper()
	r := &Recorder{}
	transport := &http.Transport{DisableCompression: true}
	r.proxy = httptest.NewServer(whole(&httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.Out.Header.Del("Accept-Encoding"); p.Out.Host = p.In.Host },
		ModifyResponse: r.keep,
		Transport:      transport,
		FlushInterval:  -1,                                                                                             // streams arrive as they are sent
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // usually because the window navigated
	}))
	t.Cleanup(func() {
		r.proxy.CloseClientConnections()
		r.proxy.Close()
		transport.CloseIdleConnections()
	})
	return r
}

// whole reads a request to its end before it is passed on: an answer that begins
// earlier would break the connection that still sends it.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func (r *Recorder) keep(resp *http.Response) error {
	a := &Answer{Method: resp.Request.Method, URL: resp.Request.URL.String(), Status: resp.StatusCode}
	r.mu.Lock()
	r.answers = append(r.answers, a)
	r.mu.Unlock()
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, a), resp.Body}
	return nil
}

// Write keeps a piece of the body.
func (a *Answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body.Write(b)
}

// Body is what has arrived so far.
func (a *Answer) Body() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.body.String()
}

// Answers are those that have begun so far, in their order.
func (r *Recorder) Answers() []*Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Answer(nil), r.answers...)
}
