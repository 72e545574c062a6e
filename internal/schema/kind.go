package schema

import (
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/english"
)

// Kind is what a property holds, by its schema and its name; empty when it is none of these.
type Kind string

// The kinds of properties.
const (
	ID     Kind = "id"
	Date   Kind = "date"
	Number Kind = "number"
	Choice Kind = "choice" // one of a fixed set of values
	Order  Kind = "order"  // the order in which rows come
	Paging Kind = "paging" // which rows of a list come, or how much of each
	Text   Kind = "text"   // any words
	Title  Kind = "title"  // what rows are called
	Search Kind = "search" // what rows mention
	Prose  Kind = "prose"  // sentences
)

var paging = []string{"limit", "cursor", "offset", "page", "page_size", "pagesize", "per_page"}

// Kind is the kind of the property. That a text or a number is an id may be declared, or be said by its name.
func (p Property) Kind(isID bool) Kind {
	number := p.Type == "number" || p.Type == "integer"
	words := english.Stems(english.Words(p.Name)...)
	has := func(of ...string) bool {
		return slices.ContainsFunc(of, func(w string) bool { return words[english.Stem(w)] })
	}
	switch {
	case slices.Contains(paging, strings.ToLower(p.Name)), slices.Contains(p.Enum, "summary"):
		return Paging
	case len(p.Enum) > 0 && has("sort", "order", "sorting", "ordering"):
		return Order
	case len(p.Enum) > 0:
		return Choice
	case (p.Type == "string" || number) && (p.Format == "uuid" || isID):
		return ID
	case p.Format == "date" || p.Format == "date-time":
		return Date
	case number:
		return Number
	case p.Type != "string" || p.Format != "":
		return ""
	case has("query", "search", "keyword", "text"):
		return Search
	case has("name", "title", "term", "phrase", "label", "subject"):
		return Title
	case p.MaxLength >= 200:
		return Prose
	}
	return Text
}

// Identify is an id as the property takes it; nil when the text is none.
func (p Property) Identify(text string) any {
	n, err := strconv.Atoi(text)
	switch {
	case p.Type == "integer" && err == nil:
		return n
	case p.Type == "integer" || p.Format == "uuid" && !IsUUID(text):
		return nil
	}
	return text
}
