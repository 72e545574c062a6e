package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// The keys under which our servers describe a tool beyond what MCP does.
const (
	metaKind      = "countersign/kind"
	metaRoles     = "countersign/roles"
	metaUntrusted = "countersign/untrusted"
	metaFields    = "countersign/fields"
)

// own is one of our servers, over MCP of either era.
type own struct {
	Server
	up       *Upstream
	http     *http.Client
	client   *mcp.Client
	sessions *sessions
}

func newOwn(u *Upstream, s Server, transport http.RoundTripper) *own {
	s.URL = strings.TrimSuffix(s.URL, "/")
	o := &own{Server: s, up: u}
	o.http = &http.Client{
		Transport:     courier{next: transport, audience: s.Name, mint: u.o.Mint, limit: u.o.MaxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a token goes nowhere else
	}
	// No elicitation: a person answers on the gateway's card, not in the middle of a call.
	o.client = mcp.NewClient(&mcp.Implementation{Name: "countersign", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	o.sessions = newSessions(u, o.connect)
	return o
}

// connect opens a session for the principal in the context. The session keeps
// that context's values, so it gets none but the principal.
func (s *own) connect(ctx context.Context) (*mcp.ClientSession, error) {
	p, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(access.With(s.up.life, p), s.Timeout)
	defer cancel()
	return s.client.Connect(withPurpose(bounded, purposeOf(ctx)), &mcp.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: s.http, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
}

// catalogue lists all tools in a session of its own: what such a token may see
// must never be mistaken for what a person may.
func (s *own) catalogue(ctx context.Context) ([]result.ToolInfo, error) {
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
			s.up.o.Log.WarnContext(ctx, "tool left out", "server", s.Name, "tool", t.Name, "error", err)
			continue
		}
		tools = append(tools, info)
	}
	return tools, nil
}

// call sends a call once. A session that turns out to be dead before anything
// was sent is replaced; after that, whether the call was carried out is unknown
// and it is not sent again.
func (s *own) call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	for {
		var t trip
		answer, fresh, err := s.once(withTrip(ctx, &t), &t, tool, args)
		if err == nil || t.sent.Load() || fresh || ctx.Err() != nil {
			return s.outcome(answer, t.refused(), err)
		}
	}
}

// once calls in the person's session. fresh says that the session was opened
// just now, so that another one would not help.
func (s *own) once(ctx context.Context, t *trip, tool string, args json.RawMessage) (answer *mcp.CallToolResult, fresh bool, err error) {
	session, fresh, err := s.sessions.take(ctx)
	if err != nil {
		return nil, true, err
	}
	answer, err = session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	s.sessions.give(session, err == nil || ctx.Err() != nil || spoken(err) != nil && !t.refused())
	return answer, fresh, err
}

// codeRejected marks errors that the SDK's own transport makes, in the same type
// as those that a server answers with.
const codeRejected = -32005

// spoken returns the error that the server itself answered with, if it did.
func spoken(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != codeRejected {
		return e
	}
	return nil
}

func (s *own) outcome(answer *mcp.CallToolResult, refused bool, err error) (result.Outcome, error) {
	if e := spoken(err); e != nil && !refused {
		return s.refusal(e), nil
	}
	if err != nil {
		return result.Outcome{}, err
	}
	raw, err := envelopeIn(answer)
	if err != nil {
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.Name, err)), nil
	}
	o, err := result.DecodeEnvelope(raw)
	if err != nil {
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.Name, err)), nil
	}
	return o, nil
}

// refusal reads an error of the protocol: the server is there, but it did not
// run the tool.
func (s *own) refusal(e *jsonrpc.Error) result.Outcome {
	if e.Code == jsonrpc.CodeInvalidParams { // our servers say so of unknown tools only
		return result.Failed(fault.UnknownTool.New("The %s service no longer has this tool.", s.Name).Because(e))
	}
	return result.Failed(fmt.Errorf("server %s: %w", s.Name, e))
}

// envelopeIn finds the bytes of the envelope. The text copy has them as the
// server wrote them; the structured content was decoded on the way.
func envelopeIn(answer *mcp.CallToolResult) (json.RawMessage, error) {
	if len(answer.Content) == 1 {
		if text, ok := answer.Content[0].(*mcp.TextContent); ok && json.Valid([]byte(text.Text)) {
			return json.RawMessage(text.Text), nil
		}
	}
	if answer.StructuredContent == nil {
		return nil, errors.New("no structured content")
	}
	return json.Marshal(answer.StructuredContent)
}

// infoOf reads a tool of ours. One without roles or kind is nobody's.
func infoOf(t *mcp.Tool) (result.ToolInfo, error) {
	info := result.ToolInfo{Name: t.Name, Title: t.Title, Description: t.Description}
	kind, _ := t.Meta[metaKind].(string)
	info.Kind = result.Kind(kind)
	info.Roles, info.Untrusted = texts(t.Meta[metaRoles]), texts(t.Meta[metaUntrusted])
	switch {
	case !wellNamed(t.Name):
		return info, errors.New("its name is not 1 to 64 of A-Z a-z 0-9 _ -")
	case kind == "" || len(info.Roles) == 0:
		return info, errors.New("it has no kind or no roles")
	}
	if a := t.Annotations; a != nil {
		info.Annotations = result.Annotations{
			ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
			Destructive: a.DestructiveHint == nil || *a.DestructiveHint,
			OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
		}
	}
	var err error
	if fields, told := t.Meta[metaFields]; told {
		if info.Fields, err = fieldsOf(fields); err != nil {
			return info, err
		}
	}
	if info.InputSchema, err = json.Marshal(t.InputSchema); err != nil {
		return info, err
	}
	if t.OutputSchema != nil {
		info.OutputSchema, err = json.Marshal(t.OutputSchema)
	}
	return info, err
}

// fieldsOf reads a tool's metadata, which the SDK hands over as plain values.
func fieldsOf(plain any) (*result.Fields, error) {
	raw, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	fields := &result.Fields{}
	return fields, json.Unmarshal(raw, fields)
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// execute answers a confirmation at the server that owns it.
func (s *own) execute(ctx context.Context, id string, approved bool) (int, json.RawMessage, error) {
	body, err := json.Marshal(struct {
		ID       string `json:"confirmationId"`
		Approved bool   `json:"approved"`
	}{id, approved})
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(withPurpose(ctx, access.PurposeExecute), http.MethodPost, s.URL+"/execute", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body) // bounded by the courier
	if err != nil {
		return 0, nil, err
	}
	if !json.Valid(answer) || resp.StatusCode == http.StatusUnauthorized {
		return 0, nil, fmt.Errorf("/execute answered %s", resp.Status)
	}
	return resp.StatusCode, bytes.TrimSpace(answer), nil
}

func (s *own) tidy(since time.Time) { s.sessions.closeIdle(since) }

func (s *own) close() { s.sessions.closeAll() }
