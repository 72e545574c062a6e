package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

// search looks for the rows of a table that have every word of a term, or else any.
type search struct {
	index
	kind     string // only entities of this type; empty: any row
	byNumber bool   // the order of the numbers is that of the times

	entities *byEntities // of tasks: a word may be that of an entity that they are linked to

	deleted, ofKind rowset.Set // rows that are left out, and those of the kind
}

// hits are a page of the rows that a search found.
type hits struct {
	ids   []int64
	total int      // how many rows were found in all
	words []string // by which they were found
	some  bool     // no row has all of the words
}

// page returns a page of the rows that have every word, the best first. When none has, it
// is of those that have a form of every word, or else of those that have any: what has more
// of the rarest words is first then. A row is the better the more of the words are in the first
// column, and then as whole words; a rare word counts more. Of equals the newest is first.
func (s search) page(ctx context.Context, term string, p Page) (h hits, err error) {
	if s.deleted, s.ofKind, err = s.marked(ctx); err != nil {
		return h, err
	}
	all, err := s.read(ctx, term)
	if err != nil || len(all) == 0 {
		return h, err
	}
	found := words.InAll(all)
	if len(all) > 1 && len(found) == 0 {
		if err = s.widen(ctx, all); err != nil {
			return h, err
		}
		found = words.InAll(all)
	}
	each, ranked := int64(0), all // all rows have the same ones
	if len(all) > 1 && len(found) == 0 {
		each, ranked = 1e9, words.Rarest(all, fewWords) // more than all else together
		for _, one := range all {
			found.Join(one.Anywhere)
		}
	}
	for _, one := range all {
		h.words = append(h.words, one.Text)
	}
	h.total = found.Len()
	h.some = each > 0 && h.total > 0
	h.ids, err = s.cut(ctx, words.Rank(found, ranked, each), p)
	return h, err
}

const fewWords = 8 // rank rows that have any word: of many words each row may have others

// read looks up the words of a term among the rows that are searched. A word that none
// has is looked up by its other forms, so that "logins" finds "login". A word without
// letters and digits means nothing.
func (s search) read(ctx context.Context, term string) (all []words.Rows, err error) {
	for _, word := range strings.Fields(term) {
		pieces := words.Of(word)
		if len(pieces) == 0 {
			continue
		}
		found, err := s.among(ctx, pieces)
		found.Text = word
		if form := words.Form(pieces[0]); err == nil && len(found.Anywhere) == 0 && len(pieces) == 1 && form != "" {
			found, err = s.among(ctx, []string{form})
			found.Text = form
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// widen looks words up by those of their forms that they begin with, and so finds more rows.
func (s search) widen(ctx context.Context, all []words.Rows) (err error) {
	for i, one := range all {
		form := words.Wider(one.Text)
		if form == "" {
			continue
		}
		if all[i], err = s.among(ctx, []string{form}); err != nil {
			return err
		}
		all[i].Text = form
	}
	return nil
}

// among looks a word up among the rows that are searched.
func (s search) among(ctx context.Context, pieces []string) (found words.Rows, err error) {
	if found, err = s.seek(ctx, pieces); err != nil {
		return found, err
	}
	if s.entities != nil {
		err = s.entities.add(ctx, pieces, found.Anywhere)
	}
	found.Anywhere.Take(s.deleted)
	if s.kind != "" {
		found.Anywhere = found.Anywhere.Take(s.ofKind)
	}
	return found, err
}

// marked returns the rows that are deleted, and those of the kind that is searched.
func (s search) marked(ctx context.Context) (deleted, ofKind rowset.Set, err error) {
	hidden, err := s.sets(ctx, "", exactly(":deleted"))
	if err != nil || s.kind == "" {
		return hidden.Anywhere, nil, err
	}
	only, err := s.sets(ctx, "", exactly(":"+s.kind))
	return hidden.Anywhere, only.Anywhere, err
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
// linked to, the best first, and their number in all. When none has every word, they are
// those that have any, which some says.
func (w taskLists) SearchTasks(ctx context.Context, term string, p Page) (found []record.Task, total int, some bool, err error) {
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
		h, err := s.page(ctx, term, p)
		if total, some = h.total, h.some; err != nil || total == 0 {
			return err
		}
		names, err := entities.names(ctx, h.ids)
		if err != nil {
			return err
		}
		found, err = w.readFound(ctx, h, names, p.Details)
		return err
	})
	return found, total, some, err
}

// readFound reads a page of what was found; names are those of the entities by which
// some of it was.
func (w taskLists) readFound(ctx context.Context, h hits, names map[int64]string, details bool) (found []record.Task, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select "+columns(details)+", t.description, t.file_references from json_each(?) page cross join tasks t on t.id = page.value order by page.key", listOf(h.ids))
	err = w.Each(ctx, rows, err, func() error {
		var description, files sql.NullString
		t, err := scanTask(rows.Scan, details, &description, &files)
		var named []string
		_ = json.Unmarshal([]byte(files.String), &named) // a list that we wrote
		t.Snippet = words.Snippet(h.words, t.Title, names[t.ID], description.String, `"`+strings.Join(named, `","`)+`"`)
		found = append(found, t)
		return err
	})
	return found, err
}
