package conversation

import (
	"context"
	"time"

	"countersign.dev/internal/fault"
)

// openKeys keeps, while a turn writes, the id before its first event.
type openKeys interface {
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
}

// recovery closes the events of turns that a crash cut off.
type recovery struct {
	keys   openKeys
	events events
	leases leases
}

func openKey(id string) string { return "open:" + id }

// opened notes that a turn begins to write, before its first event.
func (r recovery) opened(ctx context.Context, conversation string) error {
	before, err := r.events.last(ctx, logOf(conversation))
	if err != nil {
		return err
	}
	return r.keys.Set(ctx, openKey(conversation), []byte(before), eventTTL)
}

// closed notes that a turn wrote its last event.
func (r recovery) closed(ctx context.Context, conversation string) error {
	_, _, err := r.keys.Take(ctx, openKey(conversation))
	return err
}

// recover closes the turn of a conversation in which none runs any more, so
// that no reader waits for its end. Of several that find it, one does so.
func (r recovery) recover(ctx context.Context, conversation string) error {
	if held, err := r.leases.held(ctx, conversation); err != nil || held {
		return err
	}
	return r.close(ctx, conversation)
}

// close writes the end of an open turn, unless it is written. The caller holds
// the lease, or knows that no turn does.
func (r recovery) close(ctx context.Context, conversation string) error {
	before, open, err := r.keys.Take(ctx, openKey(conversation))
	if err != nil || !open {
		return err
	}
	if _, ended, err := r.endOf(ctx, conversation, string(before)); err != nil || ended {
		return err
	}
	_, err = r.events.append(ctx, logOf(conversation),
		Event{Type: Failed, Text: "The answer was interrupted. Please ask again.", Code: fault.ServiceDown.Name},
		Event{Type: Stopped}, Event{Type: Done})
	return err
}

// endOf looks for the end of the turn whose events begin after an id.
func (r recovery) endOf(ctx context.Context, conversation, before string) (id string, ended bool, err error) {
	for {
		found, err := r.events.read(ctx, logOf(conversation), before, 0)
		if fault.Is(err, eventsGone) { // so long a turn that its beginning was trimmed
			return "", false, nil
		}
		if err != nil || len(found) == 0 {
			return "", false, err
		}
		for _, e := range found {
			if before = e.ID; e.Type == Done {
				return e.ID, true, nil
			}
		}
	}
}

// covered returns the id up to which a conversation's messages contain its
// events. A running turn is in its events alone, from its beginning.
func (r recovery) covered(ctx context.Context, conversation string) (id string, running bool, err error) {
	if err := r.recover(ctx, conversation); err != nil {
		return "", false, err
	}
	before, open, err := r.keys.Get(ctx, openKey(conversation))
	if err != nil {
		return "", false, err
	}
	if !open {
		id, err = r.events.logs.LastID(ctx, logOf(conversation).key)
		return id, false, err
	}
	id, ended, err := r.endOf(ctx, conversation, string(before))
	if err != nil || ended {
		return id, false, err
	}
	return string(before), true, nil
}
