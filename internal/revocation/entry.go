package revocation

import (
	"encoding/json"
	"time"

	"countersign.dev/internal/access"
)

// entry is one line of the list: what it is about, and which tokens of that no
// longer count.
type entry struct {
	about
	Before time.Time `json:"before,omitzero"` // tokens issued until then; zero: every token, for good
}

// about names a token, a person or an address. It is a key of the copy that each
// process holds.
type about struct {
	Token   string `json:"jti,omitempty"` // with the issuer, or of any when that is empty
	Issuer  string `json:"iss,omitempty"`
	Subject string `json:"sub,omitempty"`
	Address string `json:"email,omitempty"` // verified, in lower case
}

func (e entry) encode() (string, error) {
	b, err := json.Marshal(e)
	return string(b), err
}

func decode(text string) (entry, error) {
	var e entry
	err := json.Unmarshal([]byte(text), &e)
	return e, err
}

// copied is a process's copy of the list. It is never changed: a new one
// replaces it.
type copied struct {
	version string
	held    map[string]time.Time // until when, by the text of the entry
	marks   map[about]time.Time  // Before, by what the entry is about; zero: for good
}

// newCopy merges what Redis has with what is still held here, so that an entry
// that Redis lost, or has with an earlier end, is not forgotten. lost are those
// entries, but for the ones that end soon: processes with other clocks have
// removed them.
func newCopy(before *copied, listed map[string]time.Time, version string, now time.Time) (c *copied, lost map[string]time.Time) {
	c = &copied{version: version, held: make(map[string]time.Time, len(listed)), marks: make(map[about]time.Time, len(listed))}
	lost = make(map[string]time.Time)
	for text, until := range listed {
		c.add(text, until, now)
	}
	for text, until := range before.held {
		if !c.held[text].Before(until) {
			continue
		}
		c.add(text, until, now)
		if now.Add(time.Minute).Before(until) {
			lost[text] = until
		}
	}
	return c, lost
}

// add takes an entry unless it is over or cannot be read. Of two about the same,
// the one that ends more tokens counts.
func (c *copied) add(text string, until, now time.Time) {
	e, err := decode(text)
	if err != nil || !now.Before(until) {
		return
	}
	c.held[text] = until
	mark, there := c.marks[e.about]
	if !there || !mark.IsZero() && (e.Before.IsZero() || e.Before.After(mark)) {
		c.marks[e.about] = e.Before
	}
}

// with is the copy and more entries.
func (c *copied) with(entries map[string]time.Time, now time.Time) *copied {
	next, _ := newCopy(c, nil, c.version, now)
	for text, until := range entries {
		next.add(text, until, now)
	}
	return next
}

// state says what has happened to a principal's token.
type state int

const (
	counts state = iota
	revoked
	ended
)

// of returns the state of a principal's token.
func (c *copied) of(p *access.Principal) state {
	owner := p.Owner()
	if p.Email() != "" && c.holds(about{Address: p.Email()}, p) {
		return ended
	}
	mark, there := c.marks[about{Issuer: owner.Issuer, Subject: owner.Subject}]
	switch {
	case there && mark.IsZero():
		return ended
	case there && !p.Issued().After(mark):
		return revoked
	case p.TokenID() != "" && (c.holds(about{Token: p.TokenID()}, p) || c.holds(about{Token: p.TokenID(), Issuer: owner.Issuer}, p)):
		return revoked
	}
	return counts
}

func (c *copied) holds(a about, p *access.Principal) bool {
	mark, there := c.marks[a]
	return there && (mark.IsZero() || !p.Issued().After(mark))
}
