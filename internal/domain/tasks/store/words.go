package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

// newestRows is how many rows are made and reworded before their words are put into the
// sets and into FTS5. To do so for each one would cost a change of a set for each of its
// words; together, rows have many words in common.
const newestRows = 64

// texts are the columns with words, by table, none of them null: the first one, the
// second, and a list in JSON, or nothing.
var texts = map[string]string{"tasks": "x.title, coalesce(x.description, ''), coalesce(x.file_references, '')", "entities": "x.name, coalesce(x.identifier, ''), ''"}

// unwritten is a row of which the words are not in the sets as it has them now.
type unwritten struct {
	id     int64
	texts  words.Texts
	before *words.Texts // those of which the words are in the sets; nil: none are
}

// made are the rows of a table that are in no set, up to a number.
func (w *file) made(ctx context.Context, table string, last int64) ([]unwritten, error) {
	return w.unwritten(ctx, "select x.id, "+texts[table]+", null, null, null from "+table+" x where x.id between (select before from indexed where kind = ?) and ? order by x.id", table+" parts", last)
}

// reworded are the rows of a table whose words are in the sets as they were before.
func (w *file) reworded(ctx context.Context, table string) ([]unwritten, error) {
	return w.unwritten(ctx, "select x.id, "+texts[table]+", r.first, r.second, r.list from reworded r cross join "+table+" x on x.id = r.id where r.kind = ? order by r.id", table)
}

func (w *file) unwritten(ctx context.Context, query string, args ...any) (found []unwritten, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, query, args...)
	err = w.Each(ctx, rows, err, func() error {
		var row unwritten
		var first, second, list sql.NullString
		err := rows.Scan(&row.id, &row.texts.First, &row.texts.Second, &row.texts.List, &first, &second, &list)
		if first.Valid {
			row.before = &words.Texts{First: first.String, Second: second.String, List: list.String}
		}
		found = append(found, row)
		return err
	})
	return found, err
}

// indexSoon puts rows into the sets when there are as many as may be kept out of them.
func (w *file) indexSoon(ctx context.Context, table string) error {
	var rows int
	err := w.In(ctx).QueryRowContext(ctx, "select (select coalesce(max(id), 0) + 1 from "+table+") - (select before from indexed where kind = ?) + (select count(*) from reworded where kind = ?)", table+" parts", table).Scan(&rows)
	if err != nil || rows < newestRows {
		return w.Fault(ctx, err)
	}
	return w.index(ctx, table)
}

// indexAll puts all rows into the sets.
func (w *file) indexAll(ctx context.Context) error {
	return errors.Join(w.index(ctx, "tasks"), w.index(ctx, "entities"))
}

// index puts the words of the rows of a table into the sets that are not there, a span
// of new ones at a time.
func (w *file) index(ctx context.Context, table string) error {
	if err := w.countWords(ctx); err != nil {
		return err
	}
	rows, err := w.reworded(ctx, table)
	if err != nil {
		return err
	}
	bySpan := map[int64][]unwritten{}
	for _, row := range rows {
		bySpan[row.id/rowset.SpanRows] = append(bySpan[row.id/rowset.SpanRows], row)
	}
	for span, rows := range bySpan {
		if err := w.write(ctx, table, span, rows); err != nil {
			return err
		}
	}
	if _, err := w.Exec(ctx, "delete from reworded where kind = ?", table); err != nil {
		return err
	}
	for {
		var span, last int64
		err := w.In(ctx).QueryRowContext(ctx, "select before / ?, (select coalesce(max(id), 0) from "+table+") from indexed where kind = ?", rowset.SpanRows, table+" parts").Scan(&span, &last)
		if err != nil {
			return w.Fault(ctx, err)
		}
		end := min(last, (span+1)*rowset.SpanRows-1)
		rows, err := w.made(ctx, table, end)
		if err != nil {
			return err
		}
		if err := w.write(ctx, table, span, rows); err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "update indexed set before = max(before, ?) where kind in (?, ?)", end+1, table, table+" parts"); err != nil {
			return err
		}
		if err := w.countWords(ctx); err != nil || end == last {
			return err
		}
	}
}

// write puts the words and parts of rows, which are all in one span, into the sets, and
// takes those that they had out of them.
func (w *file) write(ctx context.Context, table string, span int64, rows []unwritten) error {
	was, is, all := make([]map[string]bool, len(rows)), make([]map[string]bool, len(rows)), map[string]bool{}
	for i, row := range rows {
		was[i], is[i] = row.before.Names(), row.texts.Names()
		maps.Copy(all, was[i])
		maps.Copy(all, is[i])
	}
	kept, err := w.keptParts(ctx, slices.Sorted(maps.Keys(all)), nil)
	if err != nil {
		return err
	}
	naming, edits, ofNew := words.Naming{Kept: kept}, rowset.Edits{}, rowset.Edits{}
	for i, row := range rows {
		at := int(row.id % rowset.SpanRows)
		if row.before == nil {
			ofNew.Move(at, nil, is[i])
			continue
		}
		edits.Move(at, naming.WithParts(was[i]), naming.WithParts(is[i]))
	}
	for word, edit := range ofNew {
		edits.Spread(edit, append(slices.Clone(naming.Parts(word)), word))
	}
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		if err := w.edit(ctx, table, span, name, edits[name]); err != nil {
			return err
		}
	}
	return nil
}

// edit changes the set of a word in a span.
func (w *file) edit(ctx context.Context, table string, at int64, word string, e *rowset.Edit) error {
	if len(e.Cut) > 0 || len(e.CutFirst) > 0 {
		_, err := w.Exec(ctx, "update postings set anywhere = search_less(anywhere, ?), in_first = search_less(in_first, ?) where kind = ? and span = ? and word = ?",
			rowset.Pack(e.Cut), rowset.Pack(e.CutFirst), table, at, word)
		if err != nil {
			return err
		}
	}
	if len(e.Add) > 0 || len(e.AddFirst) > 0 {
		return w.addPosting(ctx, table, at, word, rowset.Pack(e.Add), rowset.Pack(e.AddFirst))
	}
	_, err := w.Exec(ctx, "delete from postings where kind = ? and span = ? and word = ? and anywhere is null", table, at, word)
	return err
}

// addPosting adds rows to the set of a word in a span.
func (w *file) addPosting(ctx context.Context, table string, at int64, word string, anywhere, inFirst []byte) error {
	_, err := w.Exec(ctx, `insert into postings (kind, span, word, anywhere, in_first) values (?, ?, ?, ?, ?)
  on conflict do update set anywhere = search_join(anywhere, excluded.anywhere), in_first = search_join(in_first, excluded.in_first)`,
		table, at, word, anywhere, inFirst)
	return err
}
