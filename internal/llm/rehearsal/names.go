package rehearsal

import (
	"slices"
	"strings"
)

// nameOf is what a row is called: its first and last name, its name or title,
// the first name that it carries, or its number.
func nameOf(r row) string {
	first, last := "", ""
	for _, k := range r.keys {
		text, ok := r.values[k].(string)
		switch w := strings.Join(identifierWords(k), " "); {
		case !ok || text == "":
		case w == "first name" || w == "given name":
			first = text
		case w == "last name" || w == "family name" || w == "surname":
			last = text
		}
	}
	if first != "" || last != "" {
		return strings.TrimSpace(first + " " + last)
	}
	if k := nameKey(r); k != "" {
		text, _ := r.values[k].(string)
		return text
	}
	return ""
}

// calledAs is what a row calls a thing of the sort: the row itself, or another
// thing that it carries with its name ("customer_name" beside "customer_id").
func calledAs(r row, noun string) string {
	if noun != "" {
		if text, ok := r.values[noun+"_name"].(string); ok && text != "" {
			return text
		}
	}
	return nameOf(r)
}

// nameKey is the field that names a row that has no first and last name.
func nameKey(r row) string {
	if k := ownNameKey(r); k != "" {
		return k
	}
	for _, fits := range []func(key, last string) bool{
		func(key, last string) bool {
			return key == last && slices.Contains([]string{"name", "title", "subject", "label"}, last)
		},
		func(_, last string) bool { return last == "name" },
		func(_, last string) bool { return last == "title" || last == "number" || last == "code" },
	} {
		for _, k := range r.keys {
			if text, ok := r.values[k].(string); ok && text != "" && fits(strings.Join(identifierWords(k), " "), lastWord(k)) {
				return k
			}
		}
	}
	return ""
}

// ownNameKey is the name or number that carries the row's own noun: the number
// of an order, not the name of who placed it.
func ownNameKey(r row) string {
	own := ownIDKey(r)
	if own == "" {
		return ""
	}
	w := identifierWords(own)
	if noun := strings.Join(w[:len(w)-1], "_"); noun != "" {
		for _, end := range []string{"_name", "_title", "_number"} {
			if text, ok := r.values[noun+end].(string); ok && text != "" {
				return noun + end
			}
		}
		return ""
	}
	for _, k := range r.keys { // a bare id: the name of something without an id of its own
		other, isName := strings.CutSuffix(k, "_name")
		if text, ok := r.values[k].(string); isName && ok && text != "" && r.values[other+"_id"] == nil {
			return k
		}
	}
	return ""
}

// readableID is a row's own id when people use it: neither a uuid nor some
// other key of a store.
func readableID(r row) string {
	k := ownIDKey(r)
	text, _ := r.values[k].(string)
	if k == "" || uuidShape.MatchString(text) || len(text) > 20 {
		return ""
	}
	return text
}

// ownIDKey is the field that identifies a row: its first, if that is an id.
func ownIDKey(r row) string {
	if len(r.keys) > 0 && isIDKey(r.keys[0]) {
		return r.keys[0]
	}
	return ""
}
