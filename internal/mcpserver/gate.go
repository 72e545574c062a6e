package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
)

// GateOptions say what a gate lets through. Verify is required.
type GateOptions struct {
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

	Guard    *httpx.Guard  // checks host and origin; nil: any
	Metadata string        // URL of the RFC 9728 document that a challenge names; may be empty
	Scopes   []string      // that a client asks an issuer for, which a challenge names; may be empty
	MaxBody  int64         // bytes; 0: httpx.MaxBody
	Quotas   *quota.Quotas // bound what one person, and one address, may ask for; nil: nothing
}

// Gate is what every request passes before anything is done for it, on every
// surface: what its address may still send, host and origin, headers, the caller,
// the purpose of the token, the person's quota, the body, and admission in the
// order of who used least, where the server has a queue.
type Gate struct{ o GateOptions }

// NewGate makes a gate.
func NewGate(o GateOptions) *Gate {
	if o.MaxBody == 0 {
		o.MaxBody = httpx.MaxBody
	}
	return &Gate{o}
}

// use is what a request needs a token for.
type use string

const (
	listing   use = "list tools"
	calling   use = "call tools"
	executing use = "answer confirmations"
	showing   use = "read confirmations"
	anyMCP    use = "use MCP" // lists or calls; the message says which
)

// Enter checks everything but the body, and returns the request with its
// principal in the context. When the caller is not proved it has set the
// challenge.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	return g.enter(w, r, calling)
}

// EnterReading is Enter for a request whose body is read next: it is admitted when
// the body is there.
func (g *Gate) EnterReading(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	if err := g.checkSource(r); err != nil {
		return nil, err
	}
	return g.authenticate(w, r, calling)
}

// EnterStream is Enter for a stream, whose client may be unable to send headers: a
// ticket in its address counts as the token that it was issued for.
func (g *Gate) EnterStream(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	ticket := r.URL.Query().Get("ticket")
	if ticket == "" || g.o.Ticket == nil || r.Header.Get("Authorization") != "" {
		return g.Enter(w, r)
	}
	if err := g.checkSource(r); err != nil {
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

// Live returns a context for a stream to the caller of a request that entered. It
// ends with the request, and when the caller's token expires or is revoked; then
// its cause is the fault that says why. A caller of our own page is proved again
// when the token expires, because their session may have been refreshed.
func (g *Gate) Live(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(r.Context())
	stop := func() { end(context.Canceled) }
	who, err := access.From(ctx)
	if err != nil {
		return ctx, stop
	}
	unwatch := func() {}
	if g.o.Watch != nil {
		unwatch = g.o.Watch(who, end)
	}
	unexpire := func() {}
	if at := who.Expires(); !at.IsZero() {
		unexpire = g.expire(r.WithContext(ctx), at, end)
	}
	return ctx, func() { unwatch(); unexpire(); stop() }
}

// expire calls end when the token of a stream's caller, which ends at that time, is
// over and has no successor, until stop is called. An idle stream has no goroutine
// for it.
func (g *Gate) expire(r *http.Request, at time.Time, end func(error)) (stop func()) {
	var (
		mu      sync.Mutex
		stopped bool
		timer   *time.Timer
	)
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(time.Until(at), func() {
		next, err := g.ProveAgain(r)
		if err != nil {
			end(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(time.Until(next.Expires()))
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// ProveAgain returns the caller of a request whose token has expired, if their
// session has another one by now.
func (g *Gate) ProveAgain(r *http.Request) (*access.Principal, error) {
	expired := fault.Unauthorized.New("The sign-in has expired.").Suggest("Sign in again. A program gets a new token.")
	if g.o.Browser == nil || r.Header.Get("Authorization") != "" {
		return nil, expired
	}
	next, ok, err := g.o.Browser(unwritten{}, r)
	switch {
	case err != nil:
		return nil, fault.From(err)
	case !ok || !time.Now().Before(next.Expires()):
		return nil, expired
	}
	return next, nil
}

// unwritten is the writer of an answer that has begun: it has no more headers.
type unwritten struct{ http.ResponseWriter }

func (unwritten) Header() http.Header { return http.Header{} }

// Ended returns why the caller's right to a stream has ended, or nil while it has
// not, or when only the request has.
func Ended(live context.Context) *fault.Error {
	var why *fault.Error
	errors.As(context.Cause(live), &why)
	return why
}

func (g *Gate) enter(w http.ResponseWriter, r *http.Request, u use) (*http.Request, error) {
	if err := g.checkSource(r); err != nil {
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
func (g *Gate) authenticate(w http.ResponseWriter, r *http.Request, u use) (*http.Request, error) {
	if g.o.Anonymous != nil && r.Header.Get("Authorization") == "" {
		if o, ok := g.o.Anonymous(r); ok {
			return r, g.share(r, o)
		}
	}
	who, err := g.principal(w, r)
	if err != nil {
		return nil, g.refused(r.Context(), err)
	}
	if err := permit(who, u); err != nil {
		return nil, err
	}
	if who.Purpose() == access.PurposeNone {
		if err := g.share(r, who.Owner()); err != nil {
			return nil, err
		}
		if g.o.Surface != "" {
			who = who.WithSurface(g.o.Surface)
		}
	}
	if who.Purpose() == access.PurposeCall || who.Purpose() == access.PurposeExecute { // a catalogue is for all people
		admission.From(r.Context()).For(who.Owner())
	}
	return r.WithContext(access.With(r.Context(), who)), nil
}

// share counts a request for an owner, whose place in the queue it takes.
func (g *Gate) share(r *http.Request, o access.Owner) error {
	if err := g.o.Quotas.Request(r.Context(), o, r.ContentLength); err != nil {
		return err
	}
	admission.From(r.Context()).For(o).OnEnd(func(answer int64) { g.o.Quotas.Spent(o, answer) })
	return nil
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

// read is enter for a request with a JSON body. What the headers rule out is
// rejected before a token is looked at; the body is read after it.
func (g *Gate) read(w http.ResponseWriter, r *http.Request, u use) (*http.Request, []byte, error) {
	if err := g.checkSource(r); err != nil {
		return nil, nil, err
	}
	if err := httpx.CheckHeaders(r, g.o.MaxBody); err != nil {
		return nil, nil, err
	}
	r, err := g.authenticate(w, r, u)
	if err != nil {
		return nil, nil, err
	}
	body, err := httpx.ReadJSON(w, r, g.o.MaxBody) // the work is admitted when the body is there
	return r, body, err
}

// auditor reports whether a request carries an auditor's token. It writes
// nothing, so that any other request can be answered as one without a token.
func (g *Gate) auditor(r *http.Request) bool {
	token, _, err := bearer(r)
	if err != nil || g.checkSource(r) != nil {
		return false
	}
	who, err := g.o.Verify(r.Context(), token)
	g.count(r, err)
	return err == nil && who.HasAny(access.Auditor) && permit(who, listing) == nil
}

// Ready answers whether work can be done, as yes or no from a result of the probe
// that is at most 5 s old; failing is the sentence of a no. An auditor also gets
// the details.
func (g *Gate) Ready(w http.ResponseWriter, r *http.Request, probe *httpx.Probe, failing string, details func() map[string]any) error {
	fresh, err := probe.Ask(r.Context())
	switch {
	case err != nil && fresh:
		return fault.ServiceDown.New("%s", failing).Because(err)
	case err != nil:
		return fault.ServiceDown.New("%s", failing)
	}
	status := map[string]any{"status": "ready"}
	if g.auditor(r) {
		maps.Copy(status, details())
	}
	return httpx.JSON(w, http.StatusOK, status)
}

// checkSource checks what the address of a request may still send, and the host
// and origin, and reports what it refuses.
func (g *Gate) checkSource(r *http.Request) error {
	if err := g.o.Quotas.Callers().Admit(r.RemoteAddr, credential(r)); err != nil {
		return g.refused(r.Context(), err)
	}
	if g.o.Guard == nil {
		return nil
	}
	err := g.o.Guard.Check(r)
	if err != nil {
		g.o.Quotas.Callers().Unproved(r.RemoteAddr, "")
	}
	return g.refused(r.Context(), err)
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

// principal proves the caller, and counts a request without one for its address.
func (g *Gate) principal(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	who, err := g.prove(w, r)
	g.count(r, err)
	return who, err
}

func (g *Gate) count(r *http.Request, failed error) {
	switch {
	case failed == nil:
		g.o.Quotas.Callers().Proved(credential(r))
	case fault.From(failed).Kind() == fault.Unauthenticated:
		g.o.Quotas.Callers().Unproved(r.RemoteAddr, credential(r))
	}
}

// credential is what a request proves its caller with, unread.
func credential(r *http.Request) string {
	if given := r.Header.Values("Authorization"); len(given) > 0 {
		return strings.Join(given, "\n")
	}
	return strings.Join(r.Header.Values("Cookie"), "\n")
}

func (g *Gate) prove(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	if g.o.Browser != nil && r.Header.Get("Authorization") == "" {
		if who, ok, err := g.o.Browser(w, r); ok {
			return who, g.challenged(w, err, "")
		}
	}
	token, problem, err := bearer(r)
	if err != nil {
		return nil, g.challenged(w, err, problem)
	}
	who, err := g.o.Verify(r.Context(), token)
	if err == nil && who == nil {
		err = fault.Unauthorized.New("The token has no principal.")
	}
	return who, g.challenged(w, err, `error="invalid_token"`)
}

// bearer reads the token of a request. A token in the address is rejected,
// where logs and histories would keep it.
func bearer(r *http.Request) (token, problem string, err error) {
	given := r.Header.Values("Authorization")
	switch {
	case tokenInQuery(r.URL):
		return "", `error="invalid_request"`, fault.Unauthorized.New("A token must not be in the address. Send it in the Authorization header.")
	case len(given) == 0:
		return "", "", fault.Unauthorized.New("A bearer token is required.")
	}
	words := strings.Fields(given[0])
	if len(given) != 1 || len(words) != 2 || !strings.EqualFold(words[0], "bearer") {
		return "", `error="invalid_request"`, fault.Unauthorized.New("The Authorization header has no bearer token.")
	}
	return words[1], "", nil
}

func tokenInQuery(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "token") {
		return false
	}
	q := u.Query()
	return q.Has("access_token") || q.Has("token")
}

// ChallengeScope names the scope that a token lacks when f is INSUFFICIENT_SCOPE
// (RFC 6750).
func (g *Gate) ChallengeScope(w http.ResponseWriter, f *fault.Error) {
	if f.Code == fault.InsufficientScope {
		g.challenge(w, `error="insufficient_scope", scope="confirm"`)
	}
}

// challenged sets the challenge when err is UNAUTHENTICATED, and returns err.
func (g *Gate) challenged(w http.ResponseWriter, err error, problem string) error {
	if err != nil && fault.From(err).Kind() == fault.Unauthenticated {
		g.challenge(w, problem)
	}
	return err
}

// Challenge names the place where a client gets a token (RFC 6750 and 9728).
// The gate does it by itself for the requests that it rejects.
func (g *Gate) Challenge(w http.ResponseWriter) {
	if w.Header().Get("WWW-Authenticate") == "" {
		g.challenge(w, "")
	}
}

func (g *Gate) challenge(w http.ResponseWriter, problem string) {
	parts := make([]string, 0, 3)
	if problem != "" {
		parts = append(parts, problem)
	}
	if len(g.o.Scopes) > 0 && !strings.Contains(problem, "scope=") {
		parts = append(parts, fmt.Sprintf("scope=%q", strings.Join(g.o.Scopes, " ")))
	}
	if g.o.Metadata != "" {
		parts = append(parts, fmt.Sprintf("resource_metadata=%q", g.o.Metadata))
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parts, ", ")))
}

// permit restricts an internal token to its purpose. A token of an identity
// issuer has none and may do everything that its roles allow, except reading
// confirmations, which only the gateway draws; a purpose that is not known allows
// nothing.
func permit(who *access.Principal, u use) error {
	allowed := false
	switch who.Purpose() {
	case access.PurposeNone:
		allowed = u != showing
	case access.PurposeCall:
		allowed = u != executing
	case access.PurposeCatalogue:
		allowed = u == listing || u == anyMCP
	case access.PurposeExecute:
		allowed = u == executing
	}
	if allowed {
		return nil
	}
	return fault.ForbiddenRequest.New("This token was not issued to %s.", u).Suggest("Use a token that was issued for this purpose.")
}
