package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/domain/tasks/rowset"
	"countersign.dev/internal/domain/tasks/words"
)

const (
	// manyWords is how many words have a part, and no more, of which no set is kept.
	manyWords = 64
	// wordsAtOnce is how many words are counted together.
	wordsAtOnce = 20_000
)

// counting is called with the parts of some words that have one length, and how many of
// the words have each.
type counting func(ctx context.Context, parts string) error

// keptParts are the parts of some words of which sets are kept. It looks at those of
// three characters, and then at those that are longer by one than a part that is kept.
// What it looks at is counted, if that is asked for.
func (w *file) keptParts(ctx context.Context, some []string, count counting) (kept map[string]bool, err error) {
	kept = map[string]bool{}
	tails := words.Tails(some)
	for size := words.MinPart; size <= words.MaxPart && len(tails) > 0; size++ {
		list, err := json.Marshal(words.Count(tails, size))
		if err != nil {
			return nil, err
		}
		if count != nil {
			if err := count(ctx, string(list)); err != nil {
				return nil, err
			}
		}
		found, err := column[string](ctx, w, "select p.part from json_each(?) j cross join parts p on p.part = j.key where p.kept = 1", string(list))
		if err != nil {
			return nil, err
		}
		for _, part := range found {
			kept[part] = true
		}
		tails = words.Grown(tails, size, kept)
	}
	return kept, nil
}

// countWords counts the parts of the words that are new, and begins to keep those that
// many words have.
func (w *file) countWords(ctx context.Context) error {
	for {
		some, err := column[string](ctx, w, "select word from words where id >= (select before from indexed where kind = 'words') order by id limit ?", wordsAtOnce)
		if err != nil || len(some) == 0 {
			return err
		}
		if _, err := w.keptParts(ctx, some, w.countParts); err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "update indexed set before = (select id + 1 from words where word = ?) where kind = 'words'", some[len(some)-1]); err != nil {
			return err
		}
	}
}

// countParts counts some parts, and begins to keep those that many words have.
func (w *file) countParts(ctx context.Context, parts string) error {
	if err := w.addWords(ctx, parts); err != nil {
		return err
	}
	due, err := column[string](ctx, w, "select p.part from json_each(?) j cross join parts p on p.part = j.key where p.kept = 0 and p.words > ?", parts, manyWords)
	for _, part := range due {
		err = errors.Join(err, w.keepPart(ctx, part), w.countLonger(ctx, part))
	}
	return err
}

// addWords adds to the numbers of the words that have some parts.
func (w *file) addWords(ctx context.Context, parts string) error {
	_, err := w.Exec(ctx, "insert into parts (part, words) select key, value from json_each(?) where true on conflict do update set words = words + excluded.words", parts)
	return err
}

// countLonger counts the parts that are longer by one than a part that is kept from now
// on, in the words that were counted before. Those are few, as it was not kept.
func (w *file) countLonger(ctx context.Context, part string) error {
	size := utf8.RuneCountInString(part) + 1
	if size > words.MaxPart {
		return nil
	}
	counted, err := column[string](ctx, w, `with counted as (select before from indexed where kind = 'words')
select word from words where word >= ? and word < ? and id < (select before from counted)
union select word from words_parts join words on id = words_parts.rowid where words_parts match ? and words_parts.rowid < (select before from counted)`,
		part, part+string(unicode.MaxRune), phrase(part))
	if err != nil {
		return err
	}
	tails := slices.DeleteFunc(words.Tails(counted), func(t words.Tail) bool { return !t.Longer(part) })
	list, err := json.Marshal(words.Count(tails, size))
	if err != nil {
		return err
	}
	return w.addWords(ctx, string(list))
}

// keepPart begins to keep the sets of a part, with the rows that are indexed already.
func (w *file) keepPart(ctx context.Context, part string) error {
	for table := range texts {
		var spans int64
		if err := w.In(ctx).QueryRowContext(ctx, "select (before + ? - 1) / ? from indexed where kind = ?", rowset.SpanRows, rowset.SpanRows, table+" parts").Scan(&spans); err != nil {
			return w.Fault(ctx, err)
		}
		if spans == 0 {
			continue
		}
		x := index{file: w, table: table, spans: spans}
		stems, err := x.stems(ctx, part)
		if err != nil {
			return err
		}
		found, err := x.sets(ctx, "", stems)
		if err != nil {
			return err
		}
		for at := range found.Anywhere {
			if err := w.addPosting(ctx, table, at, words.NameOfPart(part), found.Anywhere.Packed(at), found.InFirst.Packed(at)); err != nil {
				return err
			}
		}
	}
	_, err := w.Exec(ctx, "update parts set kept = 1 where part = ?", part)
	return err
}
