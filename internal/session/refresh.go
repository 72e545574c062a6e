package session

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

// The times of a session whose issuer gave a refresh token.
const (
	// longest is how long a session lasts, however often it is refreshed: less than
	// a revocation holds, so that none outlives the revocation that ends it.
	longest = 14 * 24 * time.Hour
	// unused is how long after the end of its access token a session can still be
	// refreshed.
	unused = 24 * time.Hour
	// early is how long before the end of its access token a session is refreshed,
	// unless the token is short: then it is a fifth of its life.
	early = time.Minute

	leaseTime   = 15 * time.Second // for one refresh; more than the issuer may take
	refreshTime = 12 * time.Second // for one refresh with what comes before and after it
	retryAfter  = 2 * time.Second  // pause after a refresh that failed
	waitTime    = 10 * time.Second // for a refresh that another request makes
	waitStep    = 50 * time.Millisecond
)

// begin makes the session of a sign-in, and says how long it is kept.
func (s *Service) begin(t auth.Tokens, p *access.Principal) (r record, life time.Duration) {
	now := s.o.Now()
	return record{Began: auth.SignInOf(p), Ends: now.Add(longest)}.with(t, now)
}

// with is the session with other tokens, and how long it is kept.
func (r record) with(t auth.Tokens, now time.Time) (record, time.Duration) {
	r.Tokens, r.Due = t, time.Time{}
	life := t.Expires.Sub(now)
	if t.Refresh == "" {
		return r, min(life, r.Ends.Sub(now))
	}
	r.Due = t.Expires.Add(-min(early, life/5))
	return r, min(life+unused, r.Ends.Sub(now))
}

// due reports whether the session's tokens are to be refreshed.
func (r record) due(now time.Time) bool { return !r.Due.IsZero() && !now.Before(r.Due) }

// current returns a session, refreshed when its access token is near its end. Of
// several requests, on any replica, one refreshes it; the others go on with the
// token while it is valid, and wait for the next one after that. ok is false when
// the session has ended.
func (s *Service) current(ctx context.Context, id string) (kept stored, ok bool, err error) {
	wait, stop := context.WithTimeoutCause(ctx, waitTime, errRefreshing())
	defer stop()
	for {
		kept, ok, err = s.store.read(ctx, id)
		now := s.o.Now()
		if err == nil && ok && !now.Before(kept.Ends) { // someone put it back
			return stored{}, false, nil
		}
		if err != nil || !ok || !kept.due(now) {
			return kept, ok, err
		}
		lease, err := s.store.lease(ctx, id, leaseTime)
		switch {
		case err != nil:
			return stored{}, false, err
		case lease != nil:
			return s.refresh(ctx, id, lease)
		case now.Before(kept.Expires):
			return kept, true, nil
		}
		select {
		case <-wait.Done():
			return stored{}, false, context.Cause(wait)
		case <-time.After(waitStep):
		}
	}
}

func errRefreshing() error {
	return fault.ServiceDown.New("Your sign-in is being renewed.").After(retryAfter)
}

// refresh refreshes a session as the holder of its lease. A caller that leaves
// does not end it: the issuer may have replaced the refresh token already.
func (s *Service) refresh(ctx context.Context, id string, lease []byte) (kept stored, ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
	defer cancel()
	pause := time.Duration(0)
	defer func() {
		if err := s.store.release(ctx, id, lease, pause); err != nil {
			s.o.Log.WarnContext(ctx, "the lease of a session could not be released", "error", err)
		}
	}()
	kept, ok, err = s.store.read(ctx, id) // another one may have refreshed it before the lease was ours
	if err != nil || !ok || !kept.due(s.o.Now()) {
		return kept, ok, err
	}
	tokens, err := s.o.Issuer.Refresh(ctx, kept.Tokens)
	switch {
	case err == nil:
		return s.renewed(ctx, id, kept, tokens)
	case fault.From(err).Kind() == fault.Unauthenticated:
		s.o.Log.InfoContext(ctx, "the issuer ended a session", "error", err)
		return stored{}, false, s.endRefused(ctx, id)
	}
	pause = retryAfter
	if !s.o.Now().Before(kept.Expires) {
		return stored{}, false, err
	}
	s.o.Log.WarnContext(ctx, "a session could not be refreshed", "error", err)
	return kept, true, nil
}

// renewed stores the tokens of a refresh, unless the session has ended meanwhile.
func (s *Service) renewed(ctx context.Context, id string, was stored, t auth.Tokens) (stored, bool, error) {
	next, life := was.with(t, s.o.Now())
	done, err := s.store.replace(ctx, id, was, next, life)
	return stored{record: next}, done, err
}

// endRefused deletes a session that the issuer ended, and ends what it has open
// on every replica.
func (s *Service) endRefused(ctx context.Context, id string) error {
	kept, ok, err := s.store.read(ctx, id)
	if err != nil || !ok {
		return err
	}
	_, err = s.finish(ctx, id, kept)
	return err
}

// finish revokes the sign-in of a session and then deletes it: when either fails, the session is still there for
// another try. Of several callers one gets ok.
func (s *Service) finish(ctx context.Context, id string, kept stored) (ok bool, err error) {
	if s.o.Revoke != nil {
		if err := s.o.Revoke(ctx, kept.Began.Owner.Issuer, kept.Began.TokenID); err != nil {
			return false, err
		}
	}
	_, ok, err = s.store.end(ctx, id)
	return ok, err
}
