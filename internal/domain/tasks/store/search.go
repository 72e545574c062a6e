package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
)

// search looks for words in the texts of a table. Every word must be there.
type search struct {
	*file
	table string
	first string // the column that counts more than the others: the title, or the name
	times bool   // the order of the ids is not that of the times
	where string // what else must hold of a row x
	args  []any
	words []sought
}

// hit is a row that was found.
type hit struct {
	id, created int64
	score       float64
}

// page returns a page of the rows that have all words of a term, the best first, as a
// list of ids for a query, and the number of those rows in all.
func (s search) page(ctx context.Context, term string, p Page) (ids string, total int, err error) {
	if s.words, err = s.read(ctx, term); err != nil || len(s.words) == 0 {
		return "", 0, err
	}
	if total, err = s.frequent(ctx); err != nil {
		return "", 0, err
	}
	if total > 0 {
		ids, err = s.newest(ctx, p)
		return ids, total, err
	}
	found, err := s.find(ctx)
	if err != nil {
		return "", 0, err
	}
	ids, err = pageOf(found, p)
	return ids, len(found), err
}

// read looks up the words of a term.
func (s search) read(ctx context.Context, term string) (words []sought, err error) {
	for _, word := range strings.Fields(term) {
		one, err := s.seek(ctx, word)
		if err != nil {
			return nil, err
		}
		if one.whole != "" {
			words = append(words, one)
		}
	}
	return words, nil
}

// find returns the rows that have all words, the best first. A row is the
// better the more of the words are in the first column, and then the more of them it
// has as whole words; a word counts the more the fewer rows have it. Of equals the
// newest is first.
func (s search) find(ctx context.Context) ([]hit, error) {
	found, err := s.matching(ctx)
	if err == nil && len(found) > 1 {
		err = s.score(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), cmp.Compare(b.id, a.id))
	})
	return found, nil
}

// frequent returns how many rows have the one word of a search, when they are so many
// that a page of them is better read from the newest end, and 0 otherwise.
func (s search) frequent(ctx context.Context) (rows int, err error) {
	if s.table != "tasks" || s.times || len(s.words) > 1 || len(s.words[0].parts) > fewWords {
		return 0, nil
	}
	any := batches(s.words[0].phrases())[0]
	err = s.In(ctx).QueryRowContext(ctx, "select count(*) from tasks_words where tasks_words match ?", any).Scan(&rows)
	if err != nil {
		return 0, s.Fault(ctx, err)
	}
	if rows <= countedRows {
		return 0, nil
	}
	return rows, nil
}

// newest reads a page of a search for one word in the order of find, where the order
// of the ids is that of the times. One word has four scores at most, so the rows of
// each are read from the newest end, the best score first, until the page is full.
func (s search) newest(ctx context.Context, p Page) (string, error) {
	word := s.words[0]
	any := batches(word.phrases())[0]
	inFirst := "({" + s.first + "} : " + any + ")"
	classes := []string{inFirst, any + " NOT " + inFirst}
	if len(word.parts) > 0 {
		whole := "(" + word.whole + ")"
		classes = []string{inFirst + " AND " + whole, inFirst + " NOT " + whole, whole + " NOT " + inFirst, any + " NOT (" + inFirst + " OR " + whole + ")"}
	}
	var found []hit
	for _, class := range classes {
		left := p.Offset + p.Limit - len(found)
		if left <= 0 {
			break
		}
		var ids string
		err := s.In(ctx).QueryRowContext(ctx, "select json_group_array(rowid) from (select rowid from tasks_words where tasks_words match ? order by rowid desc limit ?)", class, left).Scan(&ids)
		if err != nil {
			return "", s.Fault(ctx, err)
		}
		for _, id := range numbers(ids) {
			found = append(found, hit{id: id})
		}
	}
	return pageOf(found, p)
}

// matching returns the rows that have all words, by their ids. A word that is part of
// very many others is looked up in batches.
func (s search) matching(ctx context.Context) (found []hit, err error) {
	var batched [][]string
	condition := ""
	for _, word := range s.words {
		batches := batches(word.phrases())
		if len(batches) == 1 {
			condition = and(condition, batches[0])
			continue
		}
		batched = append(batched, batches)
	}
	if len(batched) == 0 {
		return s.rows(ctx, condition)
	}
	for i, batches := range batched {
		var of []hit
		for _, batch := range batches {
			more, err := s.rows(ctx, and(condition, batch))
			if err != nil {
				return nil, err
			}
			of = append(of, more...)
		}
		of = byID(of)
		if i > 0 {
			of = slices.DeleteFunc(of, func(h hit) bool { _, both := slices.BinarySearchFunc(found, h, compareIDs); return !both })
		}
		found = of
	}
	return found, nil
}

func compareIDs(a, b hit) int { return cmp.Compare(a.id, b.id) }

func byID(rows []hit) []hit {
	slices.SortFunc(rows, compareIDs)
	return slices.CompactFunc(rows, func(a, b hit) bool { return a.id == b.id })
}

// batches are conditions that together ask for any of some phrases.
func batches(phrases []string) (conditions []string) {
	for some := range slices.Chunk(phrases, wordsAtOnce) {
		conditions = append(conditions, "("+strings.Join(some, " OR ")+")")
	}
	return conditions
}

func and(condition, more string) string {
	if condition == "" {
		return more
	}
	return condition + " AND " + more
}

// rows reads the ids of the rows that meet a condition, and their times where those
// matter, by their ids.
func (s search) rows(ctx context.Context, condition string) ([]hit, error) {
	statement := "select json_group_array(rowid), '' from tasks_words where tasks_words match ?"
	if s.table != "tasks" || s.times {
		statement = "select json_group_array(x.id), json_group_array(x.created_at) from " + s.table + "_words f join " + s.table + " x on x.id = f.rowid where f." + s.table + "_words match ?" + s.where
	}
	var ids, created string
	if err := s.In(ctx).QueryRowContext(ctx, statement, append([]any{condition}, s.args...)...).Scan(&ids, &created); err != nil {
		return nil, s.Fault(ctx, err)
	}
	times := numbers(created)
	found := make([]hit, 0, len(ids)/4)
	for i, id := range numbers(ids) {
		found = append(found, hit{id: id})
		if len(times) > 0 {
			found[i].created = times[i]
		}
	}
	return byID(found), nil
}

// numbers reads an array of integers, as SQLite writes it.
func numbers(array string) (all []int64) {
	n, any := int64(0), false
	for _, c := range []byte(array) {
		switch {
		case '0' <= c && c <= '9':
			n, any = 10*n+int64(c-'0'), true
		case any:
			all, n, any = append(all, n), 0, false
		}
	}
	return all
}

// score gives each row that was found its score.
func (s search) score(ctx context.Context, found []hit) error {
	rarest := ""
	if len(s.words) > 1 {
		if err := s.count(ctx); err != nil {
			return err
		}
		least := slices.MinFunc(s.words, func(a, b sought) int { return cmp.Compare(a.rows, b.rows) })
		if batches := batches(least.phrases()); len(batches) == 1 {
			rarest = batches[0]
		}
	}
	for _, word := range s.words {
		among := "" // the rows that are looked at
		if word.rows == countedRows {
			among = rarest
		}
		weight := math.Log(1 + 2*countedRows/float64(1+word.rows))
		var inFirst []string
		for _, batch := range batches(word.phrases()) {
			inFirst = append(inFirst, and(among, "{"+s.first+"} : "+batch))
		}
		if err := s.raise(ctx, found, 2*weight, inFirst...); err != nil {
			return err
		}
		if len(word.parts) > 0 {
			if err := s.raise(ctx, found, weight, and(among, word.whole)); err != nil {
				return err
			}
		}
	}
	return nil
}

// raise adds to the score of the rows that meet one of some conditions.
func (s search) raise(ctx context.Context, found []hit, by float64, conditions ...string) error {
	var all []int64
	for _, condition := range conditions {
		var ids string
		err := s.In(ctx).QueryRowContext(ctx, "select json_group_array(rowid) from "+s.table+"_words where "+s.table+"_words match ?", condition).Scan(&ids)
		if err != nil {
			return s.Fault(ctx, err)
		}
		all = append(all, numbers(ids)...)
	}
	slices.Sort(all)
	i := 0
	for _, id := range slices.Compact(all) {
		for i < len(found) && found[i].id < id {
			i++
		}
		if i < len(found) && found[i].id == id {
			found[i].score += by
		}
	}
	return nil
}

// countedRows is as far as rows are counted to tell how rare a word is.
const countedRows = 2000

// count counts the rows that have each word. One that is part of very many others is
// taken to be frequent.
func (s search) count(ctx context.Context) error {
	for i, word := range s.words {
		s.words[i].rows = countedRows
		batches := batches(word.phrases())
		if len(batches) > 1 {
			continue
		}
		err := s.In(ctx).QueryRowContext(ctx, "select count(*) from (select 1 from "+s.table+"_words where "+s.table+"_words match ? limit ?)", batches[0], countedRows).Scan(&s.words[i].rows)
		if err != nil {
			return s.Fault(ctx, err)
		}
	}
	return nil
}

// pageOf is a page of what was found, as a list of ids for a query.
func pageOf(found []hit, p Page) (ids string, err error) {
	from := min(p.Offset, len(found))
	page := make([]int64, 0, p.Limit)
	for _, h := range found[from:min(from+p.Limit, len(found))] {
		page = append(page, h.id)
	}
	encoded, err := json.Marshal(page)
	return string(encoded), err
}

// SearchTasks returns a page of the tasks that have every word of a term in their
// title, description or files, the best first, and their number in all.
func (w taskLists) SearchTasks(ctx context.Context, term string, p Page) (found []record.Task, total int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		s := search{file: w.file, table: "tasks", first: "title"}
		if err := w.In(ctx).QueryRowContext(ctx, "select unordered from about").Scan(&s.times); err != nil {
			return w.Fault(ctx, err)
		}
		ids, n, err := s.page(ctx, term, p)
		if total = n; err != nil || n == 0 {
			return err
		}
		found, err = w.readFound(ctx, ids, term, p)
		return err
	})
	return found, total, err
}

// readFound reads a page of what was found.
func (w taskLists) readFound(ctx context.Context, ids, term string, p Page) (found []record.Task, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select "+columns(p.Details)+", t.description, t.file_references from json_each(?) page cross join tasks t on t.id = page.value order by page.key", ids)
	err = w.Each(ctx, rows, err, func() error {
		var description, files sql.NullString
		t, err := scanTask(rows.Scan, p.Details, &description, &files)
		t.Snippet = snippet(strings.Fields(term), t.Title, description.String, strings.Trim(files.String, "[]"))
		found = append(found, t)
		return err
	})
	return found, err
}
