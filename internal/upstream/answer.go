package upstream

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Execute answers a confirmation at the server that owns it. When the owner is
// not known (server is empty), each own server is asked: the one whose store
// keeps the receipt answers. A server that gives no answer is
// SERVICE_UNAVAILABLE or TIMEOUT: whether the change was made is then unknown,
// and asking again is safe.
func (u *Upstream) Execute(ctx context.Context, server, id string, approved bool) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	if server == "" {
		return u.askEach(ctx, id, approved)
	}
	for _, s := range u.registry().servers {
		switch {
		case s.Name != server:
		case s.foreign():
			return u.answerForeign(ctx, who, s, id, approved)
		default:
			return s.answer(ctx, id, approved)
		}
	}
	return result.Failed(fault.ServerNotFound.New("No server is called %q.", server))
}

// askEach asks one own server after the other. Only when all of them answered
// is a confirmation unknown.
func (u *Upstream) askEach(ctx context.Context, id string, approved bool) result.Outcome {
	var silent *result.Outcome
	for _, s := range u.registry().servers {
		if s.foreign() {
			continue
		}
		o := s.answer(ctx, id, approved)
		switch {
		case o.Fault() == nil:
			return o
		case o.Fault().Kind() == fault.Unavailable:
			silent = &o
		case o.Fault().Code != fault.ConfirmationNotFound:
			return o
		}
	}
	if silent != nil {
		return *silent
	}
	return result.Failed(fault.ConfirmationNotFound.New("The confirmation is unknown or has expired."))
}

// Answer answers a confirmation for a client that speaks MCP to the gateway.
func (u *Upstream) Answer(ctx context.Context, id string, approved bool) result.Outcome {
	server, err := u.ownerOf(ctx, id)
	if err != nil {
		return result.Failed(err)
	}
	return u.Execute(ctx, server, id, approved)
}

func (u *Upstream) ownerOf(ctx context.Context, id string) (string, error) {
	if u.o.Records == nil {
		return "", nil
	}
	r, _, err := u.o.Records.Get(ctx, confirm.ID(id))
	return r.Server, err
}

// Catalogue is the servers as one MCP service, for the gateway's own MCP
// endpoint.
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
