package upstream

import (
	"context"

	"golang.org/x/sync/errgroup"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// shownAtOnce bounds the servers that are asked at the same time for one list.
const shownAtOnce = 8

// Permit reports whether the principal in the context may answer confirmations.
func (u *Upstream) Permit(ctx context.Context, id string) error {
	who, err := access.From(ctx)
	switch {
	case err != nil:
		return err
	case u.o.Confirm != nil:
		return u.o.Confirm.Permit(ctx, who, confirm.ID(id))
	case !who.MayConfirm():
		return fault.InsufficientScope.New("This token may not approve or deny changes.")
	}
	return nil
}

// Confirmation returns a confirmation of the principal in the context, as the
// server that owns it shows it. The host reads no card from the store.
func (u *Upstream) Confirmation(ctx context.Context, id string) (result.Confirmation, error) {
	who, err := access.From(ctx)
	if err != nil {
		return result.Confirmation{}, err
	}
	entry, known, err := u.o.entryOf(ctx, id)
	switch {
	case err != nil:
		return result.Confirmation{}, err
	case !known:
		return result.Confirmation{}, errNoConfirmation(id)
	}
	s, err := u.registry().serverNamed(entry.Server)
	if err != nil {
		return result.Confirmation{}, err
	}
	return s.show(ctx, who, entry.ID)
}

// show returns a confirmation as its server shows it; a foreign server's are kept
// here.
func (s *server) show(ctx context.Context, who *access.Principal, id confirm.ID) (result.Confirmation, error) {
	switch {
	case !s.foreign():
		return s.fetchConfirmation(ctx, string(id))
	case s.up.o.Confirm == nil:
		return result.Confirmation{}, errNoConfirmation(string(id))
	}
	record, err := s.up.o.Confirm.Get(ctx, who, s.Name, id, executor{s.up, s})
	if err != nil {
		return result.Confirmation{}, err
	}
	return record.View(), nil
}

// fetchConfirmation asks the server for a confirmation that it owns.
func (s *server) fetchConfirmation(ctx context.Context, id string) (result.Confirmation, error) {
	if !s.up.begin() {
		return result.Confirmation{}, s.fault(errClosed)
	}
	defer s.up.work.Done()
	bounded, cancel := s.up.bounded(ctx, s.Timeout)
	defer cancel()
	c, err := s.answers.Confirmation(bounded, id)
	if err != nil {
		return result.Confirmation{}, s.fault(err)
	}
	return c, nil
}

// PendingOf lists what waits for the principal in the context, oldest first, and
// what waits and cannot be shown.
func (u *Upstream) PendingOf(ctx context.Context) (shown []result.Confirmation, unshown []result.Unshown, err error) {
	who, err := access.From(ctx)
	if err != nil || u.o.Entries == nil {
		return nil, nil, err
	}
	entries, err := u.o.Entries.PendingOf(ctx, who.Owner())
	if err != nil {
		return nil, nil, err
	}
	servers := u.registry()
	found, failed := make([]result.Confirmation, len(entries)), make([]error, len(entries))
	var asking errgroup.Group
	asking.SetLimit(shownAtOnce)
	for i, entry := range entries {
		asking.Go(func() error {
			s, err := servers.serverNamed(entry.Server)
			if failed[i] = err; err == nil {
				found[i], failed[i] = s.show(ctx, who, entry.ID)
			}
			return nil
		})
	}
	_ = asking.Wait()
	for i, entry := range entries {
		switch {
		case failed[i] == nil && found[i].State == string(confirm.Pending):
			shown = append(shown, found[i])
		case failed[i] != nil && !notTheirs(failed[i]) && u.o.Now().Before(entry.Expires):
			unshown = append(unshown, result.Unshown{ID: string(entry.ID), Server: entry.Server, Expires: entry.Expires, Message: fault.From(failed[i]).Message})
		}
	}
	return shown, unshown, nil
}

// notTheirs reports whether the server says that nothing waits for this person:
// the entry is out of date, or was not written by us.
func notTheirs(err error) bool {
	return fault.Is(err, fault.ConfirmationNotFound) || fault.Is(err, fault.UserMismatch)
}
