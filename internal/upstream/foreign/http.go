package foreign

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/upstream/mcpsession"
)

// HTTP connects to a server over streamable HTTP, in either protocol version.
type HTTP struct {
	URL       string
	Header    http.Header       // the host's credential, sent with every request
	MaxAnswer int64             // bytes of one answer or event; 8 MiB when zero
	Next      http.RoundTripper // nil: http.DefaultTransport
}

const defaultMaxAnswer = 8 << 20

// Transport implements [Connection]. The server may send notifications at any
// time; a redirect is not followed, because it would carry the credential away.
func (h HTTP) Transport() mcp.Transport {
	if h.MaxAnswer == 0 {
		h.MaxAnswer = defaultMaxAnswer
	}
	if h.Next == nil {
		h.Next = http.DefaultTransport
	}
	return &mcp.StreamableClientTransport{
		Endpoint:     h.URL,
		HTTPClient:   &http.Client{Transport: h, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		MaxRetries:   -1,
		MaxEventSize: int(h.MaxAnswer),
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
	// A stream is bounded by event instead: it may last as long as its session.
	if err == nil && resp.Header.Get("Content-Type") == "application/json" {
		resp.Body = mcpsession.Limit(req.Context(), resp.Body, h.MaxAnswer)
	}
	return resp, err
}
