package httpx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ErrGone says that the client of a stream is gone, or reads too slowly to be
// waited for.
var ErrGone = errors.New("the client of the stream is gone")

// The times of a stream.
const (
	heartbeat     = 15 * time.Second // keeps proxies from thinking that nothing lives here
	writePatience = 10 * time.Second // how long one write may take before the client counts as gone
)

// Event is one server-sent event. ID and Name are left out when empty and must
// not contain line breaks.
type Event struct {
	ID   string
	Name string
	Data []byte // may contain line breaks
}

// Stream writes server-sent events. It owns its heartbeat; writes from several
// goroutines are put in order. Close it before the handler returns.
type Stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	ctx  context.Context // ends with the client, a failed write, or Close
	end  context.CancelFunc
	mu   sync.Mutex
	beat sync.WaitGroup
}

// NewStream sends the headers of an event stream and starts the heartbeat. It
// fails when the connection cannot be flushed.
func NewStream(w http.ResponseWriter, r *http.Request) (*Stream, error) {
	s := &Stream{w: w, rc: http.NewResponseController(w)}
	s.ctx, s.end = context.WithCancel(r.Context())
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if err := s.rc.Flush(); err != nil {
		s.end()
		return nil, fmt.Errorf("starting a stream: %w", err)
	}
	s.beat.Go(s.heartbeats)
	return s, nil
}

// Gone is closed when nothing more can be delivered.
func (s *Stream) Gone() <-chan struct{} { return s.ctx.Done() }

// Send delivers one event at once. It returns ErrGone when the client is gone,
// and then forever.
func (s *Stream) Send(e Event) error {
	if strings.ContainsAny(e.ID+e.Name, "\r\n\x00") {
		return fmt.Errorf("sending an event: line break in id %q or name %q", e.ID, e.Name)
	}
	return s.write(e.encode())
}

// Close stops the heartbeat and waits until it has ended. It does not end the
// response: that is the handler's return.
func (s *Stream) Close() {
	s.end()
	s.beat.Wait()
	_ = s.rc.SetWriteDeadline(time.Now().Add(writePatience)) // net/http has a last chunk to write
}

func (s *Stream) heartbeats() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			_ = s.write([]byte(": heartbeat\n\n")) // a failure ends ctx
		}
	}
}

func (s *Stream) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return ErrGone
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(writePatience)) // recorders of tests have none
	_, err := s.w.Write(b)
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.end()
		return ErrGone
	}
	return nil
}

func (e Event) encode() []byte {
	var b bytes.Buffer
	b.Grow(len(e.Data) + len(e.ID) + len(e.Name) + 32)
	if e.ID != "" {
		b.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		b.WriteString("event: " + e.Name + "\n")
	}
	data := bytes.ReplaceAll(bytes.ReplaceAll(e.Data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}
