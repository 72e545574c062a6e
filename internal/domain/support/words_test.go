package support_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
)

// bookWith is a fixture with a ticket for each text, named A, B and so on.
func bookWith(texts ...string) *fixture {
	b := &fixture{}
	for i, text := range texts {
		b.tickets = append(b.tickets, company.Ticket{
			ID: string(rune('A' + i)), Subject: "s", Description: text, Status: "open", Priority: "low", Created: day, Updated: day,
		})
	}
	return b
}

// TestGrammarFindsTheSameOnEveryStore is the query language as a table: what
// each rule finds among these texts, on every store.
func TestGrammarFindsTheSameOnEveryStore(t *testing.T) {
	b := bookWith(
		/* A */ "The login page says: session expired.",
		/* B */ "Session of the board; the guest list expired.",
		/* C */ "LOGIN-page, again! Password? don't ask.",
		/* D */ "Zoë and José at Straße 3.5, naïve café: Łódź, Ærøskøbing, İzmir",
		/* E */ "re\u0301sume\u0301 東京都 हिन्दी Ёлка ΣΊΣΥΦΟΣ ﬁn",
		/* F */ "passport passage pass",
		/* G */ "* _id ticket_id:* OR AND NOT NEAR",
	)
	b.tickets[0].Tags = []string{"alpha beta", "gamma"}
	b.tickets[5].CustomerName = "Passing Ltd"
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, b)
		fill(t, r, &fixture{articles: sample().articles})
		for query, want := range map[string]string{
			"login": "AC", "LOGIN": "AC", "login page": "AC", "login page password": "C", "login nosuchword": "",
			`"session expired"`: "A", "session expired": "AB", `"expired session"`: "", `"login page"`: "AC", "login-page": "AC", "page-login": "",
			"login -password": "A", "-login": "BDEFG", `session -"session expired"`: "B", "-login -session": "DEFG", "login -login": "", "-pass* -login": "BDEG",
			"pass*": "CF", "pass": "F", "passag*": "F", "pas": "", `"pass*"`: "F", "passing": "F", "pass* -password": "F",
			"*": "ABCDEFG", "* login": "AC", "": "", "?!": "", "**": "", `""`: "", strings.Repeat("(", 500): "", strings.Repeat("[]", 250): "",
			"zoe": "D", "ZOË": "D", "jose": "D", "strasse": "D", "STRASSE": "D", "3.5": "D", "5.3": "", "cafe naive": "D", "lodz": "D", "aeroskobing": "D", "izmir": "D", "caf*": "D",
			"logins": "AC", "sessions expiring": "AB", `"sessions expired"`: "", "-logins": "BDEFG", "pages": "AC", "guests": "B",
			"resume": "E", "RÉSUMÉ": "E", "東京都": "E", "東京*": "E", "東京": "", "हिन्दी": "E", "ёлка": "E", "елка": "", "σίσυφοσ": "E", "ΣΊΣΥΦΟΣ": "E", "ﬁn": "E", "fin": "",
			"don't": "C", "don t": "C", "dont": "", "alpha": "A", `"alpha beta"`: "A", `"beta gamma"`: "", `"beta the"`: "", `"s the"`: "",
			"or": "G", "and or not near": "G", "_id": "G", "ticket_id": "G", "subject:s": "", "status:open": "", "*) OR _index:*": "", "or \"_index:*\"": "",
			"A": "A", "a -a": "", "login OR session": "", "login^5": "", "login~": "AC", "/log.*/": "", "l?gin": "", "{login": "AC", "s": "ABCDEFG",
		} {
			got := ask{who: dan(), query: query}.walk(t, r, 3)
			slices.Sort(got)
			if diff := cmp.Diff(want, strings.Join(got, "")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", query, diff)
			}
		}
	})
}

func dan() *access.Principal {
	return access.NewPrincipal(access.Claims{Email: "dan@tamshai.local", EmailVerified: true, Roles: []string{"support-write"}})
}

// hostile are texts that would be syntax if they were pasted anywhere.
var hostile = []string{
	`*) OR _index:*`, `{"$ne": ""}`, `{"query":{"match_all":{}}}`, `' or 1=1 --`, `"; drop table tickets; --`, `.*`, `^`, `%`, `_`, `\`, "\x00", "a\x00b", "\xff\xfe",
	`../_search`, `x/_source`, `TICK-004?routing=x`, `TICK-004#`, `support_tickets,knowledge_base`, `*`, `_all`, `"`, `'"`, `-"`, `head : a`, `{head body} : a`, `a NEAR(b, 2)`,
	strings.Repeat("(", 500), strings.Repeat("[", 500), strings.Repeat(`"`, 500), strings.Repeat("a ", 250), strings.Repeat("-a* ", 125), manyWords(250), "ﬀ", "\u202e", "\n{\"index\":{}}\n",
}

// manyWords is n different words.
func manyWords(n int) string {
	var b strings.Builder
	for r := '一'; b.Len() < 4*n; r++ {
		b.WriteString(string(r) + " ")
	}
	return b.String()
}

// lacksWord reports whether a ticket lacks a word of the text: then the text was
// more than words.
func lacksWord(text string) func(support.Ticket) bool {
	return func(row support.Ticket) bool {
		there := support.Words(strings.Join(append([]string{row.ID, row.Subject, row.Description, row.CustomerName, row.Category}, row.Tags...), " "))
		return slices.ContainsFunc(support.Words(text), func(w string) bool {
			return !slices.ContainsFunc(there, func(x string) bool { return support.Stem(x) == support.Stem(w) })
		})
	}
}

// A value that is compared in any case costs OpenSearch the third power of its
// length: it would not answer this one in time.
func TestLongFilterIsAnsweredInTime(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, sample())
		long := manyWords(2500)
		tickets, err := r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery("*"), CustomerID: long, Limit: 51})
		if err != nil || len(tickets) != 0 {
			t.Errorf("customer: %d rows, %v", len(tickets), err)
		}
		articles, err := r.Articles(t.Context(), reading, support.ArticleQuery{Find: support.ParseQuery("*"), Category: long, Limit: 51})
		if err != nil || len(articles) != 0 {
			t.Errorf("category: %d rows, %v", len(articles), err)
		}
	})
}

func TestWhatPeopleTypeIsNeverSyntax(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, sample())
		for _, text := range hostile {
			if rows, err := r.Tickets(t.Context(), support.Scope{}, support.TicketQuery{Find: support.ParseQuery(text), Limit: 51}); err != nil || len(rows) != 0 {
				t.Errorf("no scope asks %q: %d rows, %v", text, len(rows), err)
			}
			rows, err := r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery(text), Limit: 51})
			if err != nil || text != "*" && !strings.HasPrefix(text, "-a*") && slices.ContainsFunc(rows, lacksWord(text)) {
				t.Errorf("%q: %d rows, %v", text, len(rows), err)
			}
			for name, q := range map[string]support.TicketQuery{
				"status": {Status: text}, "priority": {Priority: text}, "customer": {CustomerID: text},
				"cursor": {After: &support.Key{Created: 1, ID: text}},
			} {
				q.Find, q.Limit = support.ParseQuery("*"), 51
				if rows, err := r.Tickets(t.Context(), everything, q); err != nil || len(rows) != 0 {
					t.Errorf("%s %q: %d rows, %v", name, text, len(rows), err)
				}
			}
			if rows, err := r.Articles(t.Context(), reading, support.ArticleQuery{Find: support.ParseQuery("*"), Category: text, Limit: 51}); err != nil || len(rows) != 0 {
				t.Errorf("category %q: %d rows, %v", text, len(rows), err)
			}
			if _, found, err := r.Ticket(t.Context(), everything, text); found || err != nil {
				t.Errorf("ticket %q: %v, %v", text, found, err)
			}
			if _, found, err := r.Article(t.Context(), everything, text); found || err != nil {
				t.Errorf("article %q: %v, %v", text, found, err)
			}
			if _, found, err := r.Find(t.Context(), access.Owner{Issuer: text, Subject: text}, confirm.ID(text)); found || err != nil {
				t.Errorf("receipt %q: %v, %v", text, found, err)
			}
		}
	})
}

// newer are characters of Unicode 14 and later: an engine on an older Java treats
// them as separators.
var newer = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0870, 0x089f, 1}, {0x08b5, 0x08b5, 1}, {0x08c8, 0x08d2, 1}, {0x0c3c, 0x0c5d, 0x21}, {0x0cdd, 0x0cf3, 0x16}, {0x0ece, 0x170d, 0x083f},
	{0x1715, 0x171f, 0xa}, {0x180f, 0x180f, 1}, {0x1ac1, 0x1ace, 1}, {0x1b4c, 0x1b4c, 1}, {0x1dfa, 0x1dfa, 1}, {0x2c2f, 0x2c5f, 0x30},
}}

// TestEngineSplitsWordsAsWeDo: every letter, mark and digit below U+3000 is the
// same word to the engine's analyzer and to ours.
func TestEngineSplitsWordsAsWeDo(t *testing.T) {
	r := search(t)
	fill(t, r, sample())
	for from := rune(0x20); from < 0x3000; from += 0x100 {
		var text strings.Builder
		for c := from; c < from+0x100; c++ {
			if unicode.IsGraphic(c) && !unicode.Is(newer, c) {
				text.WriteString("a" + string(c) + "b ")
			}
		}
		if diff := cmp.Diff(support.Words(text.String()), r.analyze(text.String())); diff != "" {
			t.Errorf("from %U (-ours +the engine's):\n%s", from, diff)
		}
	}
}
