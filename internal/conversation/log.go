package conversation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
)

const eventTTL = 24 * time.Hour // after a log's last event; a stream can be resumed that long

// Log names an event log: one of a conversation, or the small one of a person.
type Log struct {
	key          string
	conversation string       // empty: a person's
	owner        access.Owner // of the conversation
}

// Log is the event log of the conversation.
func (c Conversation) Log() Log { return Log{logKey(c.ID), c.ID, c.Owner} }

func logKey(conversation string) string { return "events:" + conversation }

// PersonLog is the event log of a person: titles, and waiting and answered
// changes of all their conversations.
func PersonLog(o access.Owner) Log { return Log{key: "person:" + o.String()} }

// beginning is the id before the first event of a log.
const beginning = "0-0"

func readable(id string) string {
	if id == beginning {
		return ""
	}
	return id
}

// events writes and reads event logs.
type events struct {
	logs sealed.Logs
	ring *seal.Ring
}

// append adds events to a log and returns the id of the last one.
func (e events) append(ctx context.Context, l Log, all ...Event) (id string, err error) {
	for _, event := range all {
		plain, err := event.MarshalBinary()
		if err != nil {
			return "", err
		}
		sealed := func(id string) ([]byte, error) {
			return append([]byte(sealedMark), e.ring.SealBytes(plain, l.binding(id))...), nil
		}
		if id, err = e.logs.Append(ctx, l.key, eventTTL, sealed); err != nil {
			return "", err
		}
	}
	return id, nil
}

// last returns the id of the newest event, or beginning when there is none.
func (e events) last(ctx context.Context, l Log) (string, error) {
	id, err := e.logs.LastID(ctx, l.key)
	if err == nil && id == "" {
		id = beginning
	}
	return id, err
}

// read returns the events after an id, as many as one read of a log has. A gap is EVENTS_GONE.
func (e events) read(ctx context.Context, l Log, after string) ([]Event, error) {
	entries, err := e.logs.ReadAfter(ctx, l.key, readable(after), readAhead)
	if errors.Is(err, state.ErrGap) {
		return nil, eventsGone.New("What followed that event is no longer kept.").Because(err)
	}
	if err != nil {
		return nil, err
	}
	all := make([]Event, len(entries))
	for i, entry := range entries {
		if all[i], err = e.open(l, entry); err != nil {
			return nil, fmt.Errorf("reading event %s of %s: %w", entry.ID, l.key, err)
		}
		all[i].ID = entry.ID
	}
	return all, nil
}

// sealedMark begins the entries that the gateway sealed.
const sealedMark = "sealed."

// binding keeps an event from being read in another log, or at another place.
func (l Log) binding(id string) []byte { return []byte("event/1/" + l.key + "/" + id) }

// open reads an entry at its place. Only a person's log has entries that are not
// sealed: the servers' hints that a change waits or was answered.
func (e events) open(l Log, entry state.Entry) (event Event, err error) {
	sealed, ok := bytes.CutPrefix(entry.Data, []byte(sealedMark))
	if !ok {
		return hint(l, entry.Data)
	}
	plain, err := e.ring.OpenBytes(sealed, l.binding(entry.ID))
	if err != nil {
		return event, unreadableEvent("it was altered, or sealed with other keys").Because(err)
	}
	return event, event.UnmarshalBinary(plain)
}

// hint reads an entry of a server, which shares no key with the gateway. Only the fields
// that name the change are kept, and readers ask its server for everything else.
func hint(l Log, plain []byte) (Event, error) {
	var e Event
	if err := e.UnmarshalBinary(plain); err != nil {
		return e, err
	}
	if l.conversation != "" || e.Type != Change {
		return Event{}, unreadableEvent("it is not sealed")
	}
	return Event{Type: Change, Confirmation: e.Confirmation, Server: e.Server, Tool: e.Tool, Status: e.Status, Expires: e.Expires}, nil
}
