package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ErrDisconnected means that the client of a stream has disconnected, or reads
// too slowly.
var ErrDisconnected = errors.New("the client of the stream has disconnected")

// The times of a stream.
const (
	heartbeat    = 15 * time.Second // keeps proxies from closing an idle connection
	writeTimeout = 10 * time.Second // of one write; a slower client is disconnected
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

// Done is closed when nothing more can be delivered.
func (s *Stream) Done() <-chan struct{} { return s.ctx.Done() }

// Send delivers one event at once. Once the client has disconnected it always
// returns ErrDisconnected.
func (s *Stream) Send(e Event) error {
	if strings.ContainsAny(e.ID+e.Name, "\r\n\x00") {
		return fmt.Errorf("sending an event: line break in id %q or name %q", e.ID, e.Name)
	}
	return s.write(e.encode())
}

// Close stops the heartbeat and waits until it has ended. The
// response ends when the handler returns.
func (s *Stream) Close() {
	s.end()
	s.beat.Wait()
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // net/http writes a last chunk
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
		return ErrDisconnected
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // test recorders have no deadline
	_, err := s.w.Write(b)
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.end()
		return ErrDisconnected
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

// Compact encodes a data object of a stream, as short as it gets: a stream is no
// web page, so < and > stay as they are. v is of our own types with valid JSON
// inside, which cannot fail.
func Compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
