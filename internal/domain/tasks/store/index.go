package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

const (
	// fewRows is of how many rows that have all pieces of a word a search reads the texts.
	// In more of them FTS5 finds what follows what.
	fewRows = 2000
	// rowsAtOnce is how many of them are read together, which have 10 KB each at most.
	rowsAtOnce = 500
	// phrasesAtOnce bounds the phrases of one condition.
	phrasesAtOnce = 128
)

// index is the index of the words of a table, as it is while a search reads it.
type index struct {
	*file
	table  string      // tasks or entities
	first  string      // the column that counts more than the others: the title, or the name
	spans  int64       // how many spans there are
	newest []unwritten // the rows that are in no set, and those that are in sets of words which they had
	stale  rowset.Set  // those
}

// openIndex opens the index of a table in a snapshot.
func (w *file) openIndex(ctx context.Context, table, first string) (index, error) {
	x := index{file: w, table: table, first: first}
	err := w.In(ctx).QueryRowContext(ctx, "select coalesce(max(id), 0) / ? + 1 from "+table, rowset.SpanRows).Scan(&x.spans)
	if err != nil {
		return x, w.Fault(ctx, err)
	}
	if x.newest, err = w.reworded(ctx, table); err != nil {
		return x, err
	}
	made, err := w.made(ctx, table, math.MaxInt64)
	x.newest, x.stale = append(x.newest, made...), rowset.Set{}
	for i, row := range x.newest {
		x.newest[i].texts = row.texts.Lower()
		x.stale.Add(row.id)
	}
	return x, err
}

// seek looks a word of a search up, which has one piece or more.
func (x index) seek(ctx context.Context, pieces []string) (words.Rows, error) {
	if len(pieces) > 1 {
		return x.phrase(ctx, pieces)
	}
	return x.word(ctx, pieces[0])
}

// word looks up the rows that have a word, and those that have it in a longer one.
func (x index) word(ctx context.Context, word string) (words.Rows, error) {
	ranges, err := x.ranges(ctx, word)
	if err != nil {
		return words.Rows{}, err
	}
	found, err := x.sets(ctx, word, ranges)
	found.Less(x.stale)
	for _, row := range x.newest {
		found.Add(row.id, row.texts.Mention(word))
	}
	return found, err
}

// ranges are those of the words of which the sets have the rows with a part: that of
// the part alone when it is kept.
func (x index) ranges(ctx context.Context, part string) ([][2]string, error) {
	kept, err := column[bool](ctx, x.file, "select kept from parts where part = ?", part)
	if err == nil && len(kept) == 1 && kept[0] {
		return append(exactly(words.NameOfPart(part)), exactly(part)...), nil
	}
	if err != nil {
		return nil, err
	}
	return x.stems(ctx, part)
}

// stems are the ranges of the words that have a part: a beginning up to the end of the
// part, whatever follows it. A short part is a word alone.
func (x index) stems(ctx context.Context, part string) (ranges [][2]string, err error) {
	if utf8.RuneCountInString(part) < words.MinPart {
		return exactly(part), nil
	}
	words, err := column[string](ctx, x.file, "select word from words_parts join words on id = words_parts.rowid where words_parts match ?", phrase(part))
	stems := map[string]bool{part: true}
	for _, word := range words {
		if at := strings.Index(word, part); at > 0 {
			stems[word[:at+len(part)]] = true
		}
	}
	for stem := range stems {
		ranges = append(ranges, [2]string{stem, stem + string(unicode.MaxRune)})
	}
	return ranges, err
}

func exactly(word string) [][2]string { return [][2]string{{word, word}} }

// sets reads the sets of the words in some ranges, of which one word is the whole one.
func (x index) sets(ctx context.Context, whole string, ranges [][2]string) (words.Rows, error) {
	found := words.NoRows()
	list, err := json.Marshal(ranges)
	if err != nil {
		return found, err
	}
	rows, err := x.In(ctx).QueryContext(ctx, `with recursive s (span) as (select 0 union all select span + 1 from s where span + 1 < ?)
select p.word = ?, p.span, p.anywhere, p.in_first from s cross join json_each(?) r
  cross join postings p on p.kind = ? and p.span = s.span and p.word between r.value ->> 0 and r.value ->> 1`, x.spans, whole, string(list), x.table)
	err = x.Each(ctx, rows, err, func() error {
		var isWhole bool
		var at int64
		var anywhere, inFirst sql.RawBytes
		err := rows.Scan(&isWhole, &at, &anywhere, &inFirst)
		found.Anywhere.Unpack(at, anywhere)
		found.InFirst.Unpack(at, inFirst)
		if isWhole {
			found.Whole.Unpack(at, anywhere)
		}
		return err
	})
	return found, err
}

// phrase looks up the rows that have the pieces of a word one after the other, as in a
// file's name. The first can be the end of a longer word, and the last its beginning.
func (x index) phrase(ctx context.Context, pieces []string) (words.Rows, error) {
	found, err := x.written(ctx, pieces)
	found.Less(x.stale)
	for _, row := range x.newest {
		found.Add(row.id, row.texts.Follow(pieces))
	}
	return found, err
}

// written looks up the rows that have the pieces of a word one after the other among
// those whose words are written.
func (x index) written(ctx context.Context, pieces []string) (words.Rows, error) {
	rows, err := x.having(ctx, pieces)
	if err != nil {
		return words.Rows{}, err
	}
	known, err := x.pair(ctx, pieces, rows)
	if err != nil {
		return words.Rows{}, err
	}
	rows.Anywhere.Take(known.Anywhere)
	if rows.Anywhere.Len() <= fewRows {
		if found, ok, err := x.following(ctx, rows.Anywhere, pieces); ok || err != nil {
			found.Anywhere.Join(known.Anywhere)
			found.Whole.Join(known.Whole)
			return found, err
		}
	}
	return x.matching(ctx, pieces)
}

// pair looks up two pieces that follow one another in a list, in which most words of
// several pieces are. Of the rows that have both pieces it leaves those out that may
// have them in the first text too, or as whole words in another place.
func (x index) pair(ctx context.Context, pieces []string, rows words.Rows) (words.Rows, error) {
	found := words.NoRows()
	if len(pieces) != 2 {
		return found, nil
	}
	exact := words.NameOfPair(pieces[0], pieces[1])
	ranges := exactly(exact)
	if utf8.RuneCountInString(pieces[1]) >= words.MinPart {
		ranges[0][1] += string(unicode.MaxRune)
	}
	pairs, err := x.sets(ctx, exact, ranges)
	if err != nil {
		return found, err
	}
	pairs.Anywhere.Take(rows.InFirst)
	found.Whole = pairs.Anywhere.Take(pairs.Whole)
	pairs.Anywhere.Take(rows.Whole)
	found.Anywhere.Join(found.Whole)
	found.Anywhere.Join(pairs.Anywhere)
	return found, nil
}

// matching are the rows of which FTS5 says that they have the pieces of a word one after
// the other.
func (x index) matching(ctx context.Context, pieces []string) (words.Rows, error) {
	found := words.NoRows()
	phrases, err := x.phrases(ctx, pieces)
	if err != nil {
		return found, err
	}
	if err := x.match(ctx, found.Anywhere, "", phrases); err != nil {
		return found, err
	}
	if err := x.match(ctx, found.Whole, "", []string{phrase(pieces...)}); err != nil {
		return found, err
	}
	for _, piece := range pieces {
		if one, err := x.word(ctx, piece); err != nil || len(one.InFirst) == 0 {
			return found, err
		}
	}
	return found, x.match(ctx, found.InFirst, "{"+x.first+"} : ", phrases)
}

// having returns the rows that have all pieces of a word, in whatever order: anywhere,
// all in the first text, and all as whole words.
func (x index) having(ctx context.Context, pieces []string) (rows words.Rows, err error) {
	for i, piece := range pieces {
		ranges := exactly(piece)
		if i == 0 || i == len(pieces)-1 {
			if ranges, err = x.ranges(ctx, piece); err != nil {
				return rows, err
			}
		}
		one, err := x.sets(ctx, piece, ranges)
		if err != nil {
			return rows, err
		}
		if i == 0 {
			rows = one
			continue
		}
		rows = words.Rows{Anywhere: rows.Anywhere.Take(one.Anywhere), InFirst: rows.InFirst.Take(one.InFirst), Whole: rows.Whole.Take(one.Whole)}
	}
	return rows, nil
}

// The characters between the texts of a row and between rows, when many are read as one
// text. No text that is written may have them.
const betweenTexts, betweenRows = "\x1f", "\x1e"

// following are those of some rows that have the pieces of a word one after the other.
// It reads their texts as one: to read row by row takes twice as long. ok is false when
// that was no use, because a text has the characters that separate them.
func (x index) following(ctx context.Context, some rowset.Set, pieces []string) (found words.Rows, ok bool, err error) {
	found = words.NoRows()
	for ids := range slices.Chunk(some.Last(0, some.Len()), rowsAtOnce) {
		var all sql.NullString
		err = x.In(ctx).QueryRowContext(ctx, "select group_concat(concat_ws(?, x.id, "+texts[x.table]+"), ?) from json_each(?) page cross join "+x.table+" x on x.id = page.value", betweenTexts, betweenRows, listOf(ids)).Scan(&all)
		if err != nil {
			return found, false, x.Fault(ctx, err)
		}
		for row := range strings.SplitSeq(all.String, betweenRows) {
			parts := strings.Split(row, betweenTexts)
			id, err := strconv.ParseInt(parts[0], 10, 64)
			if broken := err != nil || len(parts) != 4; broken && all.Valid {
				return found, false, nil
			} else if !broken {
				found.Add(id, words.Texts{First: parts[1], Second: parts[2], List: parts[3]}.Lower().Follow(pieces))
			}
		}
	}
	return found, true, nil
}

// phrases are those of which the first word is the first of some pieces, or ends with
// it, and the last one is the last of them, or begins with it.
func (x index) phrases(ctx context.Context, pieces []string) (all []string, err error) {
	first, last := pieces[0], pieces[len(pieces)-1]
	heads, after := []string{first}, ""
	if utf8.RuneCountInString(first) >= words.MinPart {
		longer, err := column[string](ctx, x.file, "select word from words_parts join words on id = words_parts.rowid where words_parts match ?", phrase(first+"$"))
		if err != nil {
			return nil, err
		}
		heads = append(heads, longer...)
	}
	if utf8.RuneCountInString(last) >= words.MinPart {
		longer, err := column[string](ctx, x.file, "select word from words where word > ? and word < ? limit 1", last, last+string(unicode.MaxRune))
		if err != nil {
			return nil, err
		}
		if len(longer) > 0 {
			after = " *"
		}
	}
	for _, head := range heads {
		all = append(all, phrase(append([]string{head}, pieces[1:]...)...)+after)
	}
	return all, nil
}

// phrase are words that follow one another, in the language of FTS5. They have nothing
// that it escapes.
func phrase(words ...string) string { return `"` + strings.Join(words, " ") + `"` }

// match adds the rows that have any of some phrases, in the columns that are named.
func (x index) match(ctx context.Context, to rowset.Set, columns string, phrases []string) error {
	for some := range slices.Chunk(phrases, phrasesAtOnce) {
		ids, err := column[int64](ctx, x.file, "select rowid from "+x.table+"_words where "+x.table+"_words match ?", columns+"("+strings.Join(some, " OR ")+")")
		if err != nil {
			return err
		}
		for _, id := range ids {
			to.Add(id)
		}
	}
	return nil
}

// column reads the only column of a query.
func column[T any](ctx context.Context, w *file, query string, args ...any) (found []T, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, query, args...)
	err = w.Each(ctx, rows, err, func() error {
		var one T
		err := rows.Scan(&one)
		found = append(found, one)
		return err
	})
	return found, err
}
