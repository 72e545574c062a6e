package support_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
)

// ranked are the articles that a reader finds by a query in a category, with their scores, best
// first: the order of pages, implemented a second time.
func ranked(all []company.Article, category, query string, anyWord bool) (lines []string) {
	type scored struct {
		company.Article
		score int
	}
	var found []scored
	terms := support.ParseQuery(query).With()
	for _, a := range all {
		texts, row := articleTexts(a), scored{Article: a}
		if a.Status != "published" || category != "" && a.Category != category || !matches(query, texts...) && (!anyWord || !matchesAny(query, texts...)) {
			continue
		}
		for _, term := range terms {
			if has(term.String(), texts) {
				row.score += support.TermScore
			}
			if has(term.String(), []string{a.Title}) {
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

// scattered are articles whose titles and texts have each of four words, or not, by chance.
func scattered(n int) *fixture {
	r := rand.New(rand.NewPCG(7, 11))
	chance := func(words ...string) (text string) {
		for _, w := range words {
			if r.IntN(3) == 0 {
				text += " " + w
			}
		}
		return text
	}
	b := &fixture{}
	for i := range n {
		b.articles = append(b.articles, company.Article{
			ID: fmt.Sprintf("KB-%03d", i), Title: "About" + chance("alpha", "beta", "gamma", "delta"), Summary: "Words.", Content: "Of" + chance("alpha", "beta", "gamma", "delta"),
			Category: []string{"security", "sales"}[r.IntN(2)], Status: []string{"published", "published", "draft"}[r.IntN(3)],
			Created: day.Add(time.Duration(r.IntN(9)) * time.Millisecond), Updated: day,
		})
	}
	return b
}

// TestPagesOfWordsFollowOneAnother: however many rows have the words, the pages of a reader have
// all of them that may be seen, and no others, by score and then newest first. The engine's store
// scores ten matches in one search here, and asks for more score by score.
func TestPagesOfWordsFollowOneAnother(t *testing.T) {
	b := scattered(300)
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, b)
		for _, query := range []string{"alpha", "alpha beta", "alpha beta gamma", "gamma alpha beta delta", "alpha -beta", "alp* gamma delta", `"alpha beta" gamma`, "zeppelin alpha", "zeppelin alpha beta", "of about alpha"} {
			for _, category := range []string{"", "sales"} {
				for _, anyWord := range []bool{false, true} {
					q := support.ArticleQuery{Find: support.ParseQuery(query), Category: category, Limit: 7}
					if anyWord {
						q.Find = q.Find.Any()
					}
					if diff := gocmp.Diff(ranked(b.articles, category, query, anyWord), pages(t, r, q)); diff != "" {
						t.Errorf("%s in %q, any %v (-want +got):\n%s", query, category, anyWord, diff)
					}
				}
			}
		}
	})
}

// pages are the articles of all pages that a reader turns, with their scores. The last row of
// each tells only that there are more.
func pages(t *testing.T, r *engine, q support.ArticleQuery) (lines []string) {
	t.Helper()
	for {
		rows, err := r.Articles(soon(t, time.Minute), reading, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[:min(q.Limit-1, len(rows))] {
			lines = append(lines, fmt.Sprint(row.ID, " ", row.Score))
			q.After = new(row.Key())
		}
		if len(rows) < q.Limit {
			return lines
		}
	}
}
