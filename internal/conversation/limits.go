package conversation

import (
	"cmp"
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/quota"
)

// writeTime is for what is still written when a turn or its client has ended.
const writeTime = 5 * time.Second

// Limits bound what one person can ask for. Zero fields take the default.
type Limits struct {
	TurnTime time.Duration // of one turn; 3 minutes
	Answer   time.Duration // of one answer of a model that has no timeout of its own; 1 minute
	History  int           // tokens of one request to a model that has no budget of its own; 8,192
	Retain   int           // messages that a model gets of any conversation, the newest; 10
	Messages int           // messages that it gets at most; 100
	Rows     int           // rows of a tool's answer in an event; 50
	Data     int           // bytes of a tool's answer in an event; 64 KiB

	SummariseAbove int // tokens of a conversation above which its older turns are summarised; 0: when they no longer fit
}

func (l *Limits) fill() {
	l.History, l.Retain, l.Messages = cmp.Or(l.History, 8192), cmp.Or(l.Retain, 10), cmp.Or(l.Messages, 100)
	l.TurnTime, l.Answer = cmp.Or(l.TurnTime, 3*time.Minute), cmp.Or(l.Answer, time.Minute)
	l.Rows, l.Data = cmp.Or(l.Rows, 50), cmp.Or(l.Data, 64<<10)
}

// fullRetry is how long a person without room is advised to wait: conversations
// are deleted by their person, or end after recordTTL.
const fullRetry = time.Minute

// hasSpace returns RATE_LIMITED when the owner has too many conversations to begin
// one, or has stored too much to go on in any. Nothing is deleted to make room:
// that is the person's decision. A turn that has begun is stored whole.
func (s store) hasSpace(ctx context.Context, o access.Owner, begins bool) error {
	if s.quotas == nil {
		return nil
	}
	ids, err := s.owned.Members(ctx, ownedKey(o))
	if err != nil {
		return err
	}
	limits := s.quotas.Limits()
	if begins && len(ids) >= limits.Conversations {
		if ids, err = s.unexpired(ctx, o); err != nil {
			return err
		}
		if len(ids) >= limits.Conversations {
			return s.quotas.Refuse(quota.Conversations, fullRetry, "You have %d conversations, which is the limit.", len(ids)).
				Suggest("Delete one that you no longer need, and ask again.")
		}
	}
	logs := []string{PersonLog(o).key}
	for _, id := range ids {
		logs = append(logs, messagesKey(id), logKey(id))
	}
	stored, err := s.sizes.Sizes(ctx, logs...)
	if err == nil && stored >= limits.Stored {
		return s.quotas.Refuse(quota.Stored, fullRetry, "Your conversations take %d bytes, and %d is the limit.", stored, limits.Stored).
			Tell("Your conversations take all of the %d MB that there are for them.", max(limits.Stored>>20, 1)).
			Suggest("Delete conversations that you no longer need, and ask again.")
	}
	return err
}

// unexpired returns the ids of the owner's conversations whose record exists.
func (s store) unexpired(ctx context.Context, o access.Owner) ([]string, error) {
	if _, err := s.list(ctx, o); err != nil { // expired ones leave the set
		return nil, err
	}
	return s.owned.Members(ctx, ownedKey(o))
}
