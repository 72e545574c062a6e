package language

import (
	"slices"
	"strings"
)

// Joint is how one vocabulary says that a sentence asks several questions.
type Joint struct {
	Opens func(words []Token) bool // a question of its own begins with these
	Noun  func(Token) bool         // it says of what things a question is: "employees"
	Leads func(Token) bool         // it comes before such a noun and says nothing of the things: "show", "how many"
	Trail func(Token) bool         // with it begins what may be meant of both: "of Acme"
	Named func(Token) bool         // it is no word for things, but for whose they are, or which
}

const longestPhrase = 4 // a noun and what describes it

// Split parts a sentence where a word joins two questions: "who is my manager and list all
// employees", "show tickets and deals of Acme". Each has the words that both share. There are
// two ways where the end may be meant of both or of the last, of which the first is likelier;
// none where nothing is joined.
func (j Joint) Split(tokens []Token) (ways [][][]Token) {
	for k := 2; k < len(tokens)-1; k++ {
		left, right := tokens[:k], after(tokens[k:])
		if right == nil || !j.Opens(right) && !(right[0].Low == "my" && left[j.lead(left)%k].Low == "my") {
			continue
		}
		ways = [][][]Token{{left, right}}
		if n := slices.IndexFunc(left, j.Noun); n >= 0 && j.Trail(right[j.lead(right)%len(right)]) { // "how many people are in Rome and how many in Paris"
			ways = append(ways, [][]Token{left, slices.Concat(left[:n+1], right[j.lead(right):])})
		}
		return ways
	}
	for k := 1; k < len(tokens)-1; k++ {
		left, right := tokens[:k], after(tokens[k:])
		if right == nil || !slices.ContainsFunc(left, j.Noun) || !j.phrase(right) {
			continue
		}
		led := slices.Concat(left[:j.lead(left)], right)
		if whose := j.Whose(left); whose != nil && !slices.ContainsFunc(right, j.Named) {
			return append(ways, [][]Token{left, slices.Concat(left[:j.lead(left)], whose, right)})
		}
		rest := len(tokens)
		for !j.Noun(tokens[rest-1]) {
			rest--
		}
		if j.Noun(left[k-1]) && rest < len(tokens) && j.Trail(tokens[rest]) {
			ways = append(ways, [][]Token{slices.Concat(left, tokens[rest:]), led})
		}
		return append(ways, [][]Token{left, led})
	}
	return nil
}

// Whose are the words before the noun of a question by which both of two joined nouns are kept: "Ada's" of "Ada's expenses and deals".
func (j Joint) Whose(left []Token) (whose []Token) {
	noun := len(left) - 1
	for noun > 0 && !j.Noun(left[noun]) {
		noun--
	}
	for i := j.lead(left); i < noun; i++ {
		if j.Named(left[i]) || i > 0 && left[i].Capital {
			whose = append(whose, left[i])
		}
	}
	return whose
}

// Shares reports whether the second of two joined questions has the name that the first one gave it.
func (j Joint) Shares(way [][]Token) bool {
	whose := j.Whose(way[0])
	return whose != nil && strings.Contains(Text(way[1]), Text(whose))
}

// About is that of the questions of a sentence whose noun is a word, or nil.
func (j Joint) About(sentence []Token, word string) []Token {
	ways := append(j.Split(sentence), nil)
	for _, one := range ways[max(0, len(ways)-2)] {
		if asked := j.About(one, word); asked != nil {
			return asked
		}
		if slices.ContainsFunc(one, func(t Token) bool { return t.Low == word && j.Noun(t) }) {
			return one
		}
	}
	return nil
}

// after is what follows words that join: ", and also"; nil where they join nothing.
func after(tokens []Token) []Token {
	n := 0
	for n < len(tokens) && (joins(tokens[n]) || n > 0 && (tokens[n].Low == "also" || tokens[n].Low == "then")) {
		n++
	}
	if n == 0 || n == len(tokens) {
		return nil
	}
	return tokens[n:]
}

func joins(t Token) bool {
	return t.Kind == Word && slices.Contains([]string{"and", "or", "plus"}, t.Low) || t.Text == ","
}

// phrase reports whether words begin with a noun and what describes it.
func (j Joint) phrase(words []Token) bool {
	n := slices.IndexFunc(words, j.Noun)
	return n >= 0 && n < longestPhrase && !slices.ContainsFunc(words[:n], func(t Token) bool { return j.Trail(t) || t.Kind == Mark || joins(t) })
}

func (j Joint) lead(words []Token) (n int) {
	for n < len(words) && j.Leads(words[n]) {
		n++
	}
	return n
}

// Each has the question for each of the values that one "and" or "or" joins: "who works in Sales
// or in New York"; first with those that commas put before them, if there are any. There is none
// where nothing is joined, or more than once.
func Each(tokens []Token) (ways [][][]Token) {
	last := func(t Token) bool { return slices.Contains([]string{"and", "or", "versus", "vs"}, t.Low) }
	k := slices.IndexFunc(tokens, last)
	if k < 1 || k > len(tokens)-2 || slices.ContainsFunc(tokens[k+1:], last) {
		return nil
	}
	begin := begins(tokens, k)
	if begin > 0 && tokens[begin-1].Low == "between" { // a range
		return nil
	}
	from := k + 1
	if begin > 0 && tokens[from].Low == tokens[begin-1].Low && from < len(tokens)-1 { // "in Sales and in Support"
		from++
	}
	end := from + 1
	for end < len(tokens) && tokens[end].Capital && tokens[end-1].Capital {
		end++
	}
	items, place := [][]Token{tokens[begin:k], tokens[from:end]}, tokens[max(0, begin-1)].Low
	ways = [][][]Token{put(items, tokens[:begin], tokens[end:])}
	for comma := begin - 1; comma > 1; comma = begin - 1 {
		if place != "," && tokens[comma].Low == place {
			comma--
		}
		if tokens[comma].Text != "," {
			break
		}
		begin = begins(tokens, comma)
		items = slices.Insert(items, 0, tokens[begin:comma])
	}
	if len(items) > 2 {
		ways = slices.Insert(ways, 0, put(items, tokens[:begin], tokens[end:]))
	}
	return ways
}

func put(items [][]Token, before, after []Token) (questions [][]Token) {
	for _, item := range items {
		questions = append(questions, slices.Concat(before, item, after))
	}
	return questions
}

// Name is the last name in a text: an id, a quotation, or words that begin with capitals; empty
// for none.
func Name(tokens []Token) string {
	for i := len(tokens) - 1; i > 0; i-- {
		switch t := tokens[i]; {
		case t.Kind == Code, t.Kind == Quoted:
			return t.Text
		case t.Kind == Word && t.Capital:
			t.Owns = false
			return Text(append(slices.Clone(tokens[begins(tokens, i+1):i]), t))
		}
	}
	return ""
}

// begins is where a value begins that ends before a token: one word, or a name of several.
func begins(tokens []Token, end int) int {
	begin := end - 1
	for begin > 1 && tokens[begin].Capital && tokens[begin-1].Capital {
		begin--
	}
	return max(0, begin)
}
