package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

// newestRows is how many rows are made before their words are put into the sets. To do
// so for each one would cost a change of a set for each of its words; together, rows
// have many words in common.
const newestRows = 64

// unindexed is a row of which the words are in no set, with its texts in lower case.
type unindexed struct {
	id            int64
	first, others string // that of the first column, and the others
}

// searched are the columns with words, the first one and the others, by table.
var searched = map[string]string{
	"tasks":    "title, concat_ws(' ', description, (select group_concat(value, ' ') from json_each(file_references)))",
	"entities": "name, coalesce(identifier, '')",
}

// texts are those columns as they are, none of them null.
var texts = map[string]string{"tasks": "title, coalesce(description, ''), coalesce(file_references, '')", "entities": "name, coalesce(identifier, ''), ''"}

// notIndexed returns the rows of a table whose words are in no set, up to a number.
func (w *file) notIndexed(ctx context.Context, table string, last int64) (found []unindexed, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select id, "+searched[table]+" from "+table+" where id between (select before from indexed where kind = ?) and ? order by id", table+" parts", last)
	err = w.Each(ctx, rows, err, func() error {
		var row unindexed
		err := rows.Scan(&row.id, &row.first, &row.others)
		row.first, row.others = strings.ToLower(row.first), strings.ToLower(row.others)
		found = append(found, row)
		return err
	})
	return found, err
}

// indexSoon puts the newest rows into the sets when the one with a number is the last
// of as many as are kept out of them.
func (w *file) indexSoon(ctx context.Context, table string, id int64) error {
	if id%newestRows != newestRows-1 {
		return nil
	}
	return w.index(ctx, table)
}

// indexAll puts all rows into the sets.
func (w *file) indexAll(ctx context.Context) error {
	return errors.Join(w.index(ctx, "tasks"), w.index(ctx, "entities"))
}

// index puts the rows of a table that are in no set into the sets, a span at a time.
func (w *file) index(ctx context.Context, table string) error {
	if err := w.countWords(ctx); err != nil {
		return err
	}
	for {
		var span, last int64
		err := w.In(ctx).QueryRowContext(ctx, "select before / ?, (select coalesce(max(id), 0) from "+table+") from indexed where kind = ?", rowset.SpanRows, table+" parts").Scan(&span, &last)
		if err != nil {
			return w.Fault(ctx, err)
		}
		end := min(last, (span+1)*rowset.SpanRows-1)
		rows, err := w.notIndexed(ctx, table, end)
		if err != nil {
			return err
		}
		if err := w.addPostings(ctx, table, span, rows); err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "update indexed set before = max(before, ?) where kind in (?, ?)", end+1, table, table+" parts"); err != nil || end == last {
			return err
		}
	}
}

// addPostings adds rows to the sets of their words and parts in a span.
func (w *file) addPostings(ctx context.Context, table string, at int64, rows []unindexed) error {
	anywhere, inFirst := map[string][]int{}, map[string][]int{}
	for _, row := range rows {
		for _, word := range words.Of(row.first) {
			anywhere[word] = append(anywhere[word], int(row.id%rowset.SpanRows))
			inFirst[word] = append(inFirst[word], int(row.id%rowset.SpanRows))
		}
		for _, word := range words.Of(row.others) {
			anywhere[word] = append(anywhere[word], int(row.id%rowset.SpanRows))
		}
	}
	all := slices.Sorted(maps.Keys(anywhere))
	kept, err := w.keptParts(ctx, all, nil)
	if err != nil {
		return err
	}
	for _, word := range all {
		for _, part := range words.Parts(word, kept) {
			name := words.NameOfPart(part)
			anywhere[name] = append(anywhere[name], anywhere[word]...)
			inFirst[name] = append(inFirst[name], inFirst[word]...)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(anywhere)) {
		if err := w.addPosting(ctx, table, at, word, rowset.Pack(anywhere[word]), rowset.Pack(inFirst[word])); err != nil {
			return err
		}
	}
	return nil
}

// addPosting adds rows to the set of a word in a span.
func (w *file) addPosting(ctx context.Context, table string, at int64, word string, anywhere, inFirst []byte) error {
	_, err := w.Exec(ctx, `insert into postings (kind, span, word, anywhere, in_first) values (?, ?, ?, ?, ?)
  on conflict do update set anywhere = search_join(anywhere, excluded.anywhere), in_first = search_join(in_first, excluded.in_first)`,
		table, at, word, anywhere, inFirst)
	return err
}
