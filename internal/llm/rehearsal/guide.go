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
	if len(part) > 0 && p.en.is("instructions", part[len(part)-1].low) {
		part = part[:len(part)-1]
	} else if n == 0 {
		return nil
	}
	for _, t := range part[n:] {
		if t.kind == mark || t.kind == word && (p.en.is("idle", t.low) || p.en.is("self", t.low)) || slices.Contains(words, t.low) {
			continue
		}
		words = append(words, t.low)
	}
	if strong := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return p.en.is("vague", w) }); len(strong) > 0 {
		words = strong
	}
	return words[:min(len(words), mostWords)]
}

// freeSearch is the input that a list searches its texts by.
func (f *form) freeSearch() *property {
	if !f.lists() {
		return nil
	}
	return f.first(func(p *property) bool {
		return p.isText() && (p.stems["query"] || p.stems["search"] || p.stems["keyword"] || p.stems["text"])
	})
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
		rows := rep.rows()
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(heads(b, words), heads(a, words)) })
		return say(p.article(rows))
	}
	found := map[string]row{}
	complete := true
	for _, w := range words {
		try := maps.Clone(all)
		try[search.name] = w
		rep, ok := p.fetch(f, try)
		if complete = complete && ok; !ok {
			continue
		}
		for _, one := range rep.rows() {
			found[nameOf(one)] = one
		}
	}
	if !complete {
		return wait
	}
	names := slices.Sorted(maps.Keys(found))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(mentions(found[b], words), mentions(found[a], words)) })
	if len(names) == 0 || 2*mentions(found[names[0]], words) <= len(words) {
		return say(fmt.Sprintf("I found nothing about %q in the %s.", strings.Join(words, " "), f.noun))
	}
	return say(p.article([]row{found[names[0]]}))
}

// heads counts the words that a row's name has, mentions those that its texts
// have; both in any form of them.
func heads(one row, words []string) int { return countStems(nameOf(one), words) }

func mentions(one row, words []string) int {
	var all strings.Builder
	for _, k := range one.keys {
		if text, ok := one.values[k].(string); ok {
			all.WriteString(text + " ")
		}
	}
	return countStems(all.String(), words)
}

func countStems(text string, words []string) (n int) {
	have := set{}
	for _, w := range proseWords(text) {
		have[stem(w)] = true
	}
	for _, w := range words {
		if have[stem(w)] {
			n++
		}
	}
	return n
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
