package support

import (
	"time"

	"countersign.dev/internal/access"
)

// Ticket is a customer's question or complaint.
type Ticket struct {
	ID            string     `json:"ticket_id"`
	Subject       string     `json:"subject"`
	Description   string     `json:"description"`
	Status        string     `json:"status" jsonschema:"enum=open,enum=in_progress,enum=pending,enum=resolved,enum=closed"`
	Priority      string     `json:"priority" jsonschema:"enum=low,enum=medium,enum=high,enum=critical"`
	CustomerID    string     `json:"customer_id" field:"show=detail"`
	CustomerName  string     `json:"customer_name" field:"label=Customer,aka=client"`
	CustomerEmail string     `json:"customer_email" mask:"caller,mailbox" jsonschema:"format=email" jsonschema_description:"Who opened the ticket; only the domain for those who may not change tickets."`
	AssignedTo    *string    `json:"assigned_to" jsonschema:"oneof_type=string;null" jsonschema_description:"E-mail address of the employee who works on it." field:"aka=owner|assignee|agent,aka.none=unassigned|nobody assigned|not assigned|no owner|no assignee|without an owner|without an assignee|without owner"`
	Category      string     `json:"category"`
	Tags          []string   `json:"tags"`
	CreatedAt     time.Time  `json:"created_at" field:"show=detail,aka=opened|created|raised|filed"`
	UpdatedAt     time.Time  `json:"updated_at" field:"show=detail"`
	ResolvedAt    *time.Time `json:"resolved_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	Resolution    string     `json:"resolution,omitempty" jsonschema_description:"What solved it."`
	ClosedBy      string     `json:"closed_by,omitempty" jsonschema_description:"Who closed it, when it was closed here." field:"show=detail"`
	ClosedAt      *time.Time `json:"closed_at,omitempty" jsonschema_description:"When it was closed, when it was closed here." field:"show=detail"`
	Outcome       string     `json:"resolution_type,omitempty" jsonschema:"enum=solved,enum=workaround,enum=duplicate,enum=cannot_reproduce,enum=wont_fix" field:"show=detail"`
	Notified      *bool      `json:"customer_notified,omitempty" jsonschema_description:"Whether the customer was informed; absent when that is not known." field:"show=detail"`
	Score         float64    `json:"_score,omitempty" jsonschema_description:"Relevance: 1 for each term that was found, and 2 more when the subject or title has it." field:"show=detail"`
	Highlight     []string   `json:"highlight,omitempty" jsonschema_description:"Excerpts with the words that were found; each match is enclosed in **." field:"show=detail"`

	Relation access.Relation `json:"-"`
	Version  Version         `json:"-"`
	Any      bool            `json:"-"` // found by any of the words, since no row has all
}

// Key is the ticket's sort key in both orders.
func (t Ticket) Key() Key {
	return Key{Score: t.Score, Created: t.CreatedAt.UnixMilli(), ID: t.ID, Any: t.Any}
}

// Article is a page of the knowledge base.
type Article struct {
	ID        string    `json:"article_id"`
	Title     string    `json:"title"`
	Content   string    `json:"content"`
	Summary   string    `json:"summary"`
	Category  string    `json:"category"`
	Tags      []string  `json:"tags"`
	Author    string    `json:"author" jsonschema_description:"E-mail address of the employee who wrote it."`
	Status    string    `json:"status" jsonschema:"enum=draft,enum=published,enum=archived"`
	Views     int       `json:"view_count" jsonschema:"minimum=0" field:"label=Views"`
	Votes     int       `json:"helpful_votes" jsonschema:"minimum=0" field:"label=Votes,aka=helpful|useful"`
	CreatedAt time.Time `json:"created_at" field:"show=detail"`
	UpdatedAt time.Time `json:"updated_at" field:"show=detail"`
	Score     float64   `json:"_score,omitempty" jsonschema_description:"Relevance: 1 for each term that was found, and 2 more when the subject or title has it." field:"show=detail"`
	Highlight []string  `json:"highlight,omitempty" jsonschema_description:"Excerpts with the words that were found; each match is enclosed in **." field:"show=detail"`

	Any bool `json:"-"` // as of a ticket
}

// Key is the article's sort key in both orders.
func (a Article) Key() Key {
	return Key{Score: a.Score, Created: a.CreatedAt.UnixMilli(), ID: a.ID, Any: a.Any}
}

// Key is a row's sort key: the score (1 for all rows when the query has no words),
// then the time of creation, and then the id; the greatest first.
type Key struct {
	Score   float64 `json:"s"`
	Created int64   `json:"c"` // Unix milliseconds
	ID      string  `json:"i"`
	Any     bool    `json:"a,omitempty"` // found by any of the words, since no row has all
}

// Version is what a store compares before it changes a ticket. SQLite counts a
// number; Elasticsearch has a sequence number and a primary term.
type Version struct {
	Number int64
	Term   int64
}
