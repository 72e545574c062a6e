package support_test

import (
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
	everything = support.ScopeOf(testkit.Person("dan", "support-write"))
	reading    = support.ScopeOf(testkit.Person("amy", "support-read"))
)

// fixture is a set of rows that tests compare answers with.
type fixture struct {
	tickets  []company.Ticket
	articles []company.Article
}

func fixtureOf(s company.Support) *fixture {
	return &fixture{slices.Collect(s.Tickets), slices.Collect(s.Articles)}
}

func (b *fixture) rows() company.Support {
	return company.Support{Tickets: slices.Values(b.tickets), Articles: slices.Values(b.articles)}
}

func sample() *fixture { return fixtureOf(company.At(day).Support()) }

// tied is a fixture in which most rows were created at the same moment as others.
func tied(n int) *fixture {
	b := fixtureOf(company.ScaledSupport(n, day))
	for i := range b.tickets {
		b.tickets[i].Created = day.Add(time.Duration(i%3) * time.Millisecond)
		b.tickets[i].CustomerID = b.tickets[i%5].CustomerID
	}
	more := fixtureOf(company.ScaledSupport(60*company.TicketsPerArticle, day)).articles
	for i := range more {
		more[i].Created = day.Add(time.Duration(i%4) * time.Millisecond)
		more[i].Category = []string{"security", "sales"}[i%2]
	}
	b.articles = more
	return b
}

// filler is a fixture, or a department too large for one.
type filler interface{ rows() company.Support }

func fill(t testing.TB, s support.Store, b filler) {
	t.Helper()
	if err := s.Fill(testkit.Patiently(t), b.rows()); err != nil {
		t.Fatal(err)
	}
}

// The rules of visibility and of the query language, implemented a second time as
// simply as possible: texts are lists of words, and a phrase is a list
// within a list. It knows ASCII only, and queries without glued words.

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

// matchesAny is matches where one of several words is enough.
func matchesAny(query string, texts ...string) bool {
	var with, without []string
	for _, t := range support.ParseQuery(query).With() {
		with = append(with, t.String())
	}
	for _, t := range support.ParseQuery(query).Without() {
		without = append(without, t.String())
	}
	found := func(terms []string) bool {
		return slices.ContainsFunc(terms, func(t string) bool { return has(t, texts) })
	}
	return len(with) > 1 && found(with) && !found(without)
}

func has(term string, texts []string) bool {
	wanted := plainWords(term)
	for _, text := range texts {
		words := plainWords(text)
		for i := range words {
			if len(wanted) == 1 && !strings.HasSuffix(term, "*") && !strings.HasPrefix(term, `"`) && support.Stem(words[i]) == support.Stem(wanted[0]) {
				return true
			}
			if strings.HasSuffix(term, "*") && strings.HasPrefix(words[i], wanted[0]) || i+len(wanted) <= len(words) && slices.Equal(words[i:i+len(wanted)], wanted) {
				return true
			}
		}
	}
	return false
}

func ticketTexts(t company.Ticket) []string {
	return append([]string{t.ID, t.Subject, t.Description, t.CustomerName, t.Category}, t.Tags...)
}

func articleTexts(a company.Article) []string {
	return append([]string{a.ID, a.Title, a.Summary, a.Content, a.Category}, a.Tags...)
}

// ask is a question to a list, and its caller.
type ask struct {
	who   *access.Principal
	query string
	q     support.TicketQuery
}

// walk reads every page.
func (a ask) walk(t testing.TB, s support.Store, page int) (ids []string) {
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
	}
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
