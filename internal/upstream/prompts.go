package upstream

import (
	"context"
	"encoding/json"
	"slices"

	"golang.org/x/sync/errgroup"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// prompter is an adapter whose server offers texts to people.
type prompter interface {
	Prompts(ctx context.Context) ([]result.Prompt, error)
	Prompt(ctx context.Context, name string, args map[string]string) (string, error)
}

// Texts are what connected servers offer to people to read.
type Texts struct{ Upstream *Upstream }

// Prompts lists the texts that connected servers offer to the principal in the context:
// those of the servers whose roles they have. A server that cannot be asked is left out.
func (t Texts) Prompts(ctx context.Context) ([]result.Prompt, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	servers := t.Upstream.registry().servers
	of := make([][]result.Prompt, len(servers))
	var listing errgroup.Group
	listing.SetLimit(shownAtOnce)
	for i, s := range servers {
		if !offersPrompts(s, who) {
			continue
		}
		listing.Go(func() error {
			err := asking(ctx, s, func(ctx context.Context, p prompter) (err error) {
				of[i], err = p.Prompts(ctx)
				return err
			})
			if err != nil {
				t.Upstream.o.Log.WarnContext(ctx, "prompts could not be listed", "server", s.Name, "error", err)
			}
			return nil
		})
	}
	_ = listing.Wait()
	return append([]result.Prompt{}, slices.Concat(of...)...), nil
}

// Prompt returns one text, for the person to read. It is recorded as a call is: what the
// person gave for it goes to another company's server.
func (t Texts) Prompt(ctx context.Context, server, name string, args map[string]string) (string, error) {
	who, err := access.From(ctx)
	if err != nil {
		return "", err
	}
	text, err := t.prompt(ctx, who, server, name, args)
	return t.recorded(ctx, server, name, args, text, err)
}

// recorded is the exit of a request for a text. It is withheld without a record where that
// is asked for.
func (t Texts) recorded(ctx context.Context, server, name string, args map[string]string, text string, failed error) (string, error) {
	given, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	e, o := audit.Event{Server: server, Tool: "prompts/get " + fault.Clip(name, maxName), Digest: confirm.Digest(given)}, result.Success(nil, nil, "")
	if failed != nil {
		o = result.Failed(failed)
	}
	if f := o.Fault(); f != nil && f.Code == fault.ServerNotFound {
		e.Server = ""
	}
	if err := t.Upstream.record(ctx, e, o, false); err != nil && t.Upstream.o.FailClosed && failed == nil {
		return "", fault.ServiceDown.New("The answer was withheld because it could not be recorded.").Because(err)
	}
	return text, failed
}

func (t Texts) prompt(ctx context.Context, who *access.Principal, server, name string, args map[string]string) (text string, err error) {
	s, err := t.Upstream.registry().serverNamed(server)
	if err != nil || !offersPrompts(s, who) {
		return "", fault.ServerNotFound.New("No connected server %q offers you texts.", fault.Clip(server, 64)).With("server", server)
	}
	if limit := t.Upstream.o.Limit; limit != nil {
		if err := limit(ctx, who.Owner(), s.Name+" prompts"); err != nil {
			return "", err
		}
	}
	err = asking(ctx, s, func(ctx context.Context, p prompter) error {
		text, err = p.Prompt(ctx, name, args)
		return err
	})
	if err != nil {
		return "", s.fault(err)
	}
	return text, nil
}

func offersPrompts(s *server, who *access.Principal) bool {
	return s.foreign() && hasOne(who, s.Rules.Roles)
}

// asking asks the server within the deadline of a call that reads. One that offers
// nothing is not asked. A panic is its error, so that others' texts are still listed and requests recorded.
func asking(ctx context.Context, s *server, ask func(context.Context, prompter) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panic("asking "+s.Name+" for texts", p)
		}
	}()
	c, counts := s.adapter.(*counted)
	if !counts || !c.begin() {
		return errRemoved
	}
	defer c.calls.Done()
	p, offers := c.Adapter.(prompter)
	if !offers {
		return fault.BadRequest.New("The %s service offers no texts.", s.Name)
	}
	if !s.up.begin() {
		return errClosed
	}
	defer s.up.work.Done()
	bounded, cancel := s.up.bounded(ctx, s.Timeout)
	defer cancel()
	return ask(bounded, p)
}
