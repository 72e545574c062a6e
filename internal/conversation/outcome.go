package conversation

import (
	"context"
	"log/slog"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation/sealed"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// linkTTL is as long as a confirmation and its receipt are kept.
const linkTTL = confirm.TTL + confirm.Memory

// outcomes writes the outcome of an answered confirmation into the conversation
// in which it was asked for.
type outcomes struct {
	keys   sealed.Keys
	store  store
	events events
	log    *slog.Logger
	now    func() time.Time
}

func linkKey(confirmation string) string     { return "confirmation:" + confirmation }
func recordedKey(confirmation string) string { return "recorded:" + confirmation }

// waits keeps the conversation in which a change waits.
func (o outcomes) waits(ctx context.Context, c Conversation, confirmation string) {
	if err := o.keys.Set(ctx, linkKey(confirmation), c.ID, linkTTL); err != nil {
		o.log.WarnContext(ctx, "the outcome will not reach its conversation", "error", err)
	}
}

// conversationOf returns the conversation in which a change was asked for; empty
// when it was not in one, or when the link was altered: an outcome must not reach
// another person's conversation.
func (o outcomes) conversationOf(ctx context.Context, confirmation string) (string, error) {
	id, _, err := o.keys.Get(ctx, linkKey(confirmation))
	return id, err
}

// record writes the outcome into its conversation: once, however often it is
// recorded.
func (o outcomes) record(ctx context.Context, confirmation string, outcome result.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	sentence, final := sentenceOf(outcome)
	if !final {
		return
	}
	if err := o.write(ctx, confirmation, sentence, outcome.Code()); err != nil {
		o.log.WarnContext(ctx, "an outcome did not reach its conversation", "error", err)
	}
}

func (o outcomes) write(ctx context.Context, confirmation, sentence, status string) error {
	id, err := o.conversationOf(ctx, confirmation)
	if err != nil || id == "" {
		return err
	}
	c, ok, err := o.store.find(ctx, id)
	if err != nil || !ok {
		return err
	}
	recorded, first, err := o.keys.SetNew(ctx, recordedKey(confirmation), id, linkTTL, linkTTL)
	if err != nil || !first {
		return err
	}
	if err := o.store.add(ctx, id, Message{Message: agent.TextMessage(agent.System, sentence)}); err != nil {
		_, _ = o.keys.Remove(ctx, recordedKey(confirmation), recorded) // the next request for it tries again
		return err
	}
	answered := Event{Type: Answered, Conversation: id, Confirmation: confirmation, Text: sentence, Status: status, At: o.now().UTC()}
	_, err = o.events.append(ctx, c.Log(), answered)
	return err
}

// Sentence returns the sentence that people read about an answer to a confirmation,
// in the tool's own words.
func Sentence(o result.Outcome) string {
	sentence, _ := sentenceOf(o)
	return sentence
}

// sentenceOf returns the sentence that people read about an answer, in the
// tool's own words. It is not final while it is unknown whether the change was
// made.
func sentenceOf(o result.Outcome) (sentence string, final bool) {
	switch {
	case o.Pending() != nil:
		return "", false
	case o.Fault() != nil:
		kind := o.Fault().Kind()
		return o.Fault().Message, kind != fault.Unavailable && o.Fault().Code != fault.InternalError
	case o.Denied() == nil && o.Message() == "":
		return "The change was made.", true
	}
	return o.Message(), true
}
