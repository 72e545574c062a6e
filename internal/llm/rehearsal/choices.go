package rehearsal

import (
	"slices"
	"strings"
)

// choices fills in properties with a fixed set of values, and switches.
func (r *reading) choices() {
	for _, p := range r.f.props {
		if p.isOrder() {
			continue
		}
		for _, value := range p.enum {
			if at, n := r.find(identifierWords(value)); n > 0 && r.args[p.name] == nil {
				r.give(at, n, 4)
				r.args[p.name] = value
				r.hints.addAll(stem(value))
			}
		}
		if p.isBool() && !r.f.writes() {
			r.switchOn(p)
		}
	}
}

func (r *reading) switchOn(p *property) {
	var words []string
	for _, w := range p.words {
		if w != "is" && w != "only" && w != "include" {
			words = append(words, w)
		}
	}
	if at, n := r.find(words); n > 0 {
		r.give(at, n, 4)
		r.args[p.name] = true
	}
}

// toldChoices: "with status draft it finds orders that wait for approval"
// tells which words ask for a value that nobody says by its name.
func (r *reading) toldChoices() {
	if r.f.writes() {
		return
	}
	for _, p := range r.f.props {
		for _, value := range p.enum {
			if r.args[p.name] == nil && !p.isOrder() && r.asksAsTold(r.f.told(p.name+" "+value+" it finds ")) {
				r.args[p.name] = value
			}
		}
	}
}

// told is the clause that follows a phrase in the description.
func (f *form) told(phrase string) string {
	_, after, _ := strings.Cut(f.tool.Description, phrase)
	clause, _, _ := strings.Cut(after, ".")
	return clause
}

// asksAsTold reports whether the question has every word of the clause, and
// takes them.
func (r *reading) asksAsTold(clause string) bool {
	var at []int
	for _, w := range proseWords(clause) {
		if r.p.en.is("idle", w) || r.f.name[stem(w)] {
			continue
		}
		i := slices.IndexFunc(r.part, func(t token) bool { return t.kind == word && t.stem == stem(w) })
		if i < 0 || r.uses[i] != unread {
			return false
		}
		at = append(at, i)
	}
	for _, i := range at {
		r.give(i, 1, 2)
	}
	return len(at) > 0
}

// find looks for words in a row among the unread tokens, by their stems.
func (r *reading) find(words []string) (at, n int) {
	for i := 0; i+len(words) <= len(r.part); i++ {
		same := true
		for j, w := range words {
			t := r.part[i+j]
			same = same && r.uses[i+j] == unread && t.kind == word && t.stem == stem(w)
		}
		if same {
			return i, len(words)
		}
	}
	return 0, 0
}
