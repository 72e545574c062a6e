package vocabulary

import (
	_ "embed"
	"strconv"

	"countersign.dev/internal/domain/codesearch/words"
)

// recallText has a weight and its words to a line. bench/codesearch learned it from comments.
//
//go:embed recall.txt
var recallText string

// recall is, by stem, what a word of a question says about the code that answers it: code
// seldom has a word such as "whether" of a comment about it. Words that are not in it count 1.
var recall = table(recallText, func(all map[string]float64, line []string) {
	weight, err := strconv.ParseFloat(line[0], 64)
	if err != nil {
		panic("recall.txt: " + err.Error()) // it is a part of the program
	}
	for _, word := range line[1:] {
		all[words.Stem(word)] = weight
	}
})

// Recalled is what a stem of a question weighs: 1, or less.
func Recalled(stem string) float64 {
	if weight, ok := recall[stem]; ok {
		return weight
	}
	return 1
}
