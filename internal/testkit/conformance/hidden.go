package conformance

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

// Hiding adds rows that some callers may not see.
type Hiding struct {
	Name string
	Add  func(t testing.TB, s *Store, n int)
	// Blind reports whether the caller may see none of them.
	Blind func(Asker) bool
}

// hiddenRows is how many rows are added.
const hiddenRows = 1000

// hidden asks everything before and after rows were added that the caller may not
// see: no byte of an answer may change, in lists to their last page, sums, counts
// and scores. It calls every tool that the domain declares, with every role, and
// asks the questions at random.
func (s *suite) hidden(t *testing.T) {
	o := s.Oracle(Company)
	for _, hiding := range o.Hidden {
		t.Run(hiding.Name, func(t *testing.T) {
			t.Parallel()
			h := s.open(t, Company)
			asked := s.askable(t, h, o, hiding)
			if len(asked) == 0 {
				t.Fatal("everyone may see these rows")
			}
			before := make([]string, len(asked))
			for i, a := range asked {
				before[i] = a.answers(h)
			}
			hiding.Add(t, h.store, hiddenRows)
			for i, a := range asked {
				a.compare(t, a.answers(h), before[i])
			}
			s.hiddenFromEdits(t, hiding)
		})
	}
}

// hiddenFromEdits makes every change that needs no approval in two stores: in one
// with hidden rows, and in one without.
func (s *suite) hiddenFromEdits(t *testing.T, hiding Hiding) {
	t.Helper()
	var edits []request
	for _, c := range s.Calls {
		if a := (request{Asker{Email: c.Email, Roles: c.Allow}, c.Tool, c.In}); s.once(c) && hiding.Blind(a.Asker) {
			edits = append(edits, a)
		}
	}
	if len(edits) == 0 {
		return
	}
	plain, h := s.open(t, Company), s.open(t, Company)
	hiding.Add(t, h.store, hiddenRows)
	for _, a := range edits {
		a.compare(t, a.answers(h), a.answers(plain))
	}
}

// once reports whether a call is not answered alike twice.
func (s *suite) once(c Call) bool {
	return c.Remembers || s.unchanged.info(c.Tool).Kind == result.Edit
}

// request is a call by someone.
type request struct {
	Asker
	tool string
	in   Args
}

// askable lists requests of callers who see none of the hidden rows.
func (s *suite) askable(t *testing.T, h *harness, o Oracle, hiding Hiding) (asked []request) {
	add := func(r request) {
		if hiding.Blind(r.Asker) {
			asked = append(asked, r)
		}
	}
	for _, c := range s.Calls {
		if s.once(c) {
			continue
		}
		for _, role := range Roles() {
			add(request{Asker{Email: c.Email, Roles: []string{role}}, c.Tool, c.In})
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	n := 300
	if s.engine.Slow || testing.Short() {
		n = 60
	}
	for range n {
		a := s.anyone(r, o.Emails)
		q := o.Questions[r.IntN(len(o.Questions))]
		add(request{a, q.tool(), q.draw(r)})
	}
	return asked
}

// compare reports an answer that differs where hidden rows were added.
func (a request) compare(t *testing.T, with, without string) {
	t.Helper()
	if with != without {
		t.Errorf("%s (%v) calls %s %v: with %d hidden rows\ngot  %s\nwant %s", a.Email, a.Roles, a.tool, a.in, hiddenRows, clipTo(with, without), clipTo(without, with))
	}
}

// answers calls the tool, and every further page of a list.
func (a request) answers(h *harness) string {
	var all strings.Builder
	in := Args{}
	for page := 0; page < 100; page++ {
		for k, v := range a.in {
			in[k] = v
		}
		o := h.Ask(a.Asker.in(h.Context()), a.tool, in)
		answer := fleeting.ReplaceAllString(string(h.Encode(o)), `"$1":…`)
		if h.store.Root != "" {
			answer = strings.ReplaceAll(answer, h.store.Root, "…")
		}
		fmt.Fprintln(&all, answer)
		if o.Page() == nil || !o.Page().More {
			return all.String()
		}
		field, next := o.Page().Following()
		in[field] = next
	}
	h.Fatalf("%s %v has too many pages", a.tool, a.in)
	return ""
}

// fleeting are the fields of an answer that differ from call to call: random ids,
// sealed cursors and times.
var fleeting = regexp.MustCompile(`"(nextCursor|confirmationId|timestamp|expiresAt|digest|approvalUrl)":("[^"]*"|\d+)`)

// clipTo cuts a text to where it begins to differ from another.
func clipTo(text, other string) string {
	at := 0
	for at < min(len(text), len(other)) && text[at] == other[at] {
		at++
	}
	from, to := max(0, at-80), min(len(text), at+120)
	return "…" + text[from:to] + "…"
}

// NotIn is the Blind of rows that callers with one of the roles see.
func NotIn(roles ...string) func(Asker) bool {
	return func(a Asker) bool { return !a.Has(roles...) }
}
