package dialect

import (
	"encoding/json"
	"fmt"

	"countersign.dev/internal/domain/tasks/record"
)

// MaxTokens bounds an answer, but for a single task that was asked for by its id.
const MaxTokens = 15_000

// frame is what a page or an envelope has besides its items, in tokens.
const frame = 80

// Fit returns the first items that an answer has room for. With fit it leaves the
// others out; without, an answer that is too large is RESPONSE_SIZE_EXCEEDED, with a
// limit that is small enough.
func Fit[T any](items []T, fit, details bool) ([]T, error) {
	total, fitting := frame, 0
	for _, item := range items {
		encoded, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		if total += Estimate(encoded) + 1; total <= MaxTokens {
			fitting++
		}
	}
	if total <= MaxTokens || fit && fitting > 0 {
		return items[:fitting], nil
	}
	return nil, TooLarge(total, fitting, details)
}

// TooLarge is RESPONSE_SIZE_EXCEEDED. room is a limit that is small enough; 0: none is.
func TooLarge(tokens, fitting int, details bool) error {
	suggestion := "Use a smaller max_depth."
	switch {
	case fitting > 0 && details:
		suggestion = fmt.Sprintf("Use limit=%d, or mode=summary without a limit.", fitting)
	case fitting > 0:
		suggestion = fmt.Sprintf("Use limit=%d.", fitting)
	case details:
		suggestion = "Use mode=summary without a limit, and get_task for the details of one."
	}
	return record.ErrResponseSize.New("The answer would have about %d tokens, and %d is the most.", tokens, MaxTokens).
		Suggest("%s", suggestion).With("actual_tokens", tokens).With("max_tokens", MaxTokens)
}

// Estimate is about the number of tokens of a text in JSON, as the vocabulary o200k
// would split it: keys, numbers and punctuation count like any other text. It reads
// each byte once.
func Estimate(text []byte) int {
	parts := 0
	for from := 0; from < len(text); {
		kind, to := kindOf(text[from]), from+1
		for to < len(text) && kindOf(text[to]) == kind {
			to++
		}
		parts += cost(kind, text[from:to], to < len(text) && kindOf(text[to]) == letters)
		from = to
	}
	return (parts + wholeToken/2) / wholeToken
}

// The kinds of bytes, whose runs the vocabulary rarely joins.
const (
	letters byte = iota // and the bytes of characters beyond ASCII
	digits
	spaces
	marks
)

func kindOf(b byte) byte {
	switch {
	case b >= 0x80, b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
		return letters
	case b >= '0' && b <= '9':
		return digits
	case b == ' ' || b == '\n' || b == '\t':
		return spaces
	}
	return marks
}

// The costs of runs, in parts of a token. They were fitted to the tokenizer's counts of
// answers of every tool; a test compares them.
const (
	wholeToken = 32
	ofLetter   = 7  // of each letter after the seventh
	ofWide     = 6  // of each byte beyond ASCII
	ofCapital  = 14 // of each capital letter within a word
	ofPrefix   = 5  // of one mark before a word, which is mostly joined to it
	ofMark     = 14 // of each mark after the third
)

// cost is that of one run; word reports that letters follow.
func cost(kind byte, run []byte, word bool) int {
	switch {
	case kind == letters:
		return costOfWord(run)
	case kind == digits: // three at a time
		return wholeToken * ((len(run) + 2) / 3)
	case kind == spaces: // one is a part of the next word
		return wholeToken * min(1, len(run)-1)
	case len(run) == 1 && word:
		return ofPrefix
	}
	return wholeToken + ofMark*max(0, len(run)-3)
}

func costOfWord(run []byte) int {
	plain, parts := 0, wholeToken
	for i, b := range run {
		switch {
		case b >= 0x80:
			parts += ofWide
			continue
		case i > 0 && b <= 'Z' && run[i-1] >= 'a' && run[i-1] <= 'z':
			parts += ofCapital
		}
		plain++
	}
	return parts + ofLetter*max(0, plain-7)
}
