package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
)

// Options are the parts of a Service. Issuer, Verify, Ring, Keys and PublicURL
// are required.
type Options struct {
	PublicURL string // the address of the page, without a path
	Issuer    Issuer
	Verify    func(ctx context.Context, token string, began auth.SignIn) (*access.Principal, error)
	Revoke    func(ctx context.Context, issuer, tokenID string) error // ends a sign-in on every replica; nil: what a session has open outlives it
	Ring      *seal.Ring                                              // seals cookies and tokens
	Keys      Keys
	Audit     audit.Sink // of those who signed in and out; nil: nothing is recorded
	Refusals  audit.Sink // of sign-ins that failed, which anyone can begin; nil: nothing is recorded
	Log       *slog.Logger
	Now       func() time.Time
}

// Service signs people in and out, and knows the person of a request.
type Service struct {
	o       Options
	cookies cookies
	store   store
}

// New makes a service of its parts, or says that some are missing.
func New(o Options) (*Service, error) {
	if o.Issuer == nil || o.Verify == nil || o.Ring == nil || o.Keys == nil || o.PublicURL == "" {
		return nil, errors.New("sessions need a public address, an issuer, a verifier, a ring and a store")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{o: o, cookies: cookies{o.PublicURL, httpx.NewOriginPolicy(o.PublicURL)}, store: store{o.Keys, o.Ring}}, nil
}

// Principal returns the person of a request of our own page. ok is false when
// the request has no session cookie, so that it must prove its caller otherwise.
func (s *Service) Principal(w http.ResponseWriter, r *http.Request) (p *access.Principal, ok bool, err error) {
	cookie, err := r.Cookie(s.cookies.session())
	if err != nil {
		return nil, false, nil
	}
	if err := s.cookies.origins.SameOrigin(r); err != nil {
		return nil, true, err
	}
	kept, found, err := s.current(r.Context(), cookie.Value)
	switch {
	case errors.As(err, new(errSeal)):
		s.o.Log.WarnContext(r.Context(), "a session could not be opened", "error", err)
	case err != nil:
		return nil, true, err
	case found:
		if p, err = s.o.Verify(r.Context(), kept.Access, kept.Began); err != nil && fault.From(err).Kind() == fault.Unauthenticated {
			s.drop(r.Context(), cookie.Value)
			s.cookies.remove(w, s.cookies.session(), http.SameSiteStrictMode)
		}
		return p, true, err
	}
	s.cookies.remove(w, s.cookies.session(), http.SameSiteStrictMode)
	return nil, true, fault.Unauthorized.New("Your session has ended. Please sign in again.")
}

// Cookie is the name of the cookie that a signed-in browser sends.
func (s *Service) Cookie() string {
	if s == nil {
		return ""
	}
	return s.cookies.session()
}

// drop deletes a session whose token is no longer valid.
func (s *Service) drop(ctx context.Context, id string) {
	if _, _, err := s.store.end(ctx, id); err != nil {
		s.o.Log.WarnContext(ctx, "a session could not be deleted", "error", err)
	}
}

// flowTime is how long a person may take at the issuer's page.
const flowTime = 10 * time.Minute

// flowBinding keeps the flow's cookie from being opened as anything else.
const flowBinding = "sign-in"

// flow is a sign-in under way, sealed in a cookie of the browser that began it.
type flow struct {
	auth.Flow
	Expires time.Time `json:"expires"`
	Session string    `json:"session,omitempty"` // the browser's earlier one: it sends no strict cookie when the issuer sends it back
}

// Login sends the browser to the issuer.
func (s *Service) Login(w http.ResponseWriter, r *http.Request) error {
	return s.recorded(r.Context(), s.login(w, r))
}

func (s *Service) login(w http.ResponseWriter, r *http.Request) error {
	address, started, err := s.o.Issuer.Start(r.Context())
	if err != nil {
		return err
	}
	plain, err := json.Marshal(flow{started, s.o.Now().Add(flowTime), s.idOf(r)})
	if err != nil {
		return err
	}
	// Lax: the issuer sends the browser back from another site.
	s.cookies.set(w, s.cookies.flow(), s.o.Ring.Seal(plain, []byte(flowBinding)), int(flowTime.Seconds()), http.SameSiteLaxMode)
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// Callback ends the sign-in that this browser began, and begins its session.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) error {
	return s.recorded(r.Context(), s.callback(w, r))
}

func (s *Service) callback(w http.ResponseWriter, r *http.Request) error {
	began, err := s.flowOf(r)
	if err != nil {
		return err
	}
	s.cookies.remove(w, s.cookies.flow(), http.SameSiteLaxMode)
	tokens, p, err := s.o.Issuer.Finish(r.Context(), r.URL.Query(), began.Flow)
	if err != nil {
		return err
	}
	if err := s.end(r.Context(), cmp.Or(s.idOf(r), began.Session)); err != nil { // the browser's earlier session
		return err
	}
	begun, life := s.begin(tokens, p)
	id, err := s.store.create(r.Context(), begun, life)
	if err != nil {
		return err
	}
	if !begun.Due.IsZero() {
		life = longest // what is stored decides
	}
	// Strict: nothing but our own page, which needs no session to be shown, may use it.
	s.cookies.set(w, s.cookies.session(), id, int(life.Seconds()), http.SameSiteStrictMode)
	s.record(access.With(r.Context(), p), audit.Event{Step: audit.SignedIn, Roles: access.WriteRoles(p.Roles())})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

func (s *Service) flowOf(r *http.Request) (flow, error) {
	lost := fault.Unauthorized.New("The sign-in took too long or was begun in another browser.").Suggest("Start again from the sign-in page.")
	cookie, err := r.Cookie(s.cookies.flow())
	if err != nil {
		return flow{}, lost
	}
	plain, err := s.o.Ring.Open(cookie.Value, []byte(flowBinding))
	if err != nil {
		return flow{}, lost.Because(err)
	}
	var f flow
	if err := json.Unmarshal(plain, &f); err != nil || s.o.Now().After(f.Expires) {
		return flow{}, lost
	}
	return f, nil
}

// Logout ends the session here and, where the issuer has a page for it, there.
func (s *Service) Logout(w http.ResponseWriter, r *http.Request) error {
	if s.idOf(r) != "" {
		if err := s.cookies.origins.SameOrigin(r); err != nil {
			return err
		}
	}
	if err := s.end(r.Context(), s.idOf(r)); err != nil {
		return err
	}
	s.cookies.remove(w, s.cookies.session(), http.SameSiteStrictMode)
	http.Redirect(w, r, s.logoutURL(r.Context()), http.StatusSeeOther)
	return nil
}

func (s *Service) logoutURL(ctx context.Context) string {
	address, err := s.o.Issuer.EndSessionURL(ctx, s.o.PublicURL+"/")
	if err != nil || address == "" {
		return "/"
	}
	return address
}

// idOf is the id of the browser's session; empty: it sent none.
func (s *Service) idOf(r *http.Request) string {
	cookie, err := r.Cookie(s.cookies.session())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// end ends a session, if there is one, and its token: what the
// session has open ends with it, on every replica. The request that ends it
// records it.
func (s *Service) end(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	kept, ok, err := s.store.read(ctx, id)
	if errors.As(err, new(errSeal)) {
		s.o.Log.WarnContext(ctx, "a session could not be opened", "error", err)
		return nil
	}
	if err != nil || !ok {
		return err
	}
	p, ended := s.o.Verify(ctx, kept.Access, kept.Began) // before it is revoked
	ok, err = s.finish(ctx, id, kept)
	if ok && ended == nil { // else the token ended before its session
		s.record(access.With(ctx, p), audit.Event{Step: audit.SignedOut})
	}
	return err
}

// record records that a person signed in or out.
func (s *Service) record(ctx context.Context, e audit.Event) {
	s.o.Log.InfoContext(ctx, e.Step)
	if s.o.Audit == nil {
		return
	}
	e.Kind, e.Outcome = audit.LoginSession, result.StatusSuccess
	if err := s.o.Audit.Append(ctx, e); err != nil {
		s.o.Log.ErrorContext(ctx, "audit could not be written", "error", err)
	}
}

// recorded records that a sign-in failed, and returns the error.
func (s *Service) recorded(ctx context.Context, err error) error {
	if err == nil || s.o.Refusals == nil {
		return err
	}
	f := fault.From(err)
	failed := audit.Event{Kind: audit.LoginSession, Step: audit.SignInFailed, Outcome: f.Code.Name, Note: f.Message}
	if failure := s.o.Refusals.Append(ctx, failed); failure != nil {
		s.o.Log.ErrorContext(ctx, "audit could not be written", "error", failure)
	}
	return err
}
