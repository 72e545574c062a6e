package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
)

// archive keeps conversations: a record each, its messages as a log, and per
// owner a set of ids.
type archive struct {
	redis Redis
	now   func() time.Time
}

// conversation is the record of one. It belongs to its owner alone.
type conversation struct {
	ID      string       `json:"id"`
	Owner   access.Owner `json:"owner"`
	Title   string       `json:"title"`
	Model   string       `json:"model,omitempty"` // that answered last
	Created time.Time    `json:"created"`
	Updated time.Time    `json:"updated"`
}

const (
	maxTitle         = 80  // characters
	maxConversations = 200 // listed, the newest
)

// conversationNotFound is also what a stranger hears: whether it exists is not
// their business.
var conversationNotFound = &fault.Code{
	Name: "CONVERSATION_NOT_FOUND", Kind: fault.NotFound, Status: http.StatusNotFound,
	Meaning: "The conversation is unknown, deleted, or somebody else's.",
	Suggest: "Start a new conversation, or list yours.",
}

var conversationID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// create makes a conversation, named after its first question. It is stored by
// touch.
func (a archive) create(ctx context.Context, o access.Owner, question string) (conversation, error) {
	c := conversation{ID: newID(), Owner: o, Title: titleOf(question), Created: a.now().UTC()}
	return c, a.redis.Join(ctx, ownedKey(o.String()), c.ID, conversationLife)
}

func titleOf(question string) string {
	line := strings.Join(strings.Fields(question), " ")
	if runes := []rune(line); len(runes) > maxTitle {
		return string(runes[:maxTitle-1]) + "…"
	}
	return line
}

// touch stores the record anew: somebody spoke.
func (a archive) touch(ctx context.Context, c conversation) error {
	c.Updated = a.now().UTC()
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return a.redis.Set(ctx, conversationKey(c.ID), b, conversationLife)
}

// open returns the owner's conversation, or CONVERSATION_NOT_FOUND.
func (a archive) open(ctx context.Context, o access.Owner, id string) (conversation, error) {
	if !conversationID.MatchString(id) {
		return conversation{}, noConversation()
	}
	c, ok, err := a.find(ctx, id)
	if err != nil {
		return conversation{}, err
	}
	if !ok || c.Owner != o {
		return conversation{}, noConversation()
	}
	return c, nil
}

func noConversation() error { return conversationNotFound.New("There is no such conversation.") }

func (a archive) find(ctx context.Context, id string) (c conversation, ok bool, err error) {
	b, ok, err := a.redis.Get(ctx, conversationKey(id))
	if err != nil || !ok {
		return c, false, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, false, fmt.Errorf("reading conversation %s: %w", id, err)
	}
	return c, true, nil
}

// list returns the owner's conversations, newest first. Ids whose record has
// expired leave the set.
func (a archive) list(ctx context.Context, o access.Owner) ([]conversation, error) {
	ids, err := a.redis.Members(ctx, ownedKey(o.String()))
	if err != nil {
		return nil, err
	}
	list := make([]conversation, 0, len(ids))
	for _, id := range ids {
		c, ok, err := a.find(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			err = a.redis.Leave(ctx, ownedKey(o.String()), id)
		default:
			list = append(list, c)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(x, y conversation) int { return cmp.Or(y.Updated.Compare(x.Updated), strings.Compare(x.ID, y.ID)) })
	return list[:min(len(list), maxConversations)], nil
}

// remove deletes everything of a conversation.
func (a archive) remove(ctx context.Context, c conversation) error {
	if err := a.redis.Leave(ctx, ownedKey(c.Owner.String()), c.ID); err != nil {
		return err
	}
	for _, key := range []string{conversationKey(c.ID), messagesKey(c.ID), eventsKey(c.ID), openKey(c.ID), cancelKey(c.ID), turnKey(c.ID)} {
		if err := a.redis.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// say keeps a message that no model gave.
func (a archive) say(ctx context.Context, id string, m agent.Message) error {
	return a.add(ctx, id, entry{Message: m})
}

// add keeps messages. Logs only grow, so that a turn and an outcome that come
// at the same time cannot overwrite each other.
func (a archive) add(ctx context.Context, id string, entries ...entry) error {
	for _, e := range entries {
		e.At = a.now().UTC()
		b, err := encodeEntry(e)
		if err != nil {
			return err
		}
		if _, err := a.redis.Append(ctx, messagesKey(id), b, conversationLife); err != nil {
			return err
		}
	}
	return nil
}

// read returns a conversation's messages with their ids, oldest first.
func (a archive) read(ctx context.Context, id string) (ids []string, entries []entry, err error) {
	for after := ""; ; after = ids[len(ids)-1] {
		found, err := a.redis.ReadAfter(ctx, messagesKey(id), after, readAhead, 0)
		if err != nil || len(found) == 0 {
			return ids, entries, err
		}
		for _, f := range found {
			e, err := decodeEntry(f.Data)
			if err != nil {
				return nil, nil, fmt.Errorf("reading a message of conversation %s: %w", id, err)
			}
			ids, entries = append(ids, f.ID), append(entries, e)
		}
	}
}

// history returns the messages of the conversation. The agent cuts them.
func (a archive) history(ctx context.Context, id string) ([]agent.Message, error) {
	_, entries, err := a.read(ctx, id)
	messages := make([]agent.Message, len(entries))
	for i, e := range entries {
		messages[i] = e.Message
	}
	return messages, err
}
