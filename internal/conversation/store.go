package conversation

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/state"
)

const (
	recordTTL        = 30 * 24 * time.Hour // of a conversation, after its last message
	maxConversations = 200                 // listed, the newest
	readAhead        = 200                 // entries that one read of a log returns
	maxPage          = 1 << 20             // stored bytes of messages after which a page ends
	pageAhead        = 20                  // entries that one read for a page returns: more would be dropped
)

// keyValues keeps records.
type keyValues interface {
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
}

// members keeps the ids of an owner's conversations.
type members interface {
	Join(ctx context.Context, set, member string, ttl time.Duration) error
	Leave(ctx context.Context, set, member string) error
	Members(ctx context.Context, set string) ([]string, error)
}

// sizes returns how many bytes logs have.
type sizes interface {
	Sizes(ctx context.Context, logs ...string) (int64, error)
}

// store keeps conversations: a sealed record each, its sealed messages as a log,
// and per owner a set of ids.
type store struct {
	keys   keyValues
	owned  members
	logs   sealed.Logs
	sizes  sizes
	quotas *quota.Quotas
	sealer sealer
	log    *slog.Logger
	now    func() time.Time
}

func recordKey(id string) string         { return "conversation:" + id }
func messagesKey(id string) string       { return "messages:" + id }
func ownedKey(owner access.Owner) string { return "conversations:" + owner.String() }

// create makes a conversation, named after its first question, under a reserved id
// or, when that is empty, a new one. It is stored by save.
func (s store) create(ctx context.Context, o access.Owner, id, question string) (Conversation, error) {
	c := Conversation{ID: cmp.Or(id, newID()), Owner: o, Title: titleOf(question), Created: s.now().UTC()}
	return c, s.owned.Join(ctx, ownedKey(o), c.ID, recordTTL)
}

// save stores the record and renews its TTL, and that of its place in the owner's list. A list that was read
// before it was stored has dropped it.
func (s store) save(ctx context.Context, c Conversation) error {
	c.Updated = s.now().UTC()
	b, err := s.sealer.sealConversation(c)
	if err != nil {
		return err
	}
	if err := s.keys.Set(ctx, recordKey(c.ID), b, recordTTL); err != nil {
		return err
	}
	return s.owned.Join(ctx, ownedKey(c.Owner), c.ID, recordTTL)
}

// open returns the owner's conversation, or CONVERSATION_NOT_FOUND.
func (s store) open(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	if !idPattern.MatchString(id) {
		return Conversation{}, errNotFound(id)
	}
	c, ok, err := s.find(ctx, id)
	if err != nil {
		return Conversation{}, err
	}
	if !ok || c.Owner != o {
		return Conversation{}, errNotFound(id)
	}
	return c, nil
}

// openListed is open that also finds conversations in the owner's list whose record
// cannot be read: they have nothing but an id.
func (s store) openListed(ctx context.Context, o access.Owner, id string) (Conversation, error) {
	c, err := s.open(ctx, o, id)
	if !fault.Is(err, unreadable) {
		return c, err
	}
	ids, failed := s.owned.Members(ctx, ownedKey(o))
	if failed != nil || !slices.Contains(ids, id) {
		return Conversation{}, cmp.Or(failed, err)
	}
	return Conversation{ID: id, Owner: o}, nil
}

func (s store) find(ctx context.Context, id string) (c Conversation, ok bool, err error) {
	b, ok, err := s.keys.Get(ctx, recordKey(id))
	if err != nil || !ok {
		return c, false, err
	}
	c, err = s.sealer.openConversation(id, b)
	return c, err == nil, err
}

// list returns the owner's conversations, newest first. Ids whose record has
// expired leave the set; records that cannot be read say so.
func (s store) list(ctx context.Context, o access.Owner) ([]Listed, error) {
	ids, err := s.owned.Members(ctx, ownedKey(o))
	if err != nil {
		return nil, err
	}
	list := make([]Listed, 0, len(ids))
	for _, id := range ids {
		b, ok, err := s.keys.Get(ctx, recordKey(id))
		if err == nil && !ok {
			err = s.owned.Leave(ctx, ownedKey(o), id)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if c := s.listed(ctx, id, b); c.Unreadable != "" || c.Owner == o { // the set itself is not sealed
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(x, y Listed) int {
		return cmp.Or(y.Updated.Compare(x.Updated), strings.Compare(x.ID, y.ID))
	})
	return list[:min(len(list), maxConversations)], nil
}

func (s store) listed(ctx context.Context, id string, record []byte) Listed {
	c, err := s.sealer.openConversation(id, record)
	if err != nil {
		s.log.WarnContext(ctx, "a conversation cannot be read", "error", err)
		return Listed{Conversation{ID: id}, fault.From(err).Message}
	}
	return Listed{Conversation: c}
}

// add stores messages. Logs only grow, so that a turn and an outcome that come
// at the same time cannot overwrite each other.
func (s store) add(ctx context.Context, conversation string, messages ...Message) error {
	for _, m := range messages {
		m.At = s.now().UTC()
		seal := func(id string) ([]byte, error) { return s.sealer.sealMessage(conversation, id, m) }
		if _, err := s.logs.Append(ctx, messagesKey(conversation), recordTTL, seal); err != nil {
			return err
		}
	}
	return nil
}

// messages returns a conversation's messages, oldest first.
func (s store) messages(ctx context.Context, conversation string) ([]Message, error) {
	all, _, err := s.read(ctx, conversation, "", readAhead, math.MaxInt)
	return all, err
}

// page returns the messages after an id, and whether others follow them.
func (s store) page(ctx context.Context, conversation, after string) (found []Message, more bool, err error) {
	found, more, err = s.read(ctx, conversation, after, pageAhead, maxPage)
	if errors.Is(err, state.ErrGap) {
		err = fault.BadRequest.New("The conversation has no message with the id in after.").Suggest("Read it from its beginning, without after.")
	}
	return found, more, err
}

// read returns messages until they have so many bytes. It ends before no results, which
// are read with their calls.
func (s store) read(ctx context.Context, conversation, after string, ahead, most int) (all []Message, more bool, err error) {
	for size := 0; ; {
		found, err := s.logs.ReadAfter(ctx, messagesKey(conversation), after, ahead)
		if err != nil || len(found) == 0 {
			return all, false, err
		}
		for _, f := range found {
			m, err := s.sealer.openMessage(conversation, f.ID, f.Data)
			if err != nil {
				return nil, false, err
			}
			if size >= most && m.Role != agent.ToolRole {
				return all, true, nil
			}
			all, size, after = append(all, m), size+len(f.Data), f.ID
		}
	}
}

// history returns the messages as the agent takes them, which cuts them itself.
func (s store) history(ctx context.Context, conversation string) ([]agent.Message, error) {
	stored, err := s.messages(ctx, conversation)
	messages := make([]agent.Message, len(stored))
	for i, m := range stored {
		messages[i] = m.Message
	}
	return messages, err
}

const draftTTL = 24 * time.Hour // of a reserved id that no question has used

// drafts are the ids of conversations that were reserved for their owner and have
// no question yet. They are in no list.
type drafts struct{ keys sealed.Keys }

func draftKey(id string) string { return "draft:" + id }

// reserve returns a fresh id that the owner's first question may use.
func (d drafts) reserve(ctx context.Context, o access.Owner) (id string, err error) {
	id = newID()
	return id, d.keys.Set(ctx, draftKey(id), o.String(), draftTTL)
}

// has reports whether the id is reserved for the owner.
func (d drafts) has(ctx context.Context, o access.Owner, id string) (bool, error) {
	if !idPattern.MatchString(id) {
		return false, nil
	}
	owner, ok, err := d.keys.Get(ctx, draftKey(id))
	return ok && owner == o.String(), err
}
