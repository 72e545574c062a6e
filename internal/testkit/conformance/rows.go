package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// Question is a tool that reads, and the oracle of its answers.
type Question interface {
	tool() string
	// draw makes an input at random.
	draw(r *rand.Rand) Args
	// check calls the tool as someone who may, and compares.
	check(c *caller, in Args) error
}

// Rows is what one kind of row is to callers.
type Rows[R any] struct {
	Key  string // the field of an answer that has the id
	Rows []R
	ID   func(R) string
	Sees func(Asker, R) bool
	// Shows is what some fields of the row must be for a caller who sees it.
	Shows func(Asker, R, Args) map[string]any
}

// List is a tool that returns the rows that fit its input, page by page.
type List[R any] struct {
	Rows[R]
	Tool string
	Draw func(r *rand.Rand, some R) Args
	// Fits reports whether a row fits the input; the limit and the cursor aside.
	Fits func(R, Args) bool
	// Else is what rows must fit instead, when none that the caller sees fits.
	Else func(R, Args) bool
	// Order is the order of the answer. Nil means the store's own, a rank.
	Order func(in Args) func(a, b R) int
	// Code is what a caller gets instead of a page; empty, or nil, means the page.
	Code func(a Asker, in Args) string
	Most int // rows of a page; 0 means 50

	Walks []Args // inputs whose pages are walked while Churn changes rows
	// Churn adds rows and removes some, and returns the ids of the removed ones.
	Churn func(t testing.TB, s *Store, step int) (removed []string)
}

// ByID is a tool that takes the id of a row.
type ByID[R any] struct {
	Rows[R]
	Tool     string
	Input    func(R) Args
	Unknown  Args   // replaces fields of the input, so that it means no row
	NotFound string // the code of its answer
	// Code is what a caller who sees the row gets; nil means success.
	Code func(Asker, R, Args) string
}

// Check is a tool whose answer is not a row: the oracle judges the outcome.
type Check struct {
	Tool  string
	Draw  func(r *rand.Rand) Args
	Judge func(a Asker, in Args, o result.Outcome) error
}

// caller is a signed-in caller at a harness.
type caller struct {
	*harness
	Asker
	leaks func(Asker, string) error
}

// ask calls a tool, and looks for leaks in its encoded answer.
func (c *caller) ask(tool string, in Args) (o result.Outcome, encoded string, err error) {
	o = c.Ask(c.in(c.Context()), tool, in)
	encoded = string(c.Encode(o))
	if c.leaks != nil {
		err = c.leaks(c.Asker, string(c.Encode(WithoutSubject(o))))
	}
	return o, encoded, err
}

// WithoutSubject returns a fault without the details that repeat the caller's own
// input, and any other outcome as it is.
func WithoutSubject(o result.Outcome) result.Outcome {
	if o.Fault() == nil {
		return o
	}
	f := *o.Fault()
	f.Details = maps.Clone(f.Details)
	for _, field := range f.Code.Subject {
		delete(f.Details, result.Camel(field))
	}
	return result.Failed(&f)
}

// draws is how many questions are asked of a dataset.
var draws = map[string]int{Company: 1200, Crowd: 500}

// rows asks at random, as anyone, and compares every answer with what the oracle
// says: no row too many, none missing, none out of order, no field that is not
// the caller's to see, and nothing at all for those who may not call the tool.
func (s *suite) rows(t *testing.T) {
	for dataset, n := range draws {
		t.Run(dataset, func(t *testing.T) {
			t.Parallel()
			o, h := s.Oracle(dataset), s.open(t, dataset)
			if o.Prepare != nil {
				o.Prepare(h.store)
			}
			switch {
			case testkit.Soak():
				n *= 10
			case testing.Short(): // one caller at a time says nothing about races
				n /= 20
			}
			if s.engine.Slow {
				n /= 6
			}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range n {
				c := &caller{h, s.anyone(r, o.Emails), o.Leaks}
				q := o.Questions[r.IntN(len(o.Questions))]
				in := q.draw(r)
				if err := s.check(c, q, in); err != nil {
					t.Fatalf("question %d: %s (unverified %v, %v) calls %s %v: %v", i, c.Email, c.Unverified, c.Roles, q.tool(), in, err)
				}
			}
		})
	}
}

func (s *suite) check(c *caller, q Question, in Args) error {
	if c.Has(s.call(c, q.tool()).Allow...) {
		return q.check(c, in)
	}
	o, encoded, err := c.ask(q.tool(), in)
	if err == nil && o.Code() != "INSUFFICIENT_PERMISSIONS" {
		err = fmt.Errorf("got %s", encoded)
	}
	return err
}

func (q Check) tool() string           { return q.Tool }
func (q Check) draw(r *rand.Rand) Args { return q.Draw(r) }

func (q Check) check(c *caller, in Args) error {
	o, encoded, err := c.ask(q.Tool, in)
	if err == nil {
		err = q.Judge(c.Asker, in, o)
	}
	if err != nil {
		err = fmt.Errorf("%w in %s", err, encoded)
	}
	return err
}

func (q ByID[R]) tool() string           { return q.Tool }
func (q ByID[R]) draw(r *rand.Rand) Args { return q.Input(Pick(r, q.Rows.Rows...)) }

// check also compares the answer about a row that the caller may not see with
// the one about a row that does not exist: the two are the same, to the letter.
func (q ByID[R]) check(c *caller, in Args) error {
	o, encoded, err := c.ask(q.Tool, in)
	if err != nil {
		return err
	}
	row := q.Rows.Rows[slices.IndexFunc(q.Rows.Rows, func(r R) bool { return reflect.DeepEqual(q.Input(r), in) })]
	if !q.Sees(c.Asker, row) {
		none := maps.Clone(in)
		maps.Copy(none, q.Unknown)
		_, unknown, _ := c.ask(q.Tool, none)
		if o.Code() != q.NotFound || without(encoded, in) != without(unknown, none) {
			return fmt.Errorf("got %s, want what an unknown id gets, %s", encoded, unknown)
		}
		return nil
	}
	want := result.StatusSuccess
	if q.Code != nil {
		want = q.Code(c.Asker, row, in)
	}
	if o.Code() != want {
		return fmt.Errorf("got %s, want %s", encoded, want)
	}
	if o.Data() == nil {
		return nil
	}
	var got map[string]any
	if err := json.Unmarshal(o.Data(), &got); err != nil {
		return err
	}
	return q.compare(c.Asker, row, in, got)
}

// without replaces what was asked for in an answer.
func without(encoded string, in Args) string {
	for field, value := range in {
		encoded = strings.ReplaceAll(encoded, fmt.Sprint(value), field)
	}
	return encoded
}

func (q Rows[R]) compare(a Asker, row R, in Args, got map[string]any) error {
	if q.Shows == nil {
		return nil
	}
	for field, want := range q.Shows(a, row, in) {
		if !reflect.DeepEqual(got[field], plain(want)) {
			return fmt.Errorf("%s of %s: got %v, want %v", field, q.ID(row), got[field], want)
		}
	}
	return nil
}

// plain is a value as JSON reads it back.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

func (q List[R]) tool() string { return q.Tool }

func (q List[R]) draw(r *rand.Rand) Args {
	in := q.Draw(r, Pick(r, q.Rows.Rows...))
	most, least := cmp.Or(q.Most, 50), 1
	if q.order(in) == nil {
		least = 2 * most / 5 // a ranked answer is walked to its end
	}
	in["limit"] = least + r.IntN(most-least+1)
	return in
}

// expect is every row that the answer must have.
func (q List[R]) expect(a Asker, in Args) (rows []R) {
	fitting := func(fits func(R, Args) bool) {
		for _, row := range q.Rows.Rows {
			if q.Sees(a, row) && fits(row, in) {
				rows = append(rows, row)
			}
		}
	}
	if fitting(q.Fits); len(rows) == 0 && q.Else != nil {
		fitting(q.Else)
	}
	if order := q.order(in); order != nil {
		slices.SortFunc(rows, order)
	}
	return rows
}

func (q List[R]) order(in Args) func(a, b R) int {
	if q.Order == nil {
		return nil
	}
	return q.Order(in)
}

// maxPages bounds how many pages of one answer are walked, where their order is
// known.
const maxPages = 3

func (q List[R]) check(c *caller, in Args) error {
	if q.Code != nil {
		if code := q.Code(c.Asker, in); code != "" {
			o, encoded, err := c.ask(q.Tool, in)
			if err == nil && o.Code() != code {
				err = fmt.Errorf("got %s, want %s", encoded, code)
			}
			return err
		}
	}
	return q.checkPages(c, in)
}

func (q List[R]) checkPages(c *caller, in Args) error {
	want, asked := q.expect(c.Asker, in), maps.Clone(in)
	ranked, left := q.order(in) == nil, slices.Clone(want)
	for page := 0; ranked || page < maxPages; page++ {
		o, encoded, err := c.ask(q.Tool, asked)
		if err != nil {
			return err
		}
		var rows []map[string]any
		if o.Page() == nil || json.Unmarshal(o.Data(), &rows) != nil {
			return fmt.Errorf("got %s", encoded)
		}
		limit := min(in["limit"].(int), len(left))
		if len(rows) != limit || o.Page().More != (len(left) > limit) {
			return fmt.Errorf("page %d has %d rows, more: %v; want %d of %d", page, len(rows), o.Page().More, limit, len(left))
		}
		if o.Page().Counted && o.Page().Total != len(want) {
			return fmt.Errorf("page %d says that there are %d rows, want %d", page, o.Page().Total, len(want))
		}
		if left, err = q.take(c.Asker, left, in, rows, ranked); err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		if !o.Page().More {
			break
		}
		field, next := o.Page().Following()
		asked[field] = next
	}
	return nil
}

// take compares a page with the rows that are left, and removes them.
func (q List[R]) take(a Asker, left []R, in Args, rows []map[string]any, ranked bool) ([]R, error) {
	for _, got := range rows {
		at := 0
		if ranked {
			at = slices.IndexFunc(left, func(r R) bool { return q.ID(r) == fmt.Sprint(got[q.Key]) })
		}
		if at < 0 || q.ID(left[at]) != fmt.Sprint(got[q.Key]) {
			return nil, fmt.Errorf("got %v, want one of %d rows, %s first", got[q.Key], len(left), q.ID(left[0]))
		}
		if err := q.compare(a, left[at], in, got); err != nil {
			return nil, err
		}
		left = slices.Delete(left, at, at+1)
	}
	return left, nil
}

// walker is a question whose pages hold while rows come and go.
type walker interface {
	walk(t *testing.T, h *harness, in Args)
	walks() []Args
}

func (q List[R]) walks() []Args { return q.Walks }

// pages walks lists to their ends while rows are added and removed between the
// pages: a row that is there all the time is returned exactly once, and no row
// twice. A cursor is of use to its own caller only.
func (s *suite) pages(t *testing.T) {
	if s.engine.Connect == nil && len(s.Writes) > 0 {
		t.Skip("no other process can change this store")
	}
	walked := map[string]bool{} // a question may be there twice, to be asked more often
	for _, question := range s.Oracle(Crowd).Questions {
		w, ok := question.(walker)
		if !ok || walked[question.tool()] {
			continue
		}
		walked[question.tool()] = true
		for _, in := range w.walks() {
			w.walk(t, s.open(t, Crowd), in)
		}
	}
}

func (q List[R]) walk(t *testing.T, h *harness, in Args) {
	t.Helper()
	everything := Asker{Email: "x@y", Roles: Roles()}
	steady, seen, in := map[string]bool{}, map[string]int{}, maps.Clone(in)
	for _, row := range q.expect(everything, in) {
		steady[q.ID(row)] = true
	}
	pages := 0
	for ; ; pages++ {
		o := h.Ask(everything.in(t.Context()), q.Tool, in)
		var rows []map[string]any
		if o.Page() == nil || json.Unmarshal(o.Data(), &rows) != nil {
			t.Fatalf("%s %v: got %s", q.Tool, in, h.Encode(o))
		}
		for _, row := range rows {
			id := fmt.Sprint(row[q.Key])
			if seen[id]++; seen[id] > 1 {
				t.Errorf("%s %v: %s is returned twice", q.Tool, in, id)
			}
		}
		if !o.Page().More {
			break
		}
		in["cursor"] = o.Page().Next
		if pages == 0 {
			h.Refused(Asker{Email: "y@z", Roles: Roles()}.in(t.Context()), "INVALID_CURSOR", q.Tool, in)
		}
		for _, id := range q.Churn(t, h.store, pages) {
			delete(steady, id)
		}
	}
	if pages < 3 {
		t.Errorf("%s %v: only %d pages were walked", q.Tool, in, pages+1)
	}
	for id := range steady {
		if seen[id] == 0 {
			t.Errorf("%s %v: %s was there all the time and is not returned", q.Tool, in, id)
		}
	}
}
