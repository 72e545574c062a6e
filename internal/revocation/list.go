package revocation

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// The times of the list.
const (
	Life  = 30 * 24 * time.Hour // of an entry; a token that lives longer than that must not be issued
	Every = time.Second         // how often a process reads the list
	Grace = 30 * time.Second    // how old a copy may be before requests are rejected
	Whole = 30 * time.Second    // how often the list is read whole, whatever version it says it has

	readTimeout = time.Second // of one read

	// clockSkew is how far the issuer's clock may be ahead: a person's tokens that
	// say they were issued up to so much after the revocation end with it.
	clockSkew = 10 * time.Second
)

// Name names the list in Redis.
const Name = "revoked"

// Store keeps the list, each entry until a time. Package state has it.
type Store interface {
	// Enlist puts entries on the list, each until its time.
	Enlist(ctx context.Context, entries map[string]time.Time, now time.Time) error
	// Listed returns the entries and the version of the list, and no entries while
	// the version is the known one.
	Listed(ctx context.Context, known string) (entries map[string]time.Time, version string, err error)
}

// Options are the rarer settings; nil and zero are good defaults.
type Options struct {
	Log *slog.Logger     // nil: none
	Now func() time.Time // nil: time.Now

	// Restored is called when entries that this process holds were missing in Redis,
	// or ended earlier there, and are put back. Nil: it is logged only.
	Restored func(ctx context.Context)
}

// List is a process's view of the list. It is safe for concurrent use.
type List struct {
	store Store
	log   *slog.Logger
	now   func() time.Time

	restored func(context.Context)

	copy  atomic.Pointer[copied]
	fresh atomic.Int64 // when the copy was last read, in Unix nanoseconds; 0: never

	changing sync.Mutex // one change of the copy at a time
	whole    time.Time  // when the list was last read whole

	mu       sync.Mutex
	watching map[*watch]struct{}
}

// watch is something that ends with its principal's right.
type watch struct {
	who *access.Principal
	end func(error)
}

// New makes a list. Until its first [List.Refresh] it rejects everyone.
func New(store Store, o *Options) *List {
	if o == nil {
		o = &Options{}
	}
	l := &List{store: store, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), now: o.Now, restored: o.Restored, watching: make(map[*watch]struct{})}
	if l.now == nil {
		l.now = time.Now
	}
	l.copy.Store(&copied{})
	return l
}

// Run reads the list every second until ctx ends.
func (l *List) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.Refresh(ctx)
		if err != nil && !failing {
			l.log.WarnContext(ctx, "the list of revoked sign-ins cannot be read", "error", err, "grace", Grace)
		}
		failing = err != nil
	}
}

// Refresh reads the list once, and ends what its new entries end. When it fails,
// everything ends that the age of the copy no longer permits.
func (l *List) Refresh(ctx context.Context) error {
	err := l.read(ctx)
	l.sweep()
	return err
}

func (l *List) read(ctx context.Context) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	began, before := l.now(), l.copy.Load()
	known := before.version
	if began.Sub(l.whole) >= Whole { // the version may have been put back
		known = anyVersion
	}
	listed, version, err := l.store.Listed(ctx, known)
	if err != nil {
		return err
	}
	if listed != nil {
		l.whole = began
		next, lost := newCopy(before, listed, version, began)
		l.copy.Store(next)
		err = l.restore(ctx, lost, began)
	}
	l.fresh.Store(began.UnixNano())
	return err
}

// anyVersion is the version of no list.
const anyVersion = "any"

// restore gives back to Redis what it lost.
func (l *List) restore(ctx context.Context, lost map[string]time.Time, now time.Time) error {
	if len(lost) == 0 {
		return nil
	}
	l.log.WarnContext(ctx, "revoked sign-ins were missing in Redis, or ended earlier there: they are put back", "entries", len(lost))
	if l.restored != nil {
		l.restored(ctx)
	}
	return l.store.Enlist(ctx, lost, now)
}

// Ready is SERVICE_UNAVAILABLE when the copy is older than [Grace]: every principal is
// rejected then.
func (l *List) Ready() error {
	if l.now().UnixNano()-l.fresh.Load() > int64(Grace) {
		return fault.ServiceDown.New("It cannot be checked at the moment whether sign-ins were revoked.").After(5 * time.Second)
	}
	return nil
}

// Check rejects a principal whose token no longer counts: ACCOUNT_ENDED or
// SIGN_IN_REVOKED, and SERVICE_UNAVAILABLE when the list is not [List.Ready].
func (l *List) Check(p *access.Principal) error {
	if err := l.Ready(); err != nil {
		return err
	}
	switch l.copy.Load().of(p) {
	case ended:
		return fault.AccountEnded.New("This account has ended.")
	case revoked:
		return fault.SignInRevoked.New("This sign-in has been ended.")
	}
	return nil
}

// Watch calls end once, with the fault, when [List.Check] begins to reject the
// principal; at once if it does already. stop ends the watch.
func (l *List) Watch(p *access.Principal, end func(error)) (stop func()) {
	w := &watch{p, end}
	l.mu.Lock()
	l.watching[w] = struct{}{}
	l.mu.Unlock()
	if err := l.Check(p); err != nil && l.leave(w) { // the list may have changed since the caller was checked
		end(err)
	}
	return func() { l.leave(w) }
}

// leave ends a watch, and reports whether this call did.
func (l *List) leave(w *watch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.watching[w]
	delete(l.watching, w)
	return there
}

// sweep ends every watch whose principal is rejected.
func (l *List) sweep() {
	l.mu.Lock()
	all := make([]*watch, 0, len(l.watching))
	for w := range l.watching {
		all = append(all, w)
	}
	l.mu.Unlock()
	for _, w := range all {
		if err := l.Check(w.who); err != nil && l.leave(w) {
			w.end(err)
		}
	}
}

// RevokeToken ends one token, by its jti. An empty issuer means any.
func (l *List) RevokeToken(ctx context.Context, issuer, id string) error {
	return l.enlist(ctx, entry{about: about{Token: id, Issuer: issuer}})
}

// RevokePerson ends every token of a person that was issued until now. They can
// sign in again, after [clockSkew].
func (l *List) RevokePerson(ctx context.Context, o access.Owner) error {
	before := l.now().Add(clockSkew).UTC().Truncate(time.Second)
	return l.enlist(ctx, entry{about{Issuer: o.Issuer, Subject: o.Subject}, before})
}

// End ends accounts for good: their tokens and every later sign-in are rejected,
// and so is everyone who proves their address. Accounts that have ended already cost
// nothing.
func (l *List) End(ctx context.Context, accounts []access.Account) error {
	var all []entry
	for _, a := range accounts {
		if a.Subject != "" {
			all = append(all, entry{about: about{Issuer: a.Issuer, Subject: a.Subject}})
		}
		if a.Address != "" {
			all = append(all, entry{about: about{Address: a.Address}})
		}
	}
	return l.enlist(ctx, all...)
}

// enlist writes the entries that are not on the list for at least half a life,
// and ends at once what they end here.
func (l *List) enlist(ctx context.Context, all ...entry) error {
	now := l.now()
	held := l.copy.Load().held
	entries, until := make(map[string]time.Time), now.Add(Life).Truncate(time.Millisecond) // as Redis keeps it
	for _, e := range all {
		text, err := e.encode()
		if err != nil {
			return err
		}
		if held[text].Sub(now) < Life/2 {
			entries[text] = until
		}
	}
	if len(entries) == 0 {
		return nil
	}
	if err := l.store.Enlist(ctx, entries, now); err != nil {
		return err
	}
	l.changing.Lock()
	l.copy.Store(l.copy.Load().with(entries, now))
	l.changing.Unlock()
	l.sweep()
	return nil
}
