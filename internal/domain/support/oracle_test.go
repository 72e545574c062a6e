package support_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/testkit"
)

var day = time.Date(2026, 8, 12, 9, 30, 0, 0, time.UTC)

// Dan sees and changes everything; Amy reads.
var (
	everything = support.ScopeOf(testkit.Person("dan", access.SupportWrite))
	reading    = support.ScopeOf(testkit.Person("amy", access.SupportRead))
)

// book is a set of rows that tests compare answers with.
type book struct {
	tickets  []company.Ticket
	articles []company.Article
}

func bookOf(s company.Support) *book {
	return &book{slices.Collect(s.Tickets), slices.Collect(s.Articles)}
}

func (b *book) rows() company.Support {
	return company.Support{Tickets: slices.Values(b.tickets), Articles: slices.Values(b.articles)}
}

func sample() *book { return bookOf(company.At(day).Support()) }

// tied is a book in which most rows were created at the same moment as others.
func tied(n int) *book {
	b := bookOf(company.ScaledSupport(n, day))
	for i := range b.tickets {
		b.tickets[i].Created = day.Add(time.Duration(i%3) * time.Millisecond)
		b.tickets[i].CustomerID = b.tickets[i%5].CustomerID
	}
	more := bookOf(company.ScaledSupport(60*company.TicketsPerArticle, day)).articles
	for i := range more {
		more[i].Created = day.Add(time.Duration(i%4) * time.Millisecond)
		more[i].Category = []string{"security", "sales"}[i%2]
	}
	b.articles = more
	return b
}

// filler is a book, or a department too large for one.
type filler interface{ rows() company.Support }

func fill(t testing.TB, s support.Store, b filler) {
	t.Helper()
	if err := s.Fill(t.Context(), b.rows()); err != nil {
		t.Fatal(err)
	}
}

// The rules of who sees what and of what a query finds, written a second time
// and as simply as can be: texts are lists of words, and a phrase is a list
// within a list. It knows ASCII only, and queries without glued words.

func seesTickets(p *access.Principal) bool {
	return p.HasAny(access.SupportRead, access.SupportWrite, access.Executive)
}

func seesArticle(p *access.Principal, status string) bool {
	return p.HasAny(access.SupportWrite) || status == "published" && p.HasAny(access.SupportRead, access.Executive)
}

func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func matches(query string, texts ...string) bool {
	words := strings.Fields(query)
	if query == "*" {
		return true
	}
	any, phrase := false, ""
	for _, w := range words {
		switch { // a phrase was cut at its spaces: put it together again
		case strings.Count(w, `"`) == 1 && phrase == "":
			phrase = w
			continue
		case phrase != "" && strings.Contains(w, `"`):
			w, phrase = phrase+" "+w, ""
		case phrase != "":
			phrase += " " + w
			continue
		}
		without := strings.HasPrefix(w, "-")
		any = true
		if has(strings.TrimPrefix(w, "-"), texts) == without {
			return false
		}
	}
	return any
}

func has(term string, texts []string) bool {
	wanted := plainWords(term)
	for _, text := range texts {
		words := plainWords(text)
		for i := range words {
			if strings.HasSuffix(term, "*") && strings.HasPrefix(words[i], wanted[0]) || i+len(wanted) <= len(words) && slices.Equal(words[i:i+len(wanted)], wanted) {
				return true
			}
		}
	}
	return false
}

func ticketTexts(t company.Ticket) []string {
	return append([]string{t.ID, t.Subject, t.Description, t.CustomerName}, t.Tags...)
}

func articleTexts(a company.Article) []string {
	return append([]string{a.ID, a.Title, a.Summary, a.Content}, a.Tags...)
}

// ask is what a person asks a list for.
type ask struct {
	who   *access.Principal
	query string
	q     support.TicketQuery
}

func (a ask) wants(t company.Ticket) bool {
	return seesTickets(a.who) && matches(a.query, ticketTexts(t)...) &&
		(a.q.Status == "" || a.q.Status == t.Status) && (a.q.Priority == "" || a.q.Priority == t.Priority) && (a.q.CustomerID == "" || a.q.CustomerID == t.CustomerID)
}

// want is the ids that the answer must have, newest first.
func (a ask) want(b *book) (ids []string) {
	var rows []company.Ticket
	for _, t := range b.tickets {
		if a.wants(t) {
			rows = append(rows, t)
		}
	}
	slices.SortFunc(rows, func(x, y company.Ticket) int {
		return cmp.Or(y.Created.Compare(x.Created), cmp.Compare(y.ID, x.ID))
	})
	for _, t := range rows {
		ids = append(ids, t.ID)
	}
	return ids
}

// walk reads every page, and calls between after each.
func (a ask) walk(t testing.TB, s support.Store, page int, between func(seen []string)) (ids []string) {
	t.Helper()
	a.q.Limit, a.q.Find = page+1, support.ParseQuery(a.query)
	for {
		rows, err := s.Tickets(soon(t, time.Minute), support.ScopeOf(a.who), a.q)
		if err != nil {
			t.Fatalf("%q: %v", a.query, err)
		}
		for _, row := range rows[:min(page, len(rows))] {
			ids = append(ids, row.ID)
		}
		if len(rows) <= page {
			return ids
		}
		key := rows[page-1].Key()
		a.q.After = &key
		if between != nil {
			between(ids)
		}
	}
}

// walkArticles reads every page of the knowledge base.
func walkArticles(t testing.TB, s support.Store, who *access.Principal, query, category string, page int) (ids []string) {
	t.Helper()
	q := support.ArticleQuery{Find: support.ParseQuery(query), Category: category, Limit: page + 1}
	for {
		rows, err := s.Articles(t.Context(), support.ScopeOf(who), q)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		for _, row := range rows[:min(page, len(rows))] {
			ids = append(ids, row.ID)
		}
		if len(rows) <= page {
			return ids
		}
		key := rows[page-1].Key()
		q.After = &key
	}
}

// anyone is a principal of any kind, with roles or without.
func anyone(r *rand.Rand) *access.Principal {
	var roles []access.Role
	for _, role := range access.Roles() {
		if r.IntN(6) == 0 || role == access.SupportRead && r.IntN(3) > 0 {
			roles = append(roles, role)
		}
	}
	return testkit.Person("somebody", roles...)
}

// anything is a query of a person, its filters, and words that are there.
func anything(r *rand.Rand, b *book) ask {
	row := b.tickets[r.IntN(len(b.tickets))]
	words := plainWords(row.Subject + " " + row.Description)
	some := func() bool { return r.IntN(3) == 0 }
	a := ask{who: anyone(r), query: "*"}
	if !some() {
		var parts []string
		for range 1 + r.IntN(2) {
			parts = append(parts, piece(r, words))
		}
		if some() {
			parts = append(parts, "-"+piece(r, plainWords(b.tickets[r.IntN(len(b.tickets))].Description)))
		}
		a.query = strings.Join(parts, " ")
	}
	if some() {
		a.q.Status = row.Status
	}
	if some() {
		a.q.Priority = row.Priority
	}
	if some() {
		a.q.CustomerID = row.CustomerID
	}
	return a
}

func piece(r *rand.Rand, words []string) string {
	i := r.IntN(len(words) - 1)
	switch r.IntN(4) {
	case 0:
		return `"` + words[i] + " " + words[i+1] + `"`
	case 1:
		return words[i][:1+r.IntN(len(words[i]))] + "*"
	}
	return words[i]
}

// soon is a context that ends quickly.
func soon(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
