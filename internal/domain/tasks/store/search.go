package store

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/domain/tasks/record"
	engine "countersign.dev/internal/sqlite"
)

// minWord is how many characters the index of trigrams needs of a word. A search
// with a shorter one reads every row.
const minWord = 3

// match writes a search in the language of FTS5: every word must be there, as a part
// of a word or whole. Between the quotes nothing has a meaning in that language.
func match(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return strings.Join(quoted, " AND ")
}

// find is the condition of a search over a table and its index of words, as ids with
// their ranks. columns are those that are searched, for words that the index cannot
// find.
func find(table, term string, columns ...string) (statement string, args []any) {
	words := strings.Fields(term)
	var long []string
	var where engine.Clause
	where.And("x.deleted_at is null")
	for _, word := range words {
		if utf8.RuneCountInString(word) >= minWord {
			long = append(long, word)
			continue
		}
		parts := make([]string, len(columns))
		var like []any
		for i, column := range columns {
			parts[i] = "x." + column + ` like ? escape '\'`
			like = append(like, "%"+escapeLike.Replace(word)+"%")
		}
		where.And("("+strings.Join(parts, " or ")+")", like...)
	}
	switch {
	case len(long) == 0:
		return "select x.id, 0.0 as rank from " + table + " x where " + where.String(), where.Args
	case len(where.Args) == 0: // no short word
		return "select rowid as id, rank from " + table + "_words where " + table + "_words match ?", []any{match(long)}
	}
	return "select x.id, w.rank as rank from " + table + "_words w join " + table + " x on x.id = w.rowid where " + table + "_words match ? and " + where.String(),
		append([]any{match(long)}, where.Args...)
}

var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// SearchTasks returns a page of the tasks that have every word of a term in their
// title, description or files, the best first, and their number in all.
func (w taskLists) SearchTasks(ctx context.Context, term string, p Page) (found []record.Task, total int, err error) {
	if strings.TrimSpace(term) == "" {
		return nil, 0, nil
	}
	inner, args := find("tasks", term, "title", "description", "file_references")
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		found, total, err = w.readFound(ctx, inner, args, term, p)
		if err != nil || len(found) > 0 || p.Offset == 0 {
			return err
		}
		return w.Fault(ctx, w.In(ctx).QueryRowContext(ctx, "select count(*) from ("+inner+")", args...).Scan(&total)) // beyond the end
	})
	return found, total, err
}

// readFound reads a page of what was found, and the number in all with each row, so
// that the words are looked up once; the texts of other rows are not read.
func (w taskLists) readFound(ctx context.Context, inner string, args []any, term string, p Page) (found []record.Task, total int, err error) {
	statement := "select " + columns(p.Details) + `, t.description, t.file_references, page.total from (
  select f.id, f.rank, x.created_at, count(*) over () as total from (` + inner + `) f join tasks x on x.id = f.id
    order by f.rank, x.created_at desc, x.id desc limit ? offset ?) page
join tasks t on t.id = page.id order by page.rank, page.created_at desc, page.id desc`
	rows, err := w.In(ctx).QueryContext(ctx, statement, append(args, p.Limit, p.Offset)...)
	err = w.Each(ctx, rows, err, func() error {
		var description, files sql.NullString
		t, err := scanTask(rows.Scan, p.Details, &description, &files, &total)
		t.Snippet = snippet(strings.Fields(term), t.Title, description.String, strings.Trim(files.String, "[]"))
		found = append(found, t)
		return err
	})
	return found, total, err
}

// around is how many characters a snippet has on each side of what was found.
const around = 40

// snippet is the part of a text where the first of the words is found, with marks
// around each word. A text that is found in the title only has the title's mark.
func snippet(words []string, title string, texts ...string) string {
	for _, text := range append(texts, title) {
		if at := indexAny(strings.ToLower(text), words); at >= 0 {
			return mark(cut(text, at), words)
		}
	}
	return ""
}

func indexAny(lower string, words []string) int {
	for _, word := range words {
		if at := strings.Index(lower, strings.ToLower(word)); at >= 0 {
			return at
		}
	}
	return -1
}

// cut returns about twice around characters of a text, on one line.
func cut(text string, at int) string {
	at = min(at, len(text)) // lower case can have another length
	from, to := max(0, at-around), min(len(text), at+2*around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	part := strings.Join(strings.Fields(text[from:to]), " ")
	if from > 0 {
		part = "…" + part
	}
	if to < len(text) {
		part += "…"
	}
	return part
}

// mark encloses the first place of each word in two stars.
func mark(text string, words []string) string {
	for _, word := range words {
		lower, folded := strings.ToLower(text), strings.ToLower(word)
		if at := strings.Index(lower, folded); at >= 0 && len(lower) == len(text) {
			text = text[:at] + "**" + text[at:at+len(folded)] + "**" + text[at+len(folded):]
		}
	}
	return text
}
