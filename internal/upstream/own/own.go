package own

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
	"countersign.dev/internal/upstream/post"
)

// Options of a server. All but HTTP and Now are required.
type Options struct {
	Name      string        // also the audience of its tokens
	URL       string        // base address: MCP is at /mcp, confirmations are answered at /execute
	Timeout   time.Duration // for opening a session
	MaxAnswer int64         // bytes of one answer
	Mint      func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	HTTP      http.RoundTripper // of all requests; nil: calls by a client of our own, the rest by http.Transport
	Log       *slog.Logger
	Now       func() time.Time
}

// Server is the adapter of one own server. Close ends it.
type Server struct {
	o      Options
	http   *http.Client
	auth   authTransport // under http
	direct post.Sender   // of calls outside of a session
	fast   *post.Client  // that is direct; nil: an http.Transport is
	path   string        // of direct calls
	shut   func()        // ends what New made
	client *mcpsession.Client
	pool   *mcpsession.Pool // one session per principal
	life   context.Context
	stop   context.CancelFunc
	calls  atomic.Int64 // ids of direct calls
	old    atomic.Bool  // the server does not speak the modern version
}

// New makes the adapter. The server is not asked before the first call.
func New(o Options) *Server {
	o.URL = strings.TrimSuffix(o.URL, "/")
	// Its tools stay the same while it runs, so no change of them is awaited.
	s := &Server{o: o, client: mcpsession.NewClient(nil)}
	s.life, s.stop = context.WithCancel(context.Background())
	s.transports()
	s.http = &http.Client{
		Transport:     s.auth,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a token goes nowhere else
	}
	s.pool = mcpsession.NewPool(mcpsession.Options{Client: s.client, Connect: s.connect, Waiting: admission.Outside, Traced: true, Now: o.Now})
	return s
}

// transports makes what requests are sent by. A base address that our own client
// does not read is left to http.Transport, which says what is wrong with it.
func (s *Server) transports() {
	s.shut, s.path = func() {}, "/mcp"
	s.auth = authTransport{next: s.o.HTTP, audience: s.o.Name, mint: s.o.Mint, limit: s.o.MaxAnswer}
	if s.o.HTTP == nil {
		transport := NewTransport()
		s.auth.next, s.shut = transport, transport.CloseIdleConnections
	}
	s.direct = post.Transport{Base: s.o.URL, HTTP: s.auth.next, MaxAnswer: s.o.MaxAnswer}
	base, err := url.Parse(s.o.URL)
	if s.o.HTTP != nil || err != nil {
		return
	}
	if client, err := post.NewClient(s.o.URL, post.Options{MaxAnswer: s.o.MaxAnswer, AfterCancel: afterCancel}); err == nil {
		s.path, s.direct, s.fast = base.EscapedPath()+s.path, client, client
		idle := s.shut
		s.shut = func() { idle(); client.Close() }
	}
}

// connect opens a session for the principal in the context. The session keeps
// that context's values, so it gets none but the principal.
func (s *Server) connect(ctx context.Context) (*mcp.ClientSession, error) {
	p, err := access.From(ctx)
	if err != nil {
		return nil, errors.Join(mcpsession.ErrHost, err)
	}
	bounded, cancel := context.WithTimeout(access.With(s.life, p), s.o.Timeout)
	defer cancel()
	return s.client.Connect(withPurpose(bounded, purposeOf(ctx)), &mcp.StreamableClientTransport{
		Endpoint: s.o.URL + "/mcp", HTTPClient: s.http, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
}

// Tools lists all tools in a session of its own: what a catalogue token may see
// must never be mistaken for what a person may.
func (s *Server) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	ctx = withPurpose(ctx, access.PurposeCatalogue)
	session, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	var tools []result.ToolInfo
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		info, err := infoOf(t)
		if err != nil {
			s.o.Log.WarnContext(ctx, "tool left out", "server", s.o.Name, "tool", t.Name, "error", err)
			continue
		}
		tools = append(tools, info)
	}
	return tools, nil
}

// Call is CallUntil without a deadline besides that of the context.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error) {
	return s.CallUntil(ctx, time.Time{}, tool, args)
}

// CallUntil runs a tool for the principal in the context, at most once and until then. An
// error means that the server gave no answer. Only a server that does not speak the modern
// version is called in a session; of the others no progress is read, because our
// tools report none.
func (s *Server) CallUntil(ctx context.Context, until time.Time, tool string, args json.RawMessage) (result.Outcome, error) {
	p, err := access.From(ctx)
	if err != nil {
		return result.Outcome{}, errors.Join(mcpsession.ErrNotSent, mcpsession.ErrHost, err)
	}
	if !s.old.Load() {
		o, err := s.callDirectly(ctx, until, tool, args)
		if !errors.Is(err, errVersion) {
			return o, err
		}
		s.old.Store(true)
	}
	bounded, end := s.bounded(ctx, until)
	defer end()
	return s.callInSession(bounded, p, tool, args)
}

// callInSession runs a tool by the SDK's client.
func (s *Server) callInSession(ctx context.Context, p *access.Principal, tool string, args json.RawMessage) (result.Outcome, error) {
	answer, err := s.pool.Call(ctx, p.Owner().String(), tool, args)
	if e := mcpsession.ServerError(err); e != nil {
		return s.protocolError(e), nil
	}
	if err != nil {
		return result.Outcome{}, err
	}
	o, err := decode(answer)
	if err != nil {
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.o.Name, err)), nil
	}
	return o, nil
}

// decode reads the envelope of an answer. The text copy has its bytes as the
// server wrote them; the structured content was decoded by the SDK.
func decode(answer *mcp.CallToolResult) (result.Outcome, error) {
	if len(answer.Content) == 1 {
		if text, ok := answer.Content[0].(*mcp.TextContent); ok {
			if o, err := result.DecodeEnvelope(json.RawMessage(text.Text)); err == nil {
				return o, nil
			}
		}
	}
	if answer.StructuredContent == nil {
		return result.Outcome{}, errors.New("no structured content")
	}
	raw, err := json.Marshal(answer.StructuredContent)
	if err != nil {
		return result.Outcome{}, err
	}
	return result.DecodeEnvelope(raw)
}

// Answer answers a confirmation that the server keeps. An error means that the
// server gave no answer; asking again is safe.
func (s *Server) Answer(ctx context.Context, id string, approved bool, digest string) (result.Outcome, error) {
	body, err := json.Marshal(struct {
		ID       string `json:"confirmationId"`
		Approved bool   `json:"approved"`
		Digest   string `json:"digest,omitempty"`
	}{id, approved, digest})
	if err != nil {
		return result.Outcome{}, err
	}
	req, err := http.NewRequestWithContext(withPurpose(ctx, access.PurposeExecute), http.MethodPost, s.o.URL+"/execute", bytes.NewReader(body))
	if err != nil {
		return result.Outcome{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	status, answer, err := s.send(req)
	if err != nil {
		return result.Outcome{}, err
	}
	return outcomeOf(status, answer)
}

// Confirmation asks the server for a confirmation that it keeps. A refusal of the
// server is a fault; any other error means that it gave no answer.
func (s *Server) Confirmation(ctx context.Context, id string) (c result.Confirmation, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.o.URL+"/confirmations/"+url.PathEscape(id), nil)
	if err != nil {
		return c, err
	}
	status, answer, err := s.send(req)
	if err != nil {
		return c, err
	}
	if status == http.StatusOK {
		err = json.Unmarshal(answer, &c)
		return c, err
	}
	o, err := outcomeOf(status, answer)
	if err == nil && o.Fault() != nil {
		return c, o.Fault()
	}
	return c, cmp.Or(err, fmt.Errorf("/confirmations answered %d", status))
}

// send sends a request outside of MCP and returns an answer of JSON.
func (s *Server) send(req *http.Request) (status int, answer []byte, err error) {
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body) // bounded by the transport
	if err != nil {
		return 0, nil, err
	}
	if !json.Valid(answer) || resp.StatusCode == http.StatusUnauthorized {
		return 0, nil, fmt.Errorf("%s answered %s", req.URL.Path, resp.Status)
	}
	return resp.StatusCode, bytes.TrimSpace(answer), nil
}

// outcomeOf reads an envelope. A refusal keeps the status that the server gave it:
// one code can have two.
func outcomeOf(status int, answer []byte) (result.Outcome, error) {
	o, err := result.DecodeEnvelope(answer)
	if err != nil || o.Fault() == nil || o.Fault().Code.Status == status {
		return o, err
	}
	refusal, code := *o.Fault(), *o.Fault().Code
	code.Status, refusal.Code = status, &code
	return result.Failed(&refusal).WithRaw(answer), nil
}

// Abort ends calls in flight, and lets no other begin.
func (s *Server) Abort() {
	s.stop()
	if s.fast != nil {
		s.fast.Abort()
	}
}

// Close closes every session. Calls in flight must have ended.
func (s *Server) Close() {
	s.stop()
	s.pool.Close()
	s.shut()
}
