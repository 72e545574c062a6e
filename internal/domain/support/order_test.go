package support_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
)

// ranked are the tickets that a query finds, with their scores, best first: the order of
// pages, implemented a second time.
func ranked(all []company.Ticket, query string, anyWord bool) (lines []string) {
	type scored struct {
		company.Ticket
		score int
	}
	var found []scored
	terms := support.ParseQuery(query).With()
	for _, t := range all {
		texts, row := ticketTexts(t), scored{Ticket: t}
		if !matches(query, texts...) && (!anyWord || !matchesAny(query, texts...)) {
			continue
		}
		for _, term := range terms {
			if has(term.String(), texts) {
				row.score += support.TermScore
			}
			if has(term.String(), []string{t.Subject}) {
				row.score += support.HeadScore
			}
		}
		found = append(found, row)
	}
	slices.SortFunc(found, func(x, y scored) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.Created.Compare(x.Created), cmp.Compare(y.ID, x.ID))
	})
	for _, row := range found {
		lines = append(lines, fmt.Sprint(row.ID, " ", row.score))
	}
	return lines
}

// TestPagesOfWordsFollowOneAnother: however many rows have the words, the pages have all of
// them, by score and then newest first. The engine's store asks otherwise for many than for few.
func TestPagesOfWordsFollowOneAnother(t *testing.T) {
	b := tied(300)
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, b)
		for _, query := range []string{"since", "export", "export mail", "the export since", "export monday -login", `"since monday" login`, "expo* since", "login export mail the", "zeppelin since", "the since of site case"} {
			for _, anyWord := range []bool{false, true} {
				q := support.TicketQuery{Find: support.ParseQuery(query), Limit: 7}
				if anyWord {
					q.Find = q.Find.Any()
				}
				var got []string
				for {
					rows, err := r.Tickets(soon(t, time.Minute), everything, q)
					if err != nil {
						t.Fatalf("%s: %v", query, err)
					}
					for _, row := range rows {
						got = append(got, fmt.Sprint(row.ID, " ", row.Score))
						q.After = new(row.Key())
					}
					if len(rows) < q.Limit {
						break
					}
				}
				if diff := gocmp.Diff(ranked(b.tickets, query, anyWord), got); diff != "" {
					t.Errorf("%s, any %v (-want +got):\n%s", query, anyWord, diff)
				}
			}
		}
	})
}
