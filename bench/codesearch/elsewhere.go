package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
)

const (
	// questionsFlag names the file for the questions that another engine is to answer.
	questionsFlag = "-questions"
	// resultsFlag names the file with what it answered.
	resultsFlag = "-results"
)

// writeQuestions writes corpus and query of every question, and nothing of its answers.
func writeQuestions(file string, questions []question) error {
	var text strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&text, "%s\t%s\n", q.corpus, q.query)
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

// elsewhere is the method that looks answers of another engine up: lines of corpus, query, path
// within the corpus, first and last line, in the order of that engine. It is named after the file.
func elsewhere(file string) (method, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return method{}, err
	}
	answers := map[[2]string][]result{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 5 {
			return method{}, fmt.Errorf("%s has a line of %d fields, not 5: %s", file, len(fields), line)
		}
		first, err := strconv.Atoi(fields[3])
		if err != nil {
			return method{}, err
		}
		last, err := strconv.Atoi(fields[4])
		if err != nil {
			return method{}, err
		}
		asked := [2]string{fields[0], fields[1]}
		if len(answers[asked]) < 10 && !strings.HasPrefix(fields[2], ownFolder) {
			answers[asked] = append(answers[asked], result{file: fields[2], first: first, last: last})
		}
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return method{name: name, search: func(ix *index.Index, text string) []result {
		return answers[[2]string{ix.Meta.Name, text}]
	}}, nil
}
