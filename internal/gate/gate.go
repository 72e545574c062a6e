package gate

import (
	"context"
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/memo"
	"countersign.dev/internal/quota"
)

// Options say what a gate lets through. Verify is required.
type Options struct {
	// Verify proves a bearer token. Its faults are answered as they are:
	// UNAUTHENTICATED is 401, SERVICE_UNAVAILABLE (no keys to verify with) 503.
	Verify func(ctx context.Context, token string) (*access.Principal, error)

	// Browser proves the caller of a request of our own page by its cookie. ok
	// is false when the request has none. It is not asked when the request has
	// an Authorization header. Nil: bearer tokens only.
	Browser func(w http.ResponseWriter, r *http.Request) (p *access.Principal, ok bool, err error)

	// Anonymous says whose share a request without a credential uses, where such
	// requests are served; there is no principal in their context. Nil: nowhere.
	Anonymous func(r *http.Request) (o access.Owner, ok bool)

	// Ticket exchanges the ticket of a stream's address for the token that it was
	// issued for, once. Nil: there are no tickets.
	Ticket func(ctx context.Context, ticket string) (token string, err error)

	// Watch calls end, from another goroutine, when Verify would begin to reject
	// the principal's token; stop ends that. Nil: nothing is revoked.
	Watch func(p *access.Principal, end func(error)) (stop func())

	// Refused is called for a request whose host or origin is foreign, whose caller
	// is not proved, or that names another person than its token does. Nil: nothing
	// is recorded.
	Refused func(ctx context.Context, f *fault.Error)

	// Surface is where the calls that pass begin, unless an internal token says it.
	// Empty: at the server.
	Surface access.Surface

	Origins  *httpx.OriginPolicy // checks host and origin; nil: any
	Metadata string              // URL of the RFC 9728 document that a challenge names; may be empty
	Scopes   []string            // that a client asks an issuer for, which a challenge names; may be empty
	MaxBody  int64               // bytes; 0: httpx.MaxBody
	Quotas   *quota.Quotas       // bound what one person, and one address, may ask for; nil: nothing
}

// Gate is what every request passes before anything is done for it, on every
// surface: what its address may still send, host and origin, headers, the caller,
// the purpose of the token, the person's quota, the body, and admission in the
// order of who used least, where the server has a queue.
type Gate struct {
	o         Options
	onSurface *memo.Memo[*access.Principal, *access.Principal] // proved principals as callers on the surface
}

// New makes a gate.
func New(o Options) *Gate {
	if o.MaxBody == 0 {
		o.MaxBody = httpx.MaxBody
	}
	return &Gate{o, memo.New[*access.Principal, *access.Principal](1000)}
}

// Enter checks everything but the body, and returns the request with its
// principal in the context. When the caller is not proved it has set the
// challenge.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	return g.EnterFor(w, r, Calling)
}

// EnterReading is Enter for a request whose body is read next: it is admitted when
// the body is there.
func (g *Gate) EnterReading(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	if err := g.CheckSource(r); err != nil {
		return nil, err
	}
	return g.authenticate(w, r, Calling)
}

// EnterStream is Enter for a stream, whose client may be unable to send headers: a
// ticket in its address counts as the token that it was issued for.
func (g *Gate) EnterStream(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	ticket := r.URL.Query().Get("ticket")
	if ticket == "" || g.o.Ticket == nil || ByToken(r) {
		return g.Enter(w, r)
	}
	if err := g.CheckSource(r); err != nil {
		return nil, err
	}
	token, err := g.o.Ticket(r.Context(), ticket)
	if err != nil {
		g.count(r, err)
		return nil, g.refused(r.Context(), g.challenged(w, err, ""))
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return g.Enter(w, r)
}

// EnterFor is Enter for a use of the token.
func (g *Gate) EnterFor(w http.ResponseWriter, r *http.Request, u Use) (*http.Request, error) {
	if err := g.CheckSource(r); err != nil {
		return nil, err
	}
	r, err := g.authenticate(w, r, u)
	if err != nil {
		return nil, err
	}
	return r, admission.From(r.Context()).Admit(r.Context())
}

// authenticate proves the caller, checks the purpose of the token and counts the
// request. What the gateway asks for with an internal token was counted there.
func (g *Gate) authenticate(w http.ResponseWriter, r *http.Request, u Use) (*http.Request, error) {
	if g.o.Anonymous != nil && !ByToken(r) {
		if o, ok := g.o.Anonymous(r); ok {
			return r, g.share(r, o)
		}
	}
	who, err := g.principal(w, r)
	if err != nil {
		return nil, g.refused(r.Context(), err)
	}
	if err := Permit(who, u); err != nil {
		return nil, err
	}
	if who.Purpose() == access.PurposeNone {
		if err := g.share(r, who.Owner()); err != nil {
			return nil, err
		}
		if g.o.Surface != "" {
			who = g.onSurface.Of(who, func() *access.Principal { return who.WithSurface(g.o.Surface) })
		}
	}
	if who.Purpose() == access.PurposeCall || who.Purpose() == access.PurposeExecute { // a catalogue is for all people
		admission.From(r.Context()).For(who.Owner())
	}
	return r.WithContext(access.With(r.Context(), who)), nil
}

// share counts a request for an owner, whose place in the queue it takes, and
// among those that the owner has open.
func (g *Gate) share(r *http.Request, o access.Owner) error {
	if err := g.o.Quotas.Request(r.Context(), o, r.ContentLength); err != nil {
		return err
	}
	work := admission.From(r.Context()).For(o)
	work.OnEnd(func(answer int64) { g.o.Quotas.Spent(o, quota.Answer(answer)) })
	return work.Open()
}

// refused reports a refusal that no tool will record, and returns it.
func (g *Gate) refused(ctx context.Context, err error) error {
	if err == nil || g.o.Refused == nil {
		return err
	}
	switch f := fault.From(err); {
	case f.Kind() == fault.Unauthenticated, f.Code == fault.UserMismatch, f.Code == fault.ForbiddenRequest, f.Code == fault.TooManyRequests:
		g.o.Refused(ctx, f)
	}
	return err
}

// ReadFor is EnterFor for a request with a JSON body. What the headers rule out is
// rejected before a token is looked at; the body is read after it.
func (g *Gate) ReadFor(w http.ResponseWriter, r *http.Request, u Use) (*http.Request, []byte, error) {
	if err := g.CheckSource(r); err != nil {
		return nil, nil, err
	}
	if err := httpx.CheckHeaders(r, g.o.MaxBody); err != nil {
		return nil, nil, err
	}
	r, err := g.authenticate(w, r, u)
	if err != nil {
		return nil, nil, err
	}
	body, err := httpx.ReadJSON(r, g.o.MaxBody) // the work is admitted when the body is there
	return r, body, err
}

// CheckSource checks what the address of a request may still send, and the host
// and origin, and reports what it refuses.
func (g *Gate) CheckSource(r *http.Request) error {
	if err := g.o.Quotas.Callers().Admit(r.RemoteAddr, credential(r)); err != nil {
		return g.refused(r.Context(), err)
	}
	if g.o.Origins == nil {
		return nil
	}
	err := g.o.Origins.Check(r)
	if err != nil {
		g.o.Quotas.Callers().Unproved(r.RemoteAddr, "")
	}
	return g.refused(r.Context(), err)
}

// CORS answers pages of the allowed origins: see [httpx.OriginPolicy.CORS].
func (g *Gate) CORS(next http.Handler) http.Handler {
	if g.o.Origins == nil {
		return next
	}
	return g.o.Origins.CORS(next)
}

// Uncalled counts a request that needs no caller and is no page, such as one of a
// sign-in, for its address: nil, or RATE_LIMITED.
func (g *Gate) Uncalled(r *http.Request) error {
	if err := g.o.Quotas.Callers().Admit(r.RemoteAddr, credential(r)); err != nil {
		return g.refused(r.Context(), err)
	}
	g.o.Quotas.Callers().Unproved(r.RemoteAddr, "")
	return nil
}
