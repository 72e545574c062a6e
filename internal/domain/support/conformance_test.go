package support_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

type args = conformance.Args

// dataset is the fixture of that name.
func dataset(name string) *fixture {
	if name == conformance.Crowd {
		return tied(crowdSize)
	}
	return sample()
}

const crowdSize = 160

const solved = "password reset fixed the login"

func domain() conformance.Domain {
	readers, writers := []string{"support-read", "executive"}, []string{"support-write", "executive"}
	refuse := func(code, tool string, in args) conformance.Refusal {
		return conformance.Refuse(code, "dan.williams", tool, in)
	}
	closing := func(ticket, resolution string) args { return args{"ticket_id": ticket, "resolution": resolution} }
	return conformance.Domain{
		Server: "support", Codes: support.New(nil, nil).Codes(), Oracle: oracleOf, Engines: engines,
		Calls: []conformance.Call{
			{Tool: "search_tickets", Allow: readers, Email: "amy@tamshai.local", In: args{"query": "*"}, Text: []string{"query"}},
			{Tool: "search_knowledge_base", Allow: readers, Email: "amy@tamshai.local", In: args{"query": "*"}, Text: []string{"query"}},
			{Tool: "get_knowledge_article", Allow: readers, Email: "amy@tamshai.local", In: args{"article_id": "KB-001"}},
			{Tool: "close_ticket", Allow: writers, Email: "amy@tamshai.local", In: closing("TICK-004", solved), Text: []string{"resolution"}},
		},
		Inputs: map[string]string{
			"search_tickets":        "cursor:string customer_id:string limit:integer priority:string query:string! status:string ",
			"get_knowledge_article": "article_id:string! ",
			"search_knowledge_base": "category:string cursor:string limit:integer query:string! ",
			"close_ticket":          "customer_notified:boolean resolution:string! resolution_type:string ticket_id:string! ",
		},
		Refusals: []conformance.Refusal{
			refuse("TICKET_ALREADY_CLOSED", "close_ticket", closing("TICK-008", "closed once more")),
			refuse("TICKET_NOT_FOUND", "close_ticket", closing("TICK-099", "closed once more")),
			refuse("TICKET_NOT_FOUND", "close_ticket", closing("../TICK-004", "closed once more")),
			refuse("TICKET_NOT_FOUND", "close_ticket", closing("", "closed once more")),
			refuse("pending_confirmation", "close_ticket", closing("TICK-007", "closed once more")),
			refuse("VALIDATION_ERROR", "close_ticket", args{"ticket_id": "TICK-004"}),
			refuse("VALIDATION_ERROR", "close_ticket", closing("TICK-004", "too short")),
			refuse("VALIDATION_ERROR", "close_ticket", closing("TICK-004", "éèéèéèéèé")), // eighteen bytes, nine characters
			refuse("pending_confirmation", "close_ticket", closing("TICK-004", "éèéèéèéèéè")),
			refuse("INVALID_INPUT", "close_ticket", closing("TICK-004", "            x")),
			refuse("pending_confirmation", "close_ticket", closing("TICK-004", strings.Repeat("é", 2000))),
			refuse("VALIDATION_ERROR", "close_ticket", closing("TICK-004", strings.Repeat("é", 2001))),
			refuse("VALIDATION_ERROR", "search_tickets", args{}),
			refuse("VALIDATION_ERROR", "search_tickets", args{"query": ""}),
			refuse("VALIDATION_ERROR", "search_tickets", args{"query": strings.Repeat("é", 501)}),
			refuse("success", "search_tickets", args{"query": strings.Repeat("é", 500)}),
			refuse("ARTICLE_NOT_FOUND", "get_knowledge_article", args{"article_id": "KB-099"}),
			refuse("success", "get_knowledge_article", args{"article_id": "kb-011"}),
			conformance.Refuse("ARTICLE_NOT_FOUND", "eve.thompson", "get_knowledge_article", args{"article_id": "KB-011"}),
		},
		Writes: []conformance.Write{{
			Tool: "close_ticket", Username: "dan.williams", Other: "eve.thompson", In: closing("tick-004", solved), Says: "Ticket TICK-004 has been closed as solved.",
			Stale: []conformance.Stale{
				conformance.Meanwhile("closed by another", "TICKET_ALREADY_CLOSED", func(t testing.TB, s *conformance.Store) {
					h := domaintest.Open(t, "support", s)
					h.Apply(h.As("eve.thompson"), "close_ticket", args{"ticket_id": "TICK-004", "resolution": "The customer left us.", "resolution_type": "wont_fix"})
				}),
				conformance.Meanwhile("written by another", "CONFIRMATION_STALE", func(_ testing.TB, s *conformance.Store) { engineOf(s).touch("TICK-004") }),
			},
		}},
	}
}

func oracleOf(name string) conformance.Oracle {
	b := dataset(name)
	tickets := conformance.Rows[company.Ticket]{
		Key: "ticket_id", Rows: b.tickets, ID: func(t company.Ticket) string { return t.ID }, Sees: seesTicket, Shows: showsTicket,
	}
	articles := conformance.Rows[company.Article]{
		Key: "article_id", Rows: b.articles, ID: func(a company.Article) string { return a.ID }, Sees: seesArticle, Shows: showsArticle,
	}
	list := conformance.List[company.Ticket]{
		Rows: tickets, Tool: "search_tickets", Draw: b.draw, Fits: fitsTicket, Else: fitsTicketWithAny, Order: newestTicket,
		Walks: []args{{"query": "*", "limit": 20}, {"query": "*", "status": "closed", "limit": 15}}, Churn: churn(b.tickets),
	}
	return conformance.Oracle{Emails: []string{"amy@tamshai.local", "dan@tamshai.local"}, Leaks: leaks, Hidden: hidden(b), Questions: []conformance.Question{
		list, list, conformance.List[company.Article]{
			Rows: articles, Tool: "search_knowledge_base", Draw: drawArticles, Fits: fitsArticle, Else: fitsArticleWithAny, Order: newestArticle,
		}, conformance.ByID[company.Article]{
			Rows: articles, Tool: "get_knowledge_article", Input: func(a company.Article) args { return args{"article_id": a.ID} },
			Unknown: args{"article_id": "KB-999"}, NotFound: "ARTICLE_NOT_FOUND",
		}, conformance.ByID[company.Ticket]{
			Rows: tickets, Tool: "close_ticket", Input: func(t company.Ticket) args { return args{"ticket_id": t.ID, "resolution": solved} },
			Unknown: args{"ticket_id": "TICK-999", "resolution": solved}, NotFound: "TICKET_NOT_FOUND",
			Code: func(_ conformance.Asker, t company.Ticket, _ args) string {
				if t.Status == "closed" {
					return "TICKET_ALREADY_CLOSED"
				}
				return "pending_confirmation"
			},
		},
	}}
}

// hidden adds drafts and archived articles with the words of the published ones.
func hidden(b *fixture) []conformance.Hiding {
	add := func(t testing.TB, s *conformance.Store, n int) {
		more := &fixture{}
		for i := range n {
			a := b.articles[i%len(b.articles)]
			a.ID, a.Status = fmt.Sprintf("KB-H%04d", i), []string{"draft", "archived"}[i%2]
			more.articles = append(more.articles, a)
		}
		e := engineOf(s)
		fill(t, e.direct, more)
		e.settled()
	}
	return []conformance.Hiding{{Name: "drafts", Add: add, Blind: conformance.NotIn("support-write")}}
}

func seesTicket(a conformance.Asker, _ company.Ticket) bool {
	return a.Has("support-read", "support-write", "executive")
}

func seesArticle(a conformance.Asker, row company.Article) bool {
	return a.Has("support-write") || row.Status == "published" && a.Has("support-read", "executive")
}

func showsTicket(a conformance.Asker, t company.Ticket, _ args) map[string]any {
	_, domain, _ := strings.Cut(t.CustomerEmail, "@")
	shown := map[string]any{
		"subject": t.Subject, "description": t.Description, "status": t.Status, "priority": t.Priority, "customer_id": t.CustomerID, "customer_name": t.CustomerName,
		"customer_email": t.CustomerEmail[:1] + "***@" + domain, "category": t.Category, "tags": list(t.Tags), "created_at": t.Created.Format(time.RFC3339Nano),
		"assigned_to": orNil(t.AssignedTo), "resolution": orNil(t.Resolution),
	}
	if a.Has("support-write", "executive") {
		shown["customer_email"] = t.CustomerEmail
	}
	return shown
}

func showsArticle(_ conformance.Asker, a company.Article, _ args) map[string]any {
	return map[string]any{
		"title": a.Title, "content": a.Content, "summary": a.Summary, "category": a.Category, "tags": list(a.Tags), "author": a.Author, "status": a.Status,
		"view_count": a.Views, "helpful_votes": a.Votes,
	}
}

func list(texts []string) []any {
	out := []any{}
	for _, t := range texts {
		out = append(out, t)
	}
	return out
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func fitsTicket(t company.Ticket, in args) bool {
	return filtered(t, in) && matches(in["query"].(string), ticketTexts(t)...)
}

func fitsTicketWithAny(t company.Ticket, in args) bool {
	return filtered(t, in) && matchesAny(in["query"].(string), ticketTexts(t)...)
}

func filtered(t company.Ticket, in args) bool {
	for field, has := range map[string]string{"status": t.Status, "priority": t.Priority, "customer_id": t.CustomerID} {
		if want, ok := in[field].(string); ok && !strings.EqualFold(want, has) {
			return false
		}
	}
	return true
}

func fitsArticle(a company.Article, in args) bool {
	category, ok := in["category"].(string)
	return (!ok || strings.EqualFold(a.Category, category)) && matches(in["query"].(string), articleTexts(a)...)
}

func fitsArticleWithAny(a company.Article, in args) bool {
	category, ok := in["category"].(string)
	return (!ok || strings.EqualFold(a.Category, category)) && matchesAny(in["query"].(string), articleTexts(a)...)
}

// Without words the newest come first; with words the order is the store's rank.
func newestTicket(in args) func(a, b company.Ticket) int {
	if in["query"] != "*" {
		return nil
	}
	return func(a, b company.Ticket) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID)) }
}

func newestArticle(in args) func(a, b company.Article) int {
	if in["query"] != "*" {
		return nil
	}
	return func(a, b company.Article) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID)) }
}

// draw is a query of words that are there, and filters.
func (b *fixture) draw(r *rand.Rand, t company.Ticket) args {
	in, words := args{"query": "*"}, plainWords(t.Subject+" "+t.Description)
	some := func() bool { return r.IntN(3) == 0 }
	if !some() {
		var parts []string
		for range 1 + r.IntN(2) {
			parts = append(parts, piece(r, words))
		}
		if some() {
			parts = append(parts, "-"+piece(r, plainWords(conformance.Pick(r, b.tickets...).Description)))
		}
		in["query"] = strings.Join(parts, " ")
	}
	for _, field := range []string{"status", "priority", "customer_id"} {
		if some() {
			in[field] = map[string]string{"status": t.Status, "priority": t.Priority, "customer_id": conformance.Pick(r, t.CustomerID, strings.ToUpper(t.CustomerID))}[field]
		}
	}
	return in
}

func drawArticles(r *rand.Rand, a company.Article) args {
	in := args{"query": conformance.Pick(r, "*", "export", "again -import", `"the log"`, "archi*", "number 7", piece(r, plainWords(a.Title+" "+a.Summary)))}
	if r.IntN(3) == 0 {
		in["category"] = conformance.Pick(r, a.Category, strings.ToUpper(a.Category), "none")
	}
	return in
}

// leaks looks for what no answer may have, and for words of drafts and of the archive.
func leaks(a conformance.Asker, encoded string) error {
	canaries := []string{`"confirmation":`, `"closed_by":`}
	if !a.Has("support-write") {
		canaries = append(canaries, drafts...)
	}
	for _, canary := range canaries {
		if strings.Contains(encoded, canary) {
			return fmt.Errorf("%q is in %s", canary, encoded)
		}
	}
	return nil
}

// drafts are words that only a draft or an archived article of the sample company has.
var drafts = []string{"KB-011", "KB-012", "brandon.morris", "attachments for one", "A-12", "Thursdays"}

// churn adds three tickets between two pages, and removes one.
func churn(tickets []company.Ticket) func(t testing.TB, s *conformance.Store, step int) []string {
	r := rand.New(rand.NewPCG(5, 5))
	more := tied(2 * crowdSize).tickets[crowdSize:]
	return func(t testing.TB, s *conformance.Store, step int) []string {
		e := engineOf(s)
		if 3*step+3 <= len(more) {
			fill(t, e, &fixture{tickets: more[3*step : 3*step+3]})
		}
		gone := conformance.Pick(r, tickets...).ID
		e.remove(gone)
		e.settled()
		return []string{gone}
	}
}
