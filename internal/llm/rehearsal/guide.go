package rehearsal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A question for instructions ("how do I …?") is no order and asks for no rows:
// it is looked up where the tools say that they keep instructions.

// mostWords bounds how many words of a question are tried one by one.
const mostWords = 6

// guided answers a question for instructions, if there is a tool for them.
func (p *planner) guided(tokens []token) (outcome, bool) {
	words := p.soughtWords(tokens)
	if len(words) == 0 {
		return outcome{}, false
	}
	for _, f := range p.forms {
		if search := f.freeSearch(); search != nil && f.holdsGuides(p.en) {
			return p.lookUp(f, search, words), true
		}
	}
	return outcome{}, false
}

// soughtWords are the words of a how-to question that say what it is about.
func (p *planner) soughtWords(tokens []token) (words []string) {
	part, _ := p.en.listen(tokens)
	n := p.en.phrase("howto", lowsFrom(part, 0))
	if n == 0 {
		return nil
	}
	for _, t := range part[n:] {
		if t.kind == mark || t.kind == word && (p.en.is("idle", t.low) || p.en.is("self", t.low)) || slices.Contains(words, t.low) {
			continue
		}
		words = append(words, t.low)
	}
	return words[:min(len(words), mostWords)]
}

// freeSearch is the input that a list searches its texts by.
func (f *form) freeSearch() *property {
	if f.writes() || !f.lists() {
		return nil
	}
	for k := range f.props {
		if p := &f.props[k]; p.isText() && (p.stems["query"] || p.stems["search"] || p.stems["keyword"] || p.stems["text"]) {
			return p
		}
	}
	return nil
}

// holdsGuides reports whether a tool says of itself that it has instructions.
func (f *form) holdsGuides(en *english) bool {
	hits := 0
	for s := range en.stems["guide"] {
		if f.about[s] || f.name[s] {
			hits++
		}
	}
	return hits >= 2
}

// lookUp searches with all the words, and then with each alone: the text that
// most of them lead to answers, if they are more than half.
func (p *planner) lookUp(f *form, search *property, words []string) outcome {
	all := map[string]any{search.name: strings.Join(words, " ")}
	rep, ok := p.fetch(f, all)
	switch {
	case !ok:
		return wait
	case rep.failed:
		return say(errorText(rep))
	case len(rep.rows()) > 0:
		return say(p.article(rep.rows()))
	}
	hits, found := map[string]int{}, map[string]row{}
	complete := true
	for _, w := range words {
		try := maps.Clone(all)
		try[search.name] = w
		rep, ok := p.fetch(f, try)
		if complete = complete && ok; !ok {
			continue
		}
		for _, one := range rep.rows() {
			hits[nameOf(one)]++
			found[nameOf(one)] = one
		}
	}
	if !complete {
		return wait
	}
	names := slices.Sorted(maps.Keys(hits))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(hits[b], hits[a]) })
	if len(names) == 0 || 2*hits[names[0]] <= len(words) {
		return say(fmt.Sprintf("I found no %s about %q.", f.noun, strings.Join(words, " ")))
	}
	return say(p.article([]row{found[names[0]]}))
}

// article tells the first row as a text, and names the others.
func (p *planner) article(rows []row) string {
	first := rows[0]
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", clean(nameOf(first)))
	if id := readableID(first); id != "" {
		fmt.Fprintf(&b, " (%s)", clean(id))
	}
	longest := ""
	for _, k := range first.keys {
		if text, ok := first.values[k].(string); ok && len(text) > len(longest) && strings.Contains(text, " ") {
			longest = text
		}
	}
	if longest != nameOf(first) {
		b.WriteString("\n\n" + cleanTo(longest, 2000))
	}
	var more []string
	for _, one := range rows[1:min(len(rows), 4)] {
		more = append(more, clean(nameOf(one)))
	}
	if len(more) > 0 {
		b.WriteString("\n\nSee also: " + joinAnd(more) + ".")
	}
	return b.String()
}
