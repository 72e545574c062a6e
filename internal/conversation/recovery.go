package conversation

import (
	"context"

	"countersign.dev/internal/conversation/lease"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
)

// recovery closes the events of turns that a crash cut off.
type recovery struct {
	keys   sealed.Keys
	events events
	leases lease.Leases
}

// openKey names, while a turn writes, the id before its first event.
func openKey(id string) string { return "open:" + id }

// opened notes that a turn begins to write, before its first event.
func (r recovery) opened(ctx context.Context, l Log) error {
	before, err := r.events.last(ctx, l)
	if err != nil {
		return err
	}
	return r.keys.Set(ctx, openKey(l.conversation), before, eventTTL)
}

// closed notes that a turn wrote its last event.
func (r recovery) closed(ctx context.Context, conversation string) error {
	mark, err := r.find(ctx, conversation)
	if err == nil && mark.open {
		_, err = r.keys.Remove(ctx, openKey(conversation), mark.sealed)
	}
	return err
}

// mark is what a turn left in Redis when it began to write.
type mark struct {
	open   bool
	before string // the id before its first event
	sealed []byte // as Redis has it: each turn's is another one
}

func (r recovery) find(ctx context.Context, conversation string) (m mark, err error) {
	m.before, m.sealed, m.open, err = r.keys.Find(ctx, openKey(conversation))
	return m, err
}

// recover writes the end of a turn that was cut off, so that no reader waits for it.
// Of several concurrent callers one writes it. It reports whether a turn runs. The lease is looked at
// after the mark, too: a turn may begin between the two, and the mark be its own.
func (r recovery) recover(ctx context.Context, l Log) (running bool, err error) {
	if held, err := r.leases.Held(ctx, l.conversation); err != nil || held {
		return held, err
	}
	mark, err := r.find(ctx, l.conversation)
	if err != nil || !mark.open {
		return false, err
	}
	if held, err := r.leases.Held(ctx, l.conversation); err != nil || held {
		return held, err
	}
	return false, r.end(ctx, l, mark)
}

// close is recover for a caller that holds the lease.
func (r recovery) close(ctx context.Context, l Log) error {
	mark, err := r.find(ctx, l.conversation)
	if err != nil || !mark.open {
		return err
	}
	return r.end(ctx, l, mark)
}

// end writes the end of the turn of a mark, unless it is written, and that it has ended
// into its owner's log.
func (r recovery) end(ctx context.Context, l Log, m mark) error {
	if removed, err := r.keys.Remove(ctx, openKey(l.conversation), m.sealed); err != nil || !removed {
		return err
	}
	_, ended, err := r.endOf(ctx, l, m.before)
	if err == nil && !ended {
		_, err = r.events.append(ctx, l,
			Event{Type: Failed, Text: "The answer was interrupted. Please ask again.", Code: fault.ServiceDown.Name},
			Event{Type: Stopped}, Event{Type: Done})
	}
	if err != nil {
		return err
	}
	_, err = r.events.append(ctx, PersonLog(l.owner), Event{Type: Turn, Conversation: l.conversation, Status: Ended})
	return err
}

// endOf looks whether the last turn whose events follow an id has ended, and
// where. There are later turns than the first when the id is an old one.
func (r recovery) endOf(ctx context.Context, l Log, before string) (id string, ended bool, err error) {
	for {
		found, err := r.events.read(ctx, l, before)
		if fault.Is(err, eventsGone) { // trimmed: the events that are kept decide
			before = beginning
			continue
		}
		if err != nil || len(found) == 0 {
			return id, ended, err
		}
		for _, e := range found {
			switch before = e.ID; e.Type {
			case Started:
				ended = false
			case Done:
				id, ended = e.ID, true
			}
		}
	}
}

// covered returns the id up to which a conversation's messages contain its
// events. A running turn is in its events alone, from its beginning.
func (r recovery) covered(ctx context.Context, l Log) (id string, running bool, err error) {
	if _, err := r.recover(ctx, l); err != nil {
		return "", false, err
	}
	before, open, err := r.keys.Get(ctx, openKey(l.conversation))
	if err != nil {
		return "", false, err
	}
	if !open {
		id, err = r.events.logs.LastID(ctx, l.key)
		return id, false, err
	}
	id, ended, err := r.endOf(ctx, l, before)
	if err != nil || ended {
		return id, false, err
	}
	return before, true, nil
}
