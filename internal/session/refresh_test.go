package session_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/session"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// clock is the time of everything in a test.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

// rotating is an issuer whose refresh tokens are valid once, and whose access
// tokens last ten minutes.
type rotating struct {
	*clock

	mu      sync.Mutex
	newest  int
	role    access.Role
	fails   error
	calls   int
	entered chan struct{} // a refresh has come here
	hold    chan struct{} // and waits here, where there is one
}

const tokenLife = 10 * time.Minute

func (i *rotating) tokens() auth.Tokens {
	return auth.Tokens{Access: fmt.Sprintf("a%d %s", i.newest, i.role), Refresh: fmt.Sprintf("r%d", i.newest), Expires: i.now().Add(tokenLife)}
}

func (*rotating) Start(context.Context) (string, auth.Flow, error) {
	return "https://issuer.test/", auth.Flow{State: "s"}, nil
}

func (i *rotating) Finish(context.Context, url.Values, auth.Flow) (auth.Tokens, *access.Principal, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tokens(), testkit.Tokened("ann", "first", i.now(), tokenLife, i.role), nil
}

func (*rotating) EndSessionURL(context.Context, string) (string, error) { return "", nil }

func (i *rotating) Refresh(ctx context.Context, t auth.Tokens) (auth.Tokens, error) {
	i.mu.Lock()
	i.calls++
	hold := i.hold
	i.mu.Unlock()
	if hold != nil {
		i.entered <- struct{}{}
		select {
		case <-hold:
		case <-time.After(testkit.Patience): // more than one came here: the test fails below
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.fails != nil:
		return auth.Tokens{}, i.fails
	case ctx.Err() != nil:
		return auth.Tokens{}, fault.ServiceDown.New("The caller left.")
	case t.Refresh != fmt.Sprintf("r%d", i.newest):
		return auth.Tokens{}, fault.Unauthorized.New("Reused: %s.", t.Refresh)
	}
	i.newest++
	return i.tokens(), nil
}

// verify accepts an access token for its life.
func (i *rotating) verify(_ context.Context, token string, began auth.SignIn) (*access.Principal, error) {
	var n int
	var role access.Role
	if _, err := fmt.Sscanf(token, "a%d %s", &n, &role); err != nil {
		return nil, fault.Unauthorized.New("The token is not valid.")
	}
	return testkit.Tokened("ann", began.TokenID, began.Issued, tokenLife, role), nil
}

// replicas are two services over one Redis, and the browser of a signed-in person.
type replicas struct {
	*rotating
	t       *testing.T
	all     [2]*session.Service
	mini    *miniredis.Miniredis
	cookie  *http.Cookie
	revoked atomic.Pointer[string]
	failing atomic.Bool // nothing can be revoked
}

func newReplicas(t *testing.T) *replicas {
	t.Helper()
	r := &replicas{t: t, mini: miniredis.RunT(t), rotating: &rotating{clock: &clock{}, role: "employee", entered: make(chan struct{}, 10)}}
	r.at.Store(time.Now().UnixNano())
	for n := range r.all {
		redis, err := state.Open(t.Context(), "redis://"+r.mini.Addr(), &state.Options{Timeout: testkit.Patience})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = redis.Close() })
		r.all[n], err = session.New(session.Options{
			PublicURL: "http://gateway.test", Issuer: r.rotating, Verify: r.verify, Ring: testkit.Ring("cookie"), Keys: redis, Now: r.now,
			Revoke: func(_ context.Context, _, tokenID string) error {
				if r.failing.Load() {
					return errors.New("refused")
				}
				r.revoked.Store(&tokenID)
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.signIn()
	return r
}

func (r *replicas) signIn() {
	r.t.Helper()
	begun, back := httptest.NewRecorder(), httptest.NewRecorder()
	asked := httptest.NewRequest("GET", "/login", nil)
	if r.cookie != nil {
		asked.AddCookie(r.cookie)
	}
	if err := r.all[0].Login(begun, asked); err != nil {
		r.t.Fatal(err)
	}
	returned := httptest.NewRequest("GET", "/callback?state=s&code=c", nil)
	returned.AddCookie(begun.Result().Cookies()[0])
	if err := r.all[0].Callback(back, returned); err != nil {
		r.t.Fatal(err)
	}
	for _, c := range back.Result().Cookies() {
		if c.Name == "countersign" {
			r.cookie = c
		}
	}
}

// asks makes a request of the browser to a replica.
func (r *replicas) asks(ctx context.Context, replica int) (*access.Principal, error) {
	req := httptest.NewRequestWithContext(ctx, "GET", "/api/user", nil)
	req.AddCookie(r.cookie)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	p, _, err := r.all[replica].Principal(httptest.NewRecorder(), req)
	return p, err
}

func (r *replicas) signOut() error {
	out := httptest.NewRequest("POST", "/logout", nil)
	out.AddCookie(r.cookie)
	out.Header.Set("Sec-Fetch-Site", "same-origin")
	return r.all[1].Logout(httptest.NewRecorder(), out)
}

func (r *replicas) asked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *replicas) set(change func(*rotating)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r.rotating)
}

func TestSessionOutlivesItsTokens(t *testing.T) {
	r := newReplicas(t)
	for n := range 30 { // five hours
		if p, err := r.asks(t.Context(), n%2); err != nil || !p.HasAny("employee") {
			t.Fatalf("after %d tokens: %v, %v", n, p, err)
		}
		r.pass(tokenLife)
		r.mini.FastForward(tokenLife)
	}
	r.set(func(i *rotating) { i.role = "auditor" })
	r.pass(tokenLife)
	if p, err := r.asks(t.Context(), 0); err != nil || !p.HasAny("auditor") || p.HasAny("employee") || p.TokenID() != "first" {
		t.Errorf("with other roles: %v, %v, want those of the new token and the sign-in of the first", p, err)
	}
	if want := int(r.cookie.MaxAge); want < 24*3600 {
		t.Errorf("the cookie lasts %d s, which ends the session before the issuer does", want)
	}
}

// TestOneRefreshForManyRequests: two tabs at two replicas, at once, again and
// again, with an issuer that takes each refresh token once.
func TestOneRefreshForManyRequests(t *testing.T) {
	r := newReplicas(t)
	for round := range 20 {
		r.pass(tokenLife)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				if _, err := r.asks(t.Context(), n%2); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		all.Wait()
		if got := r.asked(); got != round+1 {
			t.Fatalf("after %d rounds the issuer was asked %d times", round+1, got)
		}
	}
}

// TestRequestsGoOnDuringARefresh: near its end a token still serves the others;
// when it is over they wait for the new one. The one who refreshes may leave.
func TestRequestsGoOnDuringARefresh(t *testing.T) {
	r := newReplicas(t)
	r.set(func(i *rotating) { i.hold = make(chan struct{}) })
	r.pass(tokenLife - 10*time.Second)
	leaving, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _, _ = r.asks(leaving, 0) })
	<-r.entered
	if p, err := r.asks(t.Context(), 1); err != nil || p == nil {
		t.Errorf("while the token is valid: %v, %v", p, err)
	}
	r.pass(11 * time.Second)
	all.Go(func() {
		if p, err := r.asks(t.Context(), 1); err != nil || p == nil {
			t.Errorf("while the token is over: %v, %v", p, err)
		}
	})
	leave()
	r.set(func(i *rotating) { close(i.hold); i.hold = nil })
	all.Wait()
	if r.asked() != 1 {
		t.Errorf("the issuer was asked %d times", r.asked())
	}
}

func TestRefusedRefreshEndsTheSessionEverywhere(t *testing.T) {
	r := newReplicas(t)
	r.set(func(i *rotating) { i.fails = fault.Unauthorized.New("The person signed out at the issuer.") })
	r.pass(tokenLife - time.Second)
	for n := range r.all {
		if _, err := r.asks(t.Context(), n); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("replica %d: %v, want UNAUTHENTICATED", n, err)
		}
	}
	if id := r.revoked.Load(); id == nil || *id != "first" {
		t.Errorf("revoked %v, want the sign-in, so that open streams end", id)
	}
	if r.asked() != 1 {
		t.Errorf("the issuer was asked %d times", r.asked())
	}
}

func TestIssuerThatIsAwayEndsNoSession(t *testing.T) {
	r := newReplicas(t)
	r.set(func(i *rotating) {
		i.fails = fault.ServiceDown.New("The issuer is away.").Because(errors.New("refused"))
	})
	r.pass(tokenLife - 10*time.Second)
	if p, err := r.asks(t.Context(), 0); err != nil || p == nil {
		t.Errorf("while the token is valid: %v, %v", p, err)
	}
	r.pass(11 * time.Second)
	r.mini.FastForward(11 * time.Second) // the pause after a failed refresh is over
	if _, err := r.asks(t.Context(), 1); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("while the token is over: %v, want SERVICE_UNAVAILABLE", err)
	}
	r.set(func(i *rotating) { i.fails = nil })
	r.mini.FastForward(11 * time.Second)
	if p, err := r.asks(t.Context(), 0); err != nil || p == nil {
		t.Errorf("when the issuer is back: %v, %v", p, err)
	}
}

// TestSignOutDuringARefreshStays: the new tokens do not bring back a session that
// ended while the issuer was asked.
func TestSignOutDuringARefreshStays(t *testing.T) {
	r := newReplicas(t)
	r.set(func(i *rotating) { i.hold = make(chan struct{}) })
	r.pass(tokenLife - 10*time.Second)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.asks(t.Context(), 0); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("the refreshing request: %v, want UNAUTHENTICATED", err)
		}
	})
	<-r.entered
	if err := r.signOut(); err != nil {
		t.Fatal(err)
	}
	r.set(func(i *rotating) { close(i.hold); i.hold = nil })
	all.Wait()
	if _, err := r.asks(t.Context(), 1); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after it: %v, want UNAUTHENTICATED", err)
	}
	if r.revoked.Load() == nil {
		t.Error("signing out did not end what the session has open")
	}
}

// TestSignInEndsTheEarlierSession of the browser, which does not send its strict cookie when another site, the
// issuer, sends it back.
func TestSignInEndsTheEarlierSession(t *testing.T) {
	r := newReplicas(t)
	earlier := r.cookie
	r.signIn()
	if p, err := r.asks(t.Context(), 1); err != nil || p == nil {
		t.Errorf("the new one: %v, %v", p, err)
	}
	if r.cookie = earlier; r.revoked.Load() == nil {
		t.Error("its sign-in was not revoked")
	}
	if _, err := r.asks(t.Context(), 1); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the earlier one: %v, want UNAUTHENTICATED", err)
	}
}

// TestSignOutThatFailsCanBeRepeated: what it did not revoke is not lost with the session.
func TestSignOutThatFailsCanBeRepeated(t *testing.T) {
	r := newReplicas(t)
	r.failing.Store(true)
	if err := r.signOut(); err == nil {
		t.Error("nothing was revoked, and the sign-out says nothing")
	}
	r.failing.Store(false)
	if err := r.signOut(); err != nil || r.revoked.Load() == nil {
		t.Errorf("again: %v, revoked %v", err, r.revoked.Load())
	}
	if _, err := r.asks(t.Context(), 0); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after it: %v, want UNAUTHENTICATED", err)
	}
}

// TestSessionEndsAfterTwoWeeks: a revocation holds for thirty days, so no session
// may last longer than that.
func TestSessionEndsAfterTwoWeeks(t *testing.T) {
	r := newReplicas(t)
	day := 24*time.Hour - tokenLife
	for n := range 16 {
		_, err := r.asks(t.Context(), 0)
		if ended := fault.Is(err, fault.Unauthorized); ended != (n > 14) {
			t.Fatalf("after %d days: %v", n, err)
		}
		r.pass(day)
		r.mini.FastForward(day)
	}
}

// TestSignInIsOverAfterTenMinutes: whatever a browser keeps, the answer of an issuer begins no
// session for a sign-in that was begun longer ago.
func TestSignInIsOverAfterTenMinutes(t *testing.T) {
	r := newReplicas(t)
	for late, ends := range map[time.Duration]bool{9 * time.Minute: false, 11 * time.Minute: true} {
		begun, back := httptest.NewRecorder(), httptest.NewRecorder()
		if err := r.all[0].Login(begun, httptest.NewRequest("GET", "/login", nil)); err != nil {
			t.Fatal(err)
		}
		r.pass(late)
		returned := httptest.NewRequest("GET", "/callback?state=s&code=c", nil)
		returned.AddCookie(begun.Result().Cookies()[0])
		if err := r.all[1].Callback(back, returned); ends != fault.Is(err, fault.Unauthorized) || !ends && err != nil {
			t.Errorf("after %v: got %v", late, err)
		}
	}
}

// TestOldSessionPutBackEndsWithItsSeal: someone who puts a session back, under whatever
// TTL, makes it last no longer than it would have, and no longer than its issuer lets it.
func TestOldSessionPutBackEndsWithItsSeal(t *testing.T) {
	r := newReplicas(t)
	key := r.mini.Keys()[0]
	first := testkit.StoredKey(t, r.mini, key)
	r.pass(tokenLife)
	if _, err := r.asks(t.Context(), 0); err != nil { // refreshed
		t.Fatal(err)
	}
	last := testkit.StoredKey(t, r.mini, key)
	testkit.PutKey(t, r.mini, key, first) // with a refresh token that was used
	if p, err := r.asks(t.Context(), 0); p != nil || !fault.Is(err, fault.Unauthorized) {
		t.Errorf("before its refresh: got %v, %v, want it ended", p, err)
	}
	r.pass(15 * 24 * time.Hour)
	testkit.PutKey(t, r.mini, key, last)
	if p, err := r.asks(t.Context(), 0); p != nil || !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after its end: got %v, %v, want it ended", p, err)
	}
}

// TestForgedLeaseKeepsNoOneOut: somebody who can write to Redis can hold the lease of a refresh,
// in any type. The session goes on while its token is valid, and is renewed when the key is gone.
func TestForgedLeaseKeepsNoOneOut(t *testing.T) {
	r := newReplicas(t)
	session := r.mini.Keys()[0]
	lease := strings.Replace(session, "session:", "session-refresh:", 1)
	r.pass(tokenLife - 30*time.Second)
	for name, forge := range map[string]func(){
		"text": func() { _ = r.mini.Set(lease, "x") },
		"hash": func() { r.mini.HSet(lease, "a", "b") },
		"list": func() { _, _ = r.mini.Lpush(lease, "x") },
	} {
		r.mini.Del(lease)
		forge()
		if p, err := r.asks(t.Context(), 0); p == nil || err != nil {
			t.Errorf("%s: got %v, %v, want the person", name, p, err)
		}
	}
	if n := r.asked(); n != 0 {
		t.Errorf("got %d refreshes beside the lease, want none", n)
	}
	r.mini.Del(lease)
	if p, err := r.asks(t.Context(), 0); p == nil || err != nil || r.asked() != 1 {
		t.Errorf("without it: got %v, %v and %d refreshes, want one", p, err, r.asked())
	}
}
