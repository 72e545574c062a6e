package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// How long a client may take. A stream lifts the limit on its response.
const (
	headerTimeout = 10 * time.Second // for its headers
	bodyTimeout   = 30 * time.Second // for its body
	answerTimeout = 90 * time.Second // to read the answer, from where that begins; without a body from the headers
	idleTimeout   = 2 * time.Minute  // between two requests
	lingerTime    = 2 * time.Second  // to stop sending a body that was answered already
	maxHeaders    = 64 << 10         // bytes of headers
)

// discardLimit is how many bytes of a body that was answered already are read and
// dropped, so that an honest client finishes sending and sees the answer instead
// of a broken connection.
const discardLimit = 16 << 20

// NewServer makes a server that slow clients cannot exhaust, nor those that keep many
// connections.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	open := &connections{most: maxConnections, waiting: make(map[net.Conn]struct{})}
	return &http.Server{
		Handler:           boundBody(h),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaders,
		ConnState:         open.changed,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // failed handshakes and resets of any client
	}
}

// KeepOpen lifts the time limit on the response, for a stream that is not a
// [Stream]: that one sets a limit for each write.
func KeepOpen(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// Listen listens on a TCP address. Its errors are sentences for the person who
// starts the program.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %s is already in use: stop the program that uses it or choose another port", portOf(addr))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %s needs a right that this user does not have: choose a port above 1023", portOf(addr))
	}
	return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
}

func portOf(addr string) string {
	if _, port, err := net.SplitHostPort(addr); err == nil {
		return port
	}
	return addr
}

// Serve serves until ctx ends, then accepts no new requests and lets those in
// flight finish within grace; connections that are open after that are closed,
// which is not an error. Streams are ended by s.RegisterOnShutdown.
func Serve(ctx context.Context, s *http.Server, l net.Listener, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	left, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if s.Shutdown(left) != nil {
		_ = s.Close() // its error says only that connections were open
	}
	<-ended
	return nil
}

// boundBody sets the deadline for a body. http.Server.ReadTimeout would too, but
// it also ends streams that last longer. A handler that answers without the body,
// as most refusals do, is not held by a client that never sends it: the answer is
// sent at once, and the connection ends.
func boundBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		if len(r.TransferEncoding) > 0 {
			// net/http drops a Content-Length beside it. A proxy may have believed that one,
			// and what it took for the body is no next request (RFC 9112, 6.1).
			w.Header().Set("Connection", "close")
		}
		readUntil(w, time.Now().Add(bodyTimeout))
		answer := &earlyWriter{ResponseWriter: w, body: timedBody{ReadCloser: r.Body, answer: w, request: r}}
		r.Body = &answer.body
		next.ServeHTTP(answer, r)
		answer.begin() // for net/http, which answers where the handler has not
		if answer.body.ended {
			return
		}
		// A client that is still sending may not read the answer before it has
		// sent everything, and would lose it by a reset.
		_ = http.NewResponseController(w).Flush()
		readUntil(w, time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, &answer.body, discardLimit)
	})
}

// readUntil sets the deadline of the body of an answer's request; zero is none.
func readUntil(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// timedBody lifts the deadline when the body has been read to its end. It closes the body
// then, and gives it back to the request, so that net/http does not look for a rest of it
// before it answers.
type timedBody struct {
	io.ReadCloser
	answer  http.ResponseWriter
	request *http.Request
	ended   bool
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended, b.request.Body = true, b.ReadCloser
		_ = b.ReadCloser.Close() // says nothing of a body that was read
		readUntil(b.answer, time.Time{})
	}
	return n, err
}

// earlyWriter closes the connection after a response that begins before the
// body has ended. Otherwise net/http would wait for the body first. The client has all of
// [answerTimeout] for a response, however long the handler took to begin it: a call of
// somebody else's server may take minutes.
type earlyWriter struct {
	http.ResponseWriter
	body  timedBody
	begun bool // the response, or the handler has set its deadline
}

// WriteHeader implements http.ResponseWriter.
func (e *earlyWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		e.begin()
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (e *earlyWriter) Write(b []byte) (int, error) {
	e.begin()
	return e.ResponseWriter.Write(b)
}

// begin begins a response.
func (e *earlyWriter) begin() {
	if !e.body.ended {
		e.Header().Set("Connection", "close") // without effect once the header is sent
	}
	if !e.begun {
		_ = e.SetWriteDeadline(time.Now().Add(answerTimeout)) // test recorders have no deadline
	}
}

// SetWriteDeadline is what http.ResponseController calls.
func (e *earlyWriter) SetWriteDeadline(at time.Time) error {
	e.begun = true
	return http.NewResponseController(e.ResponseWriter).SetWriteDeadline(at)
}

// Unwrap lets http.ResponseController reach the connection.
func (e *earlyWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }
