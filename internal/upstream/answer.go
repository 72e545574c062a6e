package upstream

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Answer answers a confirmation at the server that owns it. digest is that of the
// preview that the person saw, or empty. When the owner is not known, each own
// server is asked: the one whose store keeps the receipt answers. A server that
// gives no answer is SERVICE_UNAVAILABLE or TIMEOUT: whether the change was made
// is then unknown, and asking again is safe.
func (u *Upstream) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	entry, known, err := u.o.entryOf(ctx, id)
	if err != nil {
		return result.Failed(err)
	}
	if !known {
		return u.askEach(ctx, id, approved, digest)
	}
	s, err := u.registry().named(entry.Server)
	switch {
	case err != nil:
		return result.Failed(err)
	case s.foreign():
		return u.answerForeign(ctx, who, s, confirm.Reply{ID: confirm.ID(id), Server: s.Name, Approved: approved, Digest: digest})
	}
	return s.answer(ctx, id, approved, digest)
}

// askEach asks one own server after the other. Only when all of them answered
// is a confirmation unknown.
func (u *Upstream) askEach(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	var silent *result.Outcome
	for _, s := range u.registry().servers {
		if s.foreign() {
			continue
		}
		o := s.answer(ctx, id, approved, digest)
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
	return result.Failed(errNoConfirmation())
}

func errNoConfirmation() *fault.Error {
	return fault.ConfirmationNotFound.New("The confirmation is unknown or has expired.")
}

func (o Options) entryOf(ctx context.Context, id string) (entry confirm.Entry, known bool, err error) {
	if o.Entries == nil {
		return entry, false, nil
	}
	return o.Entries.Find(ctx, confirm.ID(id))
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

// Encode passes on what the server wrote, or writes the envelope.
func (c Catalogue) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }
