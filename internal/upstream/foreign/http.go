package foreign

import (
	"cmp"
	"mime"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/netguard"
	"countersign.dev/internal/upstream/mcpsession"
)

// HTTP connects to a server over streamable HTTP, in either protocol version.
type HTTP struct {
	URL       string
	Header    http.Header       // the host's credential, sent with every request
	OAuth     *OAuth            // gets the host's credential; nil: none
	MaxAnswer int64             // bytes of one answer or event; 8 MiB when zero
	Patience  time.Duration     // for the head of an answer that no call waits for; 5 s when zero
	Next      http.RoundTripper // nil: NewTransport(true)
}

const defaultMaxAnswer = 8 << 20

// dialTimeout is that of opening one connection, TLS included.
const dialTimeout = 5 * time.Second

// NewTransport makes the transport to one server. Unless private is set, it reaches
// public addresses only: it checks the address that it dials, so that a name cannot
// lead elsewhere later. A proxy of the environment is reached wherever it is, and
// asked for such addresses only.
func NewTransport(private bool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = dialTimeout
	netguard.Guard(t, dialTimeout, http.ProxyFromEnvironment, func(string) bool { return private })
	return t
}

// Transport implements [Connection]. The server may send notifications at any
// time; a redirect is not followed, because it would carry the credential away.
func (h HTTP) Transport() mcp.Transport {
	h.MaxAnswer = cmp.Or(h.MaxAnswer, defaultMaxAnswer)
	if h.Next == nil {
		h.Next = NewTransport(true)
	}
	if h.OAuth != nil {
		h.Next = newBearer(*h.OAuth, h.URL, h.Next)
	}
	h.Next = newPatience(h.Next, cmp.Or(h.Patience, defaultPatience))
	return &mcp.StreamableClientTransport{
		Endpoint:     h.URL,
		HTTPClient:   &http.Client{Transport: h, CheckRedirect: noRedirect},
		MaxRetries:   -1,
		MaxEventSize: int(2 * h.MaxAnswer), // of a message that has more than one line
	}
}

// Traced implements [Connection].
func (h HTTP) Traced() bool { return true }

// RoundTrip implements http.RoundTripper.
func (h HTTP) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range h.Header {
		req.Header[name] = values
	}
	resp, err := mcpsession.RoundTrip(h.Next, req)
	if err != nil {
		return nil, err
	}
	limit := mcpsession.Limit
	if isStream(resp.Header.Get("Content-Type")) { // it may last as long as its session
		limit = mcpsession.LimitLines
	}
	resp.Body = limit(req.Context(), resp.Body, h.MaxAnswer)
	return resp, nil
}

// isStream reports whether a body of this type is read event by event.
func isStream(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "text/event-stream"
}
