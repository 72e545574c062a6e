package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/domain/tasks/rowset"
	engine "countersign.dev/internal/sqlite"
)

// addFunctions adds the functions by which triggers index texts: search_words and
// search_vocabulary of a text, or null, and search_add and search_cut of a stored span,
// or null, and a row of it, search_join of two spans.
var addFunctions = sync.OnceValue(func() error {
	ofText := func(name string, of func(text string) string) error {
		return engine.AddFunction(name, 1, func(args []driver.Value) (driver.Value, error) {
			if args[0] == nil {
				return nil, nil
			}
			text, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("a %T is no text", args[0])
			}
			return of(text), nil
		})
	}
	ofSpan := func(name string, of func(span []byte, row int) []byte) error {
		return engine.AddFunction(name, 2, func(args []driver.Value) (driver.Value, error) {
			row, ok := args[1].(int64)
			if !ok || row < 0 || row >= rowset.SpanRows {
				return nil, fmt.Errorf("%v is no row of a span", args[1])
			}
			span, _ := args[0].([]byte)
			return orNull(of(span, int(row))), nil
		})
	}
	return errors.Join(
		ofText("search_words", func(text string) string { return strings.Join(wordsOf(text), " ") }),
		ofText("search_vocabulary", vocabularyOf),
		ofSpan("search_add", rowset.Put), ofSpan("search_cut", rowset.Cut),
		engine.AddFunction("search_join", 2, func(args []driver.Value) (driver.Value, error) {
			span, _ := args[0].([]byte)
			other, _ := args[1].([]byte)
			return orNull(rowset.Join(span, other)), nil
		}))
})

func orNull(span []byte) driver.Value {
	if span == nil {
		return nil
	}
	return span
}

// wordsOf separates a text into its words, in lower case: runs of letters and digits.
// In scripts without spaces each character is a word. Most runs are of ASCII alone.
func wordsOf(text string) []string {
	words := make([]string, 0, len(text)/6)
	for text != "" {
		n, plain := 0, true
		for n < len(text) && (isWord(text[n]) || text[n] >= utf8.RuneSelf) {
			plain = plain && text[n] < utf8.RuneSelf
			n++
		}
		switch {
		case n == 0:
			n = 1
		case plain:
			words = append(words, strings.ToLower(text[:n]))
		default:
			words = append(words, wideWords(text[:n])...)
		}
		text = text[n:]
	}
	return words
}

func isWord(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' }

// wideWords separates a run that has characters beyond ASCII.
func wideWords(run string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range run {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words
}

// vocabularyOf is the list of the words of a text, each once, in JSON. A word has
// nothing that JSON escapes.
func vocabularyOf(text string) string {
	seen, list := map[string]bool{}, []byte("[")
	for _, word := range wordsOf(text) {
		if seen[word] {
			continue
		}
		seen[word] = true
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), word...), '"')
	}
	return string(append(list, ']'))
}

// newestRows is how many rows are made before their words are put into the sets. To do
// so for each one would cost a change of a set for each of its words; together, rows
// have many words in common.
const newestRows = 64

// worded is a row with the words of its texts.
type worded struct {
	id           int64
	first, words []string // those of the first column, and all
}

// searched are the columns with words, the first one and the others, by table.
var searched = map[string]string{
	"tasks":    "title, concat_ws(' ', description, (select group_concat(value, ' ') from json_each(file_references)))",
	"entities": "name, coalesce(identifier, '')",
}

// notIndexed returns the rows of a table whose words are in no set, up to a number.
func (w *file) notIndexed(ctx context.Context, table string, last int64) (found []worded, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select id, "+searched[table]+" from "+table+" where id between (select before from indexed where kind = ?) and ? order by id", table, last)
	err = w.Each(ctx, rows, err, func() error {
		var row worded
		var first, others string
		err := rows.Scan(&row.id, &first, &others)
		row.first = wordsOf(first)
		row.words = append(row.first, wordsOf(others)...)
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
	for {
		var span, last int64
		err := w.In(ctx).QueryRowContext(ctx, "select before / ?, (select coalesce(max(id), 0) from "+table+") from indexed where kind = ?", rowset.SpanRows, table).Scan(&span, &last)
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
		if _, err := w.Exec(ctx, "update indexed set before = max(before, ?) where kind = ?", end+1, table); err != nil || end == last {
			return err
		}
	}
}

// addPostings adds rows to the sets of their words in a span.
func (w *file) addPostings(ctx context.Context, table string, at int64, rows []worded) error {
	anywhere, inFirst := map[string][]int{}, map[string][]int{}
	for _, row := range rows {
		for _, word := range row.words {
			anywhere[word] = append(anywhere[word], int(row.id%rowset.SpanRows))
		}
		for _, word := range row.first {
			inFirst[word] = append(inFirst[word], int(row.id%rowset.SpanRows))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(anywhere)) {
		_, err := w.Exec(ctx, `insert into postings (kind, span, word, anywhere, in_first) values (?, ?, ?, ?, ?)
  on conflict do update set anywhere = search_join(anywhere, excluded.anywhere), in_first = search_join(in_first, excluded.in_first)`,
			table, at, word, rowset.Pack(anywhere[word]), rowset.Pack(inFirst[word]))
		if err != nil {
			return err
		}
	}
	return nil
}
