package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/seal"
)

// TicketLife is how long a ticket may wait for its use.
const TicketLife = 30 * time.Second

// TicketKeys keeps tickets. Package state has it.
type TicketKeys interface {
	Set(ctx context.Context, key string, value []byte, life time.Duration) error
	// Take returns a value and deletes it; of several callers one gets it.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
}

// Tickets let a client open one stream whose request cannot carry a token: a
// browser's EventSource or WebSocket on a page of another origin. A ticket is
// exchanged for the token that it was issued for, once, so that it has the rights
// and the end of that token and an address in a log is worth nothing.
type Tickets struct {
	Ring *seal.Ring // seals the tokens
	Keys TicketKeys
	Now  func() time.Time // nil: time.Now
}

// sealedTicket is what is kept of a ticket: a value that someone put back after its
// end is none.
type sealedTicket struct {
	Token string    `json:"token"`
	Ends  time.Time `json:"ends"`
}

func ticketKey(digest string) string { return "ticket:" + digest }

func (t Tickets) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// Issue returns a ticket for a token, which the caller has verified.
func (t Tickets) Issue(ctx context.Context, token string) (ticket string, err error) {
	ticket = rand.Text()
	digest := digestOf(ticket)
	plain, err := json.Marshal(sealedTicket{token, t.now().Add(TicketLife)})
	if err != nil {
		return "", err
	}
	return ticket, t.Keys.Set(ctx, ticketKey(digest), t.Ring.SealBytes(plain, []byte(ticketKey(digest))), TicketLife)
}

// Serve serves POST /api/ticket to a caller with a bearer token, which bearer reads. Our
// own page needs no ticket: its cookie is sent with streams.
func (t Tickets) Serve(bearer func(*http.Request) (token string, ok bool)) func(http.ResponseWriter, *http.Request, *access.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
		token, ok := bearer(r)
		if !ok {
			return fault.BadRequest.New("A ticket is issued for a bearer token.").Suggest("Open the stream as it is: the browser sends your session with it.")
		}
		ticket, err := t.Issue(r.Context(), token)
		if err != nil {
			return err
		}
		return httpx.JSON(w, http.StatusOK, map[string]any{"ticket": ticket, "expiresIn": int(TicketLife.Seconds())})
	}
}

// Redeem returns the token of a ticket, once. A ticket that was used, is older
// than [TicketLife] or was never issued is UNAUTHENTICATED.
func (t Tickets) Redeem(ctx context.Context, ticket string) (token string, err error) {
	digest := digestOf(ticket)
	sealed, ok, err := t.Keys.Take(ctx, ticketKey(digest))
	if err != nil {
		return "", err
	}
	var kept sealedTicket
	plain, err := t.Ring.OpenBytes(sealed, []byte(ticketKey(digest)))
	if err == nil {
		err = json.Unmarshal(plain, &kept)
	}
	if !ok || err != nil || !t.now().Before(kept.Ends) {
		return "", fault.Unauthorized.New("The ticket was used, is older than %s, or was never issued.", TicketLife).
			Instruct("Get a new one with POST /api/ticket.").Because(err)
	}
	return kept.Token, nil
}
