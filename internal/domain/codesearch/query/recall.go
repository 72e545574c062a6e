package query

import (
	_ "embed"
	"strconv"
	"strings"

	"countersign.dev/internal/domain/codesearch/words"
)

// recallText has a weight and its words to a line, namedText the stems of a word and of the
// parts of names that answer it. bench/codesearch learned both from comments.
var (
	//go:embed recall.txt
	recallText string
	//go:embed named.txt
	namedText string
)

// recall is, by stem, what a word of a question says about the code that answers it: code
// seldom has a word such as "whether" of a comment about it. Words that are not in it count 1.
var recall = func() map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(recallText) {
		number, list, _ := strings.Cut(line, " ")
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil {
			panic("recall.txt: " + err.Error()) // it is a part of the program
		}
		for word := range strings.FieldsSeq(list) {
			all[words.Stem(word)] = weight
		}
	}
	return all
}()

// recalled is what a stem weighs.
func recalled(stem string) float64 {
	if weight, ok := recall[stem]; ok {
		return weight
	}
	return 1
}

// wellRecalled is the weight from which one word alone may be the name of what is sought.
const wellRecalled = 0.85

// named are, by the stem of a word, parts of the names of what comments with it are about.
var named = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(namedText) {
		if stems := strings.Fields(line); len(stems) > 0 {
			all[stems[0]] = stems[1:]
		}
	}
	return all
}()
