package guard

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"countersign.dev/internal/result"
)

// maxEvidence bounds the bytes of results that are read. Of a conversation with
// more, figures and names are not compared: an alarm could be wrong.
const maxEvidence = 16 << 20

// data is the results of a conversation, read once.
type data struct {
	rows    []result.Row     // every object, at any depth
	tables  map[string]*list // by tool and place
	tokens  map[string]bool  // of every text, in small letters
	numbers []float64        // sorted
	dates   map[date]bool
	times   map[string]bool // 17:15
	seen    map[string]bool // rows of tables, so that a list that was read twice counts once
	partial bool
}

// list is the rows that one tool gave in one place of its answer.
type list struct{ rows []result.Row }

func readData(e Evidence) *data {
	d := &data{tables: map[string]*list{}, tokens: map[string]bool{}, dates: map[date]bool{}, times: map[string]bool{}, seen: map[string]bool{}}
	size := 0
	for _, c := range slices.Concat(e.Earlier, e.Calls) {
		answer := result.EncodeEnvelope(c.Outcome)
		if size += len(answer); size > maxEvidence {
			d.partial = true
			return d
		}
		tree, err := result.ParseMarked(answer)
		if err != nil {
			d.partial = true
			return d
		}
		rows := len(d.rows)
		d.walk(c.Tool, tree)
		if c.Outcome.Pending() != nil { // what it would do is no row that says so
			d.rows = d.rows[:rows]
		}
		if !c.changes() { // what was asked for: "deals that close before 2026-03-15"
			d.args(c.Args)
		}
	}
	for _, text := range slices.Concat(e.Asked, e.Reported, e.Known, []string{e.Question}) {
		d.text(text)
	}
	for _, text := range e.Words {
		d.words(text)
	}
	d.dates[dateOf(e.Today)] = true
	slices.Sort(d.numbers)
	d.numbers = slices.Compact(d.numbers)
	return d
}

// walk reads a value. place names the tool and the keys above it.
func (d *data) walk(place string, value any) {
	switch v := value.(type) {
	case result.Row:
		d.rows = append(d.rows, v)
		if _, listed := v.Values["data"]; !listed && !strings.HasSuffix(place, "[]") {
			d.add(place, v)
		}
		for _, key := range v.Keys {
			d.tokens[strings.ToLower(key)] = true
			for _, word := range wordsOf(key) {
				d.tokens[word] = true
			}
			d.walk(place+"."+key, v.Values[key])
		}
	case []any:
		for _, item := range v {
			if row, ok := item.(result.Row); ok {
				d.add(place, row)
			}
			d.walk(place+"[]", item)
		}
	case string:
		d.text(v)
	case json.Number:
		if f, err := v.Float64(); err == nil {
			d.numbers = append(d.numbers, abs(f))
		}
	}
}

// args reads the arguments of a call, which are no row.
func (d *data) args(args json.RawMessage) {
	tree, _ := result.ParseData(args) // what is no object was rejected before
	row, _ := tree.(result.Row)
	for _, value := range row.Values {
		d.walk("", value)
	}
}

func (d *data) add(place string, row result.Row) {
	t := d.tables[place]
	if t == nil {
		t = &list{}
		d.tables[place] = t
	}
	if id := identity(row); id != "" {
		if d.seen[place+id] {
			return
		}
		d.seen[place+id] = true
	}
	t.rows = append(t.rows, row)
}

// identity is the row's first text: its id.
func identity(row result.Row) string {
	for _, key := range row.Keys {
		if text, ok := row.Values[key].(string); ok && strings.HasSuffix(key, "id") {
			return text
		}
	}
	return ""
}

// text reads the words and figures of a text.
func (d *data) text(text string) {
	d.words(text)
	for _, c := range claimsOf(text) {
		switch c.kind {
		case figure:
			d.numbers = append(d.numbers, abs(c.value))
		case dated:
			d.dates[c.day] = true
		case exact:
			d.tokens[strings.ToLower(c.text)] = true
		}
	}
}

func (d *data) words(text string) {
	for token := range tokensOf(text) {
		small := strings.ToLower(token)
		d.tokens[small] = true
		for _, word := range wordsOf(small) {
			d.tokens[strings.TrimSuffix(word, "'s")] = true
		}
		if len(token) >= 16 && token[10] == 'T' && token[13] == ':' {
			d.times[token[11:16]] = true
		}
	}
}

// tokensOf yields what is between spaces and punctuation; ids and addresses stay
// whole.
func tokensOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		part := func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-@._'+:", r)
		}
		for token := range strings.FieldsFuncSeq(text, part) {
			if token = strings.Trim(token, "-._'+:"); token != "" && !yield(token) {
				return
			}
		}
	}
}

// names yields the words by which a sentence can name a row: ids, addresses, and words with
// a capital letter in its short texts.
func names(row result.Row) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range row.Keys {
			text, ok := row.Values[key].(string)
			if !ok || len(text) > 80 {
				continue
			}
			for token := range tokensOf(text) {
				if odd := strings.IndexFunc(token, func(r rune) bool { return r == '@' || unicode.IsUpper(r) || unicode.IsDigit(r) }); odd < 0 {
					continue
				}
				if !yield(strings.ToLower(token)) {
					return
				}
			}
		}
	}
}

// says reports whether a row has a word of a class of changes, or a field of that
// name with a value: approved_by.
func says(row result.Row, class string) bool {
	for _, key := range row.Keys {
		text, isText := row.Values[key].(string)
		if !isText {
			continue
		}
		if by, _, ok := strings.Cut(key, "_"); ok && classOf[by] == class && by != "updated" {
			return true
		}
		if slices.ContainsFunc(wordsOf(text), func(w string) bool { return classOf[w] == class }) {
			return true
		}
	}
	return false
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}
