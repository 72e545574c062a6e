package guard

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/result"
)

// maxEvidence bounds the bytes of results that are read. Of a conversation with
// more, figures and names are not compared: a correction could be wrong.
const maxEvidence = 16 << 20

// data is the results of a conversation, read once for one answer: of its texts it keeps
// only what the answer states.
type data struct {
	rows     []result.Row     // every object, at any depth
	tables   map[string]*list // by tool and place
	tokens   map[string]bool  // that are stated, in small letters: whether a text has them
	numbers  []float64        // sorted
	dates    map[mention.Date]bool
	tails    map[string]bool // figures that are stated: whether an id ends with these digits
	keys     map[string]bool // that were read
	returned []int           // rows of each page
	seen     map[rowID]bool  // rows of tables, so that a list that was read twice counts once
	mentions bool            // any is stated
	scanner  mention.Scanner
	partial  bool
}

// rowID is a row in a place of a tool's answers.
type rowID struct{ place, id string }

// list is the rows that one tool gave in one place of its answer.
type list struct{ rows []result.Row }

func readData(e Evidence, s stated) *data {
	d := &data{tables: map[string]*list{}, dates: map[mention.Date]bool{}, keys: map[string]bool{}, seen: map[rowID]bool{}, mentions: len(s.mentions) > 0}
	d.tokens, d.tails = s.tokens()
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
		if page := c.Outcome.Page(); page != nil && page.Returned > 0 {
			d.returned = append(d.returned, page.Returned)
		}
		rows := len(d.rows)
		d.walk(c.Tool, tree)
		if c.Outcome.Pending() != nil { // a preview is no evidence that something was changed
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
	d.dates[mention.DateOf(e.Today)] = true
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
			d.key(key)
			if value := v.Values[key]; !d.cell(value) {
				d.walk(place+"."+key, value)
			}
		}
	case []any:
		below := place + "[]"
		for _, item := range v {
			if row, ok := item.(result.Row); ok {
				d.add(place, row)
			}
			d.walk(below, item)
		}
	default:
		d.cell(value)
	}
}

// cell reads a value that holds no others, and reports whether it is one.
func (d *data) cell(value any) bool {
	switch v := value.(type) {
	case result.Row, []any:
		return false
	case string:
		d.text(v)
	case json.Number:
		if f, err := v.Float64(); err == nil {
			d.numbers = append(d.numbers, abs(f))
		}
	}
	return true
}

// key reads the words of a field's name: once, and not in every row.
func (d *data) key(key string) {
	if d.keys[key] {
		return
	}
	d.keys[key] = true
	d.token(strings.ToLower(key))
	for _, word := range wording.Words(key) {
		d.token(word)
	}
}

// token keeps that a text has a token, when the answer states it.
func (d *data) token(small string) {
	if _, stated := d.tokens[small]; stated {
		d.tokens[small] = true
	}
}

// args reads the arguments of a call, which are no row.
func (d *data) args(args json.RawMessage) {
	tree, _ := result.ParseData(args) // arguments that are no object were rejected before
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
		if d.seen[rowID{place, id}] {
			return
		}
		d.seen[rowID{place, id}] = true
	}
	t.rows = append(t.rows, row)
}

// identity is the row's first text: its id.
func identity(row result.Row) string {
	for _, key := range row.Keys {
		if text := row.Text(key); text != "" && strings.HasSuffix(key, "id") {
			return text
		}
	}
	return ""
}

// text reads the words and figures of a text.
func (d *data) text(text string) {
	d.words(text)
	if !d.mentions {
		return
	}
	for _, c := range d.scanner.Read(text) {
		d.mention(c)
		for _, reading := range c.Or {
			d.mention(reading)
		}
	}
}

func (d *data) mention(c mention.Mention) {
	switch c.Kind {
	case mention.Figure:
		d.numbers = append(d.numbers, abs(c.Value))
	case mention.Dated:
		d.dates[c.Day] = true
	case mention.Exact:
		d.token(strings.ToLower(c.Text))
	}
}

func (d *data) words(text string) {
	if len(d.tokens)+len(d.tails) == 0 {
		return
	}
	for token := range wording.Tokens(strings.ToLower(text)) {
		d.token(token)
		d.tail(token)
		for word := range strings.FieldsFuncSeq(token, wording.BetweenWords) {
			d.token(strings.TrimSuffix(word, "'s"))
		}
	}
}

// tail keeps the digits of an id, by which people speak of it: TICK-097 is 097, and 97.
func (d *data) tail(token string) {
	if len(d.tails) == 0 || len(token) > 24 || !mention.IsID(token) {
		return
	}
	digits := token[strings.LastIndex(token, "-")+1:]
	for _, tail := range []string{digits, strings.TrimLeft(digits, "0")} {
		if _, stated := d.tails[tail]; stated {
			d.tails[tail] = true
		}
	}
}

// names yields the words by which a sentence can name a row: ids, addresses, and words with
// a capital letter in its short texts.
func names(row result.Row) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range row.Keys {
			text := row.Text(key)
			if len(text) > 80 {
				continue
			}
			for token := range wording.Tokens(text) {
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

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}
