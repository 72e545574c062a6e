package guard

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/pattern"
	"countersign.dev/internal/result"
)

// forms are the words for a change that has been made, by what is changed.
var forms = map[string]string{
	"delete": "deleted removed terminated erased fired dismissed offboarded deactivated", "approve": "approved authorized okayed", "reject": "rejected declined denied",
	"close": "closed resolved solved settled finalized", "update": "updated changed adjusted modified edited corrected revised amended", "raise": "raised increased bumped",
	"lower": "lowered reduced decreased cut", "create": "created added opened filed logged registered", "send": "sent emailed notified informed messaged forwarded posted", "submit": "submitted",
	"assign": "assigned reassigned transferred escalated", "undo": "cancelled canceled reverted undone restored withdrawn reopened", "book": "scheduled booked reserved",
	"pay": "paid processed refunded reimbursed", "set": "set marked moved renamed", "keep": "saved recorded stored archived published", "grant": "granted revoked reset unlocked promoted",
	"do": "completed executed applied finished implemented performed",
}

// classOf maps a word for a change to its class.
var classOf = func() map[string]string {
	classes := map[string]string{}
	for class, words := range forms {
		for word := range strings.FieldsSeq(words) {
			classes[word] = class
		}
	}
	return classes
}()

// unmade matches what keeps a sentence from reporting a change: it is negated, a condition, a
// plan or a question.
var unmade = pattern.New(`\b(?:not|\pL+n't|no|nothing|never|none|nobody|neither|cannot|yet to|until|unless|if|once|when|after|before|whether|will|would|can|could|may|might|should|must|to be|needs?|want|shall|i'll|i'd|you'd|it'll|still|asks?|asked|says?|which)\b`)

// made reports whether a receipt proves a change of that class: an outcome that
// the gateway reported, or the answer of a tool that changes at once. Any change,
// when the class is empty.
func made(e Evidence, class string) bool {
	if class == "submit" {
		class = "send"
	}
	tells := func(text string) bool {
		return slices.ContainsFunc(wording.Words(text), func(w string) bool { return classOf[w] != "" && proves(receiptOf(w), class) })
	}
	if (class == "undo" || class == "reject") && slices.Contains(e.Reported, denial) {
		return true
	}
	for _, text := range e.Reported {
		receipt := func(s string) bool { return s != denial && !unmade.MatchString(strings.ToLower(s)) && tells(s) }
		if slices.ContainsFunc(wording.Sentences(text), receipt) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(e.Earlier, e.Calls), func(c Call) bool {
		return c.changes() && len(c.Outcome.Data()) > 0 && (class == "" || c.Kind == result.Edit || tells(string(c.Outcome.Data())))
	})
}

// proves reports whether a receipt of one class proves a change of another: what was
// changed may be said to be raised, lowered or set, and the other way round, and what
// was made at all was done.
func proves(receipt, class string) bool {
	switch {
	case class == "" || class == "do" || receipt == class:
		return true
	case receipt == "update":
		return slices.Contains(changed, class)
	}
	return (class == "update" || class == "set") && slices.Contains(changed, receipt)
}

var changed = strings.Fields("raise lower set keep")

// denial is what a conversation keeps of a change that its person denied.
const denial = "Action cancelled by user"

// receiptOf is the class of a word of a receipt, where what was submitted was sent.
// In a row it was not: submitted_at does not say that a person was notified.
func receiptOf(word string) string {
	if class := classOf[word]; class != "submit" {
		return class
	}
	return "send"
}

// rowSays reports whether the row of the results that the sentence names has a word
// of that class, or a field of that name with a value: approved_at. It is the row
// with most of the sentence's names, so that another row of the same customer or
// department proves nothing. A sentence that names no row is about the one that the
// question names; when that names none either, and nothing else, it is about rows in
// general. One that has the id of a row is about that row.
func rowSays(d *data, class, sentence, question string) bool {
	if class == "" {
		return false
	}
	rows := d.named(sentence)
	if len(rows) == 0 && !namesSomething(sentence) {
		if rows = d.named(question); len(rows) == 0 {
			rows = d.rows
		}
	}
	return slices.ContainsFunc(rows, func(row result.Row) bool { return says(row, class) })
}

// named returns the rows that a text names best.
func (d *data) named(text string) (best []result.Row) {
	said := map[string]bool{}
	for token := range wording.Tokens(text) {
		said[strings.ToLower(strings.TrimSuffix(token, "'s"))] = true
	}
	byID := slices.ContainsFunc(d.rows, func(row result.Row) bool { return namedByID(row, said) })
	most := 1
	for _, row := range d.rows {
		if byID && !namedByID(row, said) {
			continue
		}
		switch n := likeness(row, said); {
		case byID:
			best = append(best, row)
		case n > most:
			best, most = []result.Row{row}, n
		case n == most:
			best = append(best, row)
		}
	}
	return best
}

// likeness counts the names and years of a row that a text has.
func likeness(row result.Row, said map[string]bool) (n int) {
	counted := map[string]bool{}
	for name := range names(row) {
		if said[name] && !counted[name] {
			counted[name] = true
			n++
		}
	}
	for _, key := range row.Keys {
		if number, ok := row.Values[key].(json.Number); ok && n > 0 && strings.HasSuffix(key, "year") && said[number.String()] {
			n++
		}
	}
	return n
}

// namesSomething reports whether a sentence has any word with a capital letter after its
// first.
func namesSomething(sentence string) bool {
	fields := strings.Fields(sentence)
	return slices.ContainsFunc(fields[min(1, len(fields)):], isProper)
}

// namedByID reports whether a sentence with these words has a short id of the row: a
// number by which people speak of it.
func namedByID(row result.Row, said map[string]bool) bool {
	return slices.ContainsFunc(row.Keys, func(key string) bool {
		text := row.Text(key)
		id := strings.HasSuffix(key, "id") || strings.HasSuffix(key, "number")
		return id && len(text) <= 20 && strings.ContainsAny(text, "0123456789") && said[strings.ToLower(text)]
	})
}

func isProper(word string) bool {
	word, _, _ = strings.Cut(strings.ReplaceAll(word, "’", "'"), "'")
	return word != "" && word != "I" && unicode.IsUpper([]rune(word)[0]) && mention.MonthOf(word) == 0
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
		if slices.ContainsFunc(wording.Words(text), func(w string) bool { return classOf[w] == class }) {
			return true
		}
	}
	return false
}
