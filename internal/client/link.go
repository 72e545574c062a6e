package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Limits of a link.
const (
	maxMessage   = 4 << 20          // bytes of one message of the gateway
	silence      = 80 * time.Second // without a message or ping, of which there is one every 30 s: the connection is dead
	writeTimeout = 10 * time.Second // of one message to the gateway
	firstRetry   = 200 * time.Millisecond
	lastRetry    = 4 * time.Second // between two attempts to connect again, which double up to this
	retryFor     = 3 * time.Minute // then the link gives up
)

// message is one message of the gateway on /ws: {type, seq, payload}.
type message struct {
	Type    string          `json:"type"`
	Seq     int64           `json:"seq"` // 0: it is no event of the conversation
	Payload json.RawMessage `json:"payload"`
	raw     []byte
}

// order is one message to the gateway.
type order struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"` // what answers it has it as replyTo
	Payload any    `json:"payload,omitempty"`
}

// arrival is what a link reports: a message, or the end of a connection.
type arrival struct {
	message *message
	lost    bool  // the connection has ended, and is being made again
	err     error // the link has ended
}

// link is a connection to one conversation that is made again when it is lost. No
// event is lost or repeated by that: it resumes after the last one that arrived.
type link struct {
	client  *client
	session string // the conversation; empty until the gateway has named it
	after   string // number of the last event that arrived; empty: none, and the gateway decides where to begin
	inMS    int64  // how long to wait before the next attempt, as the gateway wants it

	mu sync.Mutex
	ws *websocket.Conn // nil while there is no connection
}

var errNotConnected = errors.New("the gateway is not connected at the moment; try again")

// run connects and reports what arrives until ctx ends or an attempt is final: the
// first one, one that is refused, or the last within retryFor.
func (l *link) run(ctx context.Context, report func(arrival)) {
	var since time.Time // when the connection was lost
	for wait, first := firstRetry, true; ctx.Err() == nil; first = false {
		ws, err := l.dial(ctx)
		if err == nil {
			wait, since = firstRetry, time.Time{}
			l.set(ws)
			l.read(ctx, ws, report)
			l.set(nil)
		}
		var final *rejection
		if err != nil && (first || errors.As(err, &final) || !since.IsZero() && time.Since(since) > retryFor) {
			report(arrival{err: err})
			return
		}
		if since.IsZero() {
			since = time.Now()
			report(arrival{lost: true})
		}
		pause(ctx, max(wait, time.Duration(l.inMS)*time.Millisecond))
		wait, l.inMS = min(2*wait, lastRetry), 0
	}
}

// rejection is an answer of the gateway to a request for a connection that another
// attempt does not change.
type rejection struct{ error }

// dial connects once. A token of a demo is fetched again when it has ended.
func (l *link) dial(ctx context.Context) (*websocket.Conn, error) {
	ws, resp, err := l.open(ctx)
	if resp != nil && resp.StatusCode == http.StatusUnauthorized && l.client.renew(ctx) {
		ws, resp, err = l.open(ctx)
	}
	switch {
	case err == nil:
		return ws, nil
	case resp == nil:
		return nil, fmt.Errorf("nothing answers at %s; is the demo or gateway running?", l.client.base)
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	err = statusError(resp.StatusCode, said)
	if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
		return nil, &rejection{err}
	}
	return nil, err
}

// open sends one request for a connection. The response is only of interest when
// it is refused.
func (l *link) open(ctx context.Context) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	address := l.client.base + "/ws"
	if l.session != "" {
		query := url.Values{"sessionId": {l.session}}
		if l.after != "" {
			query.Set("after", l.after)
		}
		address += "?" + query.Encode()
	}
	header := http.Header{"User-Agent": {userAgent}, "Authorization": {"Bearer " + l.client.bearer()}}
	return websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: l.client.http, HTTPHeader: header})
}

// read reports messages until the connection ends.
func (l *link) read(ctx context.Context, ws *websocket.Conn, report func(arrival)) {
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(maxMessage)
	for {
		body, err := readWithin(ctx, ws)
		if err != nil {
			return
		}
		m := &message{raw: body}
		if json.Unmarshal(body, m) != nil || !l.note(m) {
			continue
		}
		report(arrival{message: m})
	}
}

// readWithin reads one message. The gateway's pings do not arrive as messages, so
// a connection that looks dead is asked before it is given up.
func readWithin(ctx context.Context, ws *websocket.Conn) ([]byte, error) {
	check := time.AfterFunc(silence, func() {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		if ws.Ping(ctx) != nil {
			_ = ws.CloseNow()
		}
	})
	defer check.Stop()
	_, body, err := ws.Read(ctx)
	return body, err
}

// note keeps where to resume. It reports whether the message is a new one.
func (l *link) note(m *message) bool {
	switch {
	case m.Seq > 0 && l.after != "" && m.Seq <= number(l.after):
		return false
	case m.Seq > 0:
		l.after = strconv.FormatInt(m.Seq, 10)
	case m.Type == "connection":
		var p struct {
			State, SessionID string
			Gap              bool
			Resume           *struct{ InMS int64 }
		}
		if json.Unmarshal(m.Payload, &p) != nil {
			return false
		}
		l.session = p.SessionID
		switch {
		case p.Gap: // the gateway decides where to go on, and the conversation's messages are what was missed
			l.after = ""
		case p.State == "connected":
			l.after = "0"
		}
		if p.Resume != nil {
			l.inMS = min(p.Resume.InMS, lastRetry.Milliseconds())
		}
	}
	return true
}

func number(seq string) int64 {
	n, _ := strconv.ParseInt(seq, 10, 64) // the gateway made it
	return n
}

func (l *link) set(ws *websocket.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ws = ws
}

// send sends one message, or says that there is no connection.
func (l *link) send(ctx context.Context, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	l.mu.Lock()
	ws := l.ws
	l.mu.Unlock()
	if ws == nil {
		return errNotConnected
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if ws.Write(ctx, websocket.MessageText, body) != nil {
		return errNotConnected
	}
	return nil
}

// close says goodbye, so that the gateway need not wait for a ping.
func (l *link) close() {
	l.mu.Lock()
	ws := l.ws
	l.mu.Unlock()
	if ws != nil {
		_ = ws.Close(websocket.StatusNormalClosure, "")
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// seqOf is the number of the event with that id.
func seqOf(id string) string {
	seq, _, _ := strings.Cut(id, "-")
	return seq
}
