package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

// search looks for the rows of a table that have every word of a term.
type search struct {
	index
	kind     string // only entities of this type; empty: any row
	byNumber bool   // the order of the numbers is that of the times

	entities *byEntities // of tasks: a word may be that of an entity that they are linked to
}

// page returns a page of the rows that were found, the best first, and their number in
// all. A row is the better the more of the words are in the first column, and then the
// more of them it has as whole words; a word counts the more the fewer rows have it. Of
// equals the newest is first.
func (s search) page(ctx context.Context, term string, p Page) (ids []int64, total int, err error) {
	words, err := s.read(ctx, term)
	if err != nil || len(words) == 0 {
		return nil, 0, err
	}
	found := rowset.Set{}
	found.Join(words[0].anywhere)
	for _, word := range words[1:] {
		found = found.Take(word.anywhere)
	}
	total = found.Len()
	ids, err = s.cut(ctx, rank(found, words), p)
	return ids, total, err
}

// read looks up the words of a term among the rows that are searched. A word without
// letters and digits means nothing.
func (s search) read(ctx context.Context, term string) (all []sought, err error) {
	deleted, ofKind, err := s.marked(ctx)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(term) {
		pieces := words.Of(word)
		if len(pieces) == 0 {
			continue
		}
		found, err := s.seek(ctx, pieces)
		if err != nil {
			return nil, err
		}
		if s.entities != nil {
			if err := s.entities.add(ctx, pieces, found.anywhere); err != nil {
				return nil, err
			}
		}
		found.anywhere.Take(deleted)
		if s.kind != "" {
			found.anywhere = found.anywhere.Take(ofKind)
		}
		all = append(all, found)
	}
	return all, nil
}

// marked returns the rows that are deleted, and those of the kind that is searched.
func (s search) marked(ctx context.Context) (deleted, ofKind rowset.Set, err error) {
	hidden, err := s.sets(ctx, "", exactly(":deleted"))
	if err != nil || s.kind == "" {
		return hidden.anywhere, nil, err
	}
	only, err := s.sets(ctx, "", exactly(":"+s.kind))
	return hidden.anywhere, only.anywhere, err
}

// rank separates rows into classes, the best first.
func rank(found rowset.Set, words []sought) []rowset.Class {
	classes := []rowset.Class{{Rows: found}}
	for _, word := range words {
		rarity := int64(1e6 * math.Log(1+4000/float64(1+word.anywhere.Len())))
		classes = rowset.Raise(classes, word.inFirst, 2*rarity)
		classes = rowset.Raise(classes, word.whole, rarity)
	}
	return rowset.Ranked(classes)
}

// cut returns the rows of a page.
func (s search) cut(ctx context.Context, classes []rowset.Class, p Page) (page []int64, err error) {
	skip := p.Offset
	for _, c := range classes {
		left := p.Limit - len(page)
		if n := c.Rows.Len(); skip >= n || left == 0 {
			skip -= n
			continue
		}
		more, err := s.newest(ctx, c.Rows, skip, left)
		if err != nil {
			return nil, err
		}
		page, skip = append(page, more...), 0
	}
	return page, nil
}

// newest returns some of the rows of a set, the newest first.
func (s search) newest(ctx context.Context, rows rowset.Set, skip, limit int) (page []int64, err error) {
	if s.byNumber {
		return rows.Last(skip, limit), nil
	}
	return column[int64](ctx, s.file, "select x.id from json_each(?) r cross join "+s.table+" x on x.id = r.value order by x.created_at desc, x.id desc limit ? offset ?", listOf(rows.Last(0, rows.Len())), limit, skip)
}

// listOf is a list of numbers for a query.
func listOf(ids []int64) string {
	list, _ := json.Marshal(ids) // numbers always have one
	return string(list)
}

// SearchTasks returns a page of the tasks that have every word of a term in their
// title, description or files, or in the name or identifier of an entity that they are
// linked to, the best first, and their number in all.
func (w taskLists) SearchTasks(ctx context.Context, term string, p Page) (found []record.Task, total int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		x, err := w.openIndex(ctx, "tasks", "title")
		if err != nil {
			return err
		}
		entities, err := openByEntities(ctx, w.file)
		if err != nil {
			return err
		}
		s := search{index: x, entities: entities}
		if err := w.In(ctx).QueryRowContext(ctx, "select unordered = 0 from about").Scan(&s.byNumber); err != nil {
			return w.Fault(ctx, err)
		}
		ids, n, err := s.page(ctx, term, p)
		if total = n; err != nil || n == 0 {
			return err
		}
		names, err := entities.names(ctx, ids)
		if err != nil {
			return err
		}
		found, err = w.readFound(ctx, ids, term, names, p.Details)
		return err
	})
	return found, total, err
}

// readFound reads a page of what was found; names are those of the entities by which
// some of it was.
func (w taskLists) readFound(ctx context.Context, ids []int64, term string, names map[int64]string, details bool) (found []record.Task, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select "+columns(details)+", t.description, t.file_references from json_each(?) page cross join tasks t on t.id = page.value order by page.key", listOf(ids))
	err = w.Each(ctx, rows, err, func() error {
		var description, files sql.NullString
		t, err := scanTask(rows.Scan, details, &description, &files)
		t.Snippet = words.Snippet(strings.Fields(term), t.Title, names[t.ID], description.String, strings.Trim(files.String, "[]"))
		found = append(found, t)
		return err
	})
	return found, err
}
