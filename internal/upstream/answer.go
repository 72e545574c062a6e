package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

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
	s, err := u.registry().serverNamed(entry.Server)
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
	return result.Failed(errNoConfirmation(id))
}

func (o Options) entryOf(ctx context.Context, id string) (entry confirm.Entry, known bool, err error) {
	if o.Entries == nil {
		return entry, false, nil
	}
	return o.Entries.Find(ctx, confirm.ID(id))
}

// Catalogue is the servers as one MCP service, for the gateway's own MCP
// endpoints.
type Catalogue struct {
	Upstream *Upstream
	// Server is the one whose tools are offered, a foreign one's without its name
	// before them. Empty: all servers'.
	Server string
}

// Tools lists what the principal in the context may call. Servers that cannot
// be asked are left out.
func (c Catalogue) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	if _, err := access.From(ctx); err != nil {
		return nil, err
	}
	set := c.Upstream.Tools(ctx)
	list := make([]result.ToolInfo, 0, len(set.Open))
	for _, t := range set.Open {
		if c.Server == "" || t.Server == c.Server {
			t.Name = strings.TrimPrefix(t.Name, c.Server+".")
			list = append(list, t.ToolInfo)
		}
	}
	return list, nil
}

// Call runs one tool. One of another server is UNKNOWN_TOOL. Its answer is valid by the
// schema with which the tool is listed.
func (c Catalogue) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	if c.Server == "" {
		return c.asListed(name, c.Upstream.Call(ctx, name, args))
	}
	s, err := c.Upstream.registry().serverNamed(c.Server)
	if err != nil {
		return unfound(ctx, c.Upstream, name, err)
	}
	offered := name
	if s.foreign() {
		offered = c.Server + "." + name
	}
	if r, err := c.Upstream.find(ctx, offered); err != nil || r.server.Name != c.Server {
		return unfound(ctx, c.Upstream, offered, cmp.Or(err, error(fault.UnknownTool.New("No tool is called %q.", name).With("tool", name))))
	}
	return c.asListed(offered, c.Upstream.Call(ctx, offered, args))
}

// asListed is the outcome as clients of the tool accept it, who compare it with its schema.
func (c Catalogue) asListed(name string, o result.Outcome) result.Outcome {
	return c.Upstream.registry().routes[name].envelope.Fitting(o)
}

// Encode passes on what the server wrote, or writes the envelope.
func (c Catalogue) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }
