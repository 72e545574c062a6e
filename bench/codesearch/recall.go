package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/chunk"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/words"
)

// learnFlag names the folder for what is learned from comments: recall.txt and named.txt.
const learnFlag = "-learn"

// What makes a word one of programming in general, and what its weight is.
const (
	mostOfOne   = 30   // occurrences of a word that count of one corpus
	fewestIn    = 15   // corpora that have it
	fewest      = 30   // occurrences that count, of all
	usual       = 0.35 // how often code has a word of its comment
	usualCounts = 20   // occurrences that this is worth: rare words are near it
	recallPower = 0.3
	leastWeight = 0.3
)

// recalled counts one word of comments: how often code has it, too.
type recalled struct {
	seen, found float64
	corpora     int
	forms       map[string]int
}

// learn writes how much each word of a question says about code, and which names answer
// it. The first sentence of a comment is a question whose answer is what the comment is of,
// so how often a word of it is also in the code, or in its path, is counted over the
// corpora, in which no question of a benchmark is asked.
func learn(folder string, roots map[string]string, indexes map[string]*index.Index) error {
	all, names := map[string]*recalled{}, newAssociation()
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		one, comments := commentsIn(roots[name], indexes[name])
		for stem, r := range one {
			total := all[stem]
			if total == nil {
				total = &recalled{forms: map[string]int{}}
				all[stem] = total
			}
			total.add(r)
		}
		names.add(comments)
	}
	if err := os.WriteFile(filepath.Join(folder, "named.txt"), []byte(names.table()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "recall.txt"), []byte(recallTable(all)), 0o644)
}

// add adds what one corpus has.
func (r *recalled) add(one *recalled) {
	part := min(one.seen, mostOfOne) / one.seen
	r.seen += one.seen * part
	r.found += one.found * part
	r.corpora++
	for form, n := range one.forms {
		r.forms[form] += n
	}
}

// recallTable has a line for each weight, with its words as they are written most.
func recallTable(all map[string]*recalled) string {
	lines := map[string][]string{}
	for _, r := range all {
		if r.corpora < fewestIn || r.seen < fewest {
			continue
		}
		share := (r.found + usualCounts*usual) / (r.seen + usualCounts)
		weight := min(1, max(leastWeight, math.Pow(share/usual, recallPower)))
		if line := fmt.Sprintf("%.2f", math.Round(weight*50)/50); line != "1.00" {
			lines[line] = append(lines[line], commonest(r.forms))
		}
	}
	var text strings.Builder
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		slices.Sort(lines[line])
		fmt.Fprintln(&text, line, strings.Join(lines[line], " "))
	}
	return text.String()
}

func commonest(forms map[string]int) string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(forms)), func(a, b string) int {
		return cmp.Or(cmp.Compare(forms[a], forms[b]), strings.Compare(b, a))
	})
}

// commentsIn counts the words of the comments of one corpus.
func commentsIn(root string, ix *index.Index) (all map[string]*recalled, comments []comment) {
	all = map[string]*recalled{}
	for i := range ix.Files {
		f := &ix.Files[i]
		src, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil || f.Flags != 0 {
			continue
		}
		for _, c := range chunk.Of(f.Language, src) {
			text, code := commented(f.Language, c, src)
			if text == nil || strings.Count(code, "\n") < 4 {
				continue
			}
			found := comment{words: countWords(all, firstSentence(string(text), c.Definitions[0].Name), termsOf(code, f.Path))}
			for _, d := range c.Definitions {
				for _, part := range words.Split(d.Name) {
					found.names = append(found.names, words.Stem(part))
				}
			}
			comments = append(comments, found)
		}
	}
	return all, comments
}

// docstring is the comment of a definition in Python.
var docstring = regexp.MustCompile(`(?s)("""|''')(.*?)("""|''')`)

// commented divides a chunk of a few definitions into its comment and its code.
func commented(language string, c chunk.Chunk, src []byte) (text []byte, code string) {
	if len(c.Definitions) == 0 || len(c.Definitions) > 3 {
		return nil, ""
	}
	text, rest := src[c.Start:c.Start+c.Doc], string(src[c.Start+c.Doc:c.End])
	if language == "Python" {
		at := docstring.FindStringSubmatchIndex(rest)
		if at == nil {
			return nil, ""
		}
		return []byte(rest[at[4]:at[5]]), rest[:at[0]] + rest[at[1]:]
	}
	if len(text) == 0 {
		return nil, ""
	}
	return text, rest
}

// What is no text in comments, and where their first sentence ends.
var (
	marker   = regexp.MustCompile(`(?m)^\s*(/\*\*?|\*/|\*|///?!?|//!|#+|--)\s?`)
	later    = regexp.MustCompile(`\n\s*\n|\n\s*@|<p>`)
	sentence = regexp.MustCompile(`(?s)^(.+?[.!?])(\s|$)`)
	markup   = regexp.MustCompile(`<[^>]*>|\{@\w+|[{}]`)
	plain    = regexp.MustCompile(`^[a-z]+$`)
)

// firstSentence returns the words of a comment's first sentence without the name that it
// is about; nil: it says too little, or too much.
func firstSentence(text, name string) []string {
	text = strings.TrimSpace(marker.ReplaceAllString(text, ""))
	text = later.Split(text, 2)[0]
	if first := sentence.FindString(text); first != "" {
		text = first
	}
	all := strings.Fields(markup.ReplaceAllString(text, " "))
	if len(all) < 4 || len(all) > 30 {
		return nil
	}
	if all[0] == name {
		all = all[1:]
	}
	return all
}

// countWords counts each word of a sentence once, and whether the code has it. It returns
// their stems.
func countWords(all map[string]*recalled, sentence []string, code map[string]bool) (stems []string) {
	seen := map[string]bool{}
	for _, field := range sentence {
		for word := range strings.SplitSeq(strings.Trim(field, ".,:;!?()[]\"'`*"), "-") {
			form := strings.ToLower(word)
			terms := words.Terms(word)
			if len(terms) != 1 || seen[terms[0]] || !plain.MatchString(form) {
				continue
			}
			seen[terms[0]] = true
			stems = append(stems, terms[0])
			r := all[terms[0]]
			if r == nil {
				r = &recalled{forms: map[string]int{}}
				all[terms[0]] = r
			}
			r.seen++
			r.forms[form]++
			if code[terms[0]] {
				r.found++
			}
		}
	}
	return stems
}

// termsOf are the terms of some code and of its path.
func termsOf(texts ...string) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		src := []byte(text)
		for at := 0; ; {
			start, end := words.Next(src, at)
			if start == len(src) {
				break
			}
			at = end
			for _, term := range words.Terms(text[start:end]) {
				all[term] = true
			}
		}
	}
	return all
}
