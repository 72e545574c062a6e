package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Execute answers a confirmation at the server that owns it, and returns the
// HTTP status and the body that it gave. When nobody knows the owner (server is
// empty), each own server is asked: the one whose store keeps the receipt
// answers. A server that gives no answer is SERVICE_UNAVAILABLE or TIMEOUT: what
// became of the change is then unknown, and asking again is safe.
func (u *Upstream) Execute(ctx context.Context, server, id string, approved bool) (int, json.RawMessage, error) {
	if _, err := access.From(ctx); err != nil {
		return 0, nil, err
	}
	if server == "" {
		return u.askEach(ctx, id, approved)
	}
	for _, p := range u.peers {
		if p.Name == server {
			return p.execute(ctx, id, approved)
		}
	}
	return 0, nil, fault.ServerNotFound.New("No server is called %q.", server)
}

// execute goes past the breaker: a person answered, and is told what came of it.
func (p *peer) execute(ctx context.Context, id string, approved bool) (int, json.RawMessage, error) {
	if !p.up.begin() {
		return 0, nil, p.fault(errClosed)
	}
	defer p.up.work.Done()
	start := p.up.o.Now()
	bounded, cancel := p.up.bounded(ctx, p.WriteTimeout)
	defer cancel()
	status, body, err := p.remote.execute(bounded, id, approved)
	p.judge(ctx, start, err)
	if err != nil {
		f := p.fault(err)
		p.record(ctx, "", f)
		return 0, nil, f
	}
	return status, body, nil
}

// askEach asks one server after the other. Only when all of them answered is a
// confirmation unknown.
func (u *Upstream) askEach(ctx context.Context, id string, approved bool) (status int, body json.RawMessage, err error) {
	var silent error
	for _, p := range u.peers {
		s, b, err := p.execute(ctx, id, approved)
		switch {
		case err != nil:
			silent = errors.Join(silent, err)
		case s != http.StatusNotFound:
			return s, b, nil
		default:
			status, body = s, b
		}
	}
	if silent != nil {
		return 0, nil, silent
	}
	if body == nil {
		return 0, nil, unknownConfirmation()
	}
	return status, body, nil
}

func unknownConfirmation() *fault.Error {
	return fault.ConfirmationNotFound.New("The confirmation is unknown or has expired.")
}

// Answer answers a confirmation for a client that speaks MCP to the gateway.
func (u *Upstream) Answer(ctx context.Context, id string, approved bool) result.Outcome {
	server, err := u.ownerOf(ctx, id)
	if err != nil {
		return result.Failed(err)
	}
	_, body, err := u.Execute(ctx, server, id, approved)
	if err != nil {
		return result.Failed(err)
	}
	return outcomeOf(body)
}

func (u *Upstream) ownerOf(ctx context.Context, id string) (string, error) {
	if u.o.Records == nil {
		return "", nil
	}
	r, _, err := u.o.Records.Get(ctx, confirm.ID(id))
	return r.Server, err
}

// outcomeOf reads the answer to an answer, which may also say "cancelled".
func outcomeOf(body json.RawMessage) result.Outcome {
	var c struct{ Status, Message string }
	if json.Unmarshal(body, &c) == nil && c.Status == result.StatusCancelled {
		return result.Outcome{Wire: body, Message: c.Message}
	}
	o, err := result.DecodeEnvelope(body)
	if err != nil {
		return result.Failed(err)
	}
	return o
}

// Catalogue is the servers as one MCP service: what mcpserver mounts at the
// gateway's /mcp.
type Catalogue struct{ Upstream *Upstream }

// Tools lists what the principal in the context may call. Servers that cannot
// be asked are left out.
func (c Catalogue) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	if _, err := access.From(ctx); err != nil {
		return nil, err
	}
	set := c.Upstream.Tools(ctx)
	list := make([]result.ToolInfo, len(set.Open))
	for i, t := range set.Open {
		list[i] = t.ToolInfo
	}
	return list, nil
}

// Call runs one tool.
func (c Catalogue) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return c.Upstream.Call(ctx, name, args)
}

// Answer answers a confirmation.
func (c Catalogue) Answer(ctx context.Context, id string, approved bool) result.Outcome {
	return c.Upstream.Answer(ctx, id, approved)
}

// Encode passes on what the server wrote, or writes the envelope.
func (c Catalogue) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }
