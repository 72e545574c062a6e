package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"countersign.dev/internal/client"
	"countersign.dev/internal/eval"
	"countersign.dev/internal/testkit"
)

// askingAtOnce is how many people ask at the same time. Each has one conversation
// after the other, well below what one person may ask in a second.
const askingAtOnce = 2

// TestRehearsalAnswersAsItsGolden asks all of eval's questions through a gateway.
// The golden is the table of docs/eval.md, which -update writes there too and a
// rule test compares, and the questions of the tuned half that are not right.
// Those of the other half are not named: planners are not tuned on them.
func TestRehearsalAnswersAsItsGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks some hundred questions")
	}
	t.Parallel()
	sets, err := eval.Sets("")
	if err != nil {
		t.Fatal(err)
	}
	answers := rehearsed(t, sharedDemo(t).Gateway, sets)
	table := "| set | questions | right | wrong | declined | honest |\n|---|---|---|---|---|---|\n"
	for _, set := range sets {
		table += rowOf(set.Name, answers)
	}
	var flaws strings.Builder
	for _, a := range answers {
		if a.Set == sets[0].Name && a.Result != eval.Right {
			fmt.Fprintf(&flaws, "%s: %s %q\n", a.Result, a.As, a.Question)
		}
		if a.Failed {
			t.Errorf("%s asked %q: %s", a.As, a.Question, a.Why)
		}
	}
	testkit.Golden(t, "rehearsal.txt", []byte(table+"\n"+flaws.String()))
	if testkit.Updating() {
		writeTable(t, "../../docs/eval.md", table)
	}
}

// rehearsed are rehearsal's answers to the questions, by the people who ask.
func rehearsed(t *testing.T, gateway string, sets []eval.Set) []eval.Answered {
	t.Helper()
	people, folder := askers(sets), t.TempDir()
	answers := make([][]eval.Answered, len(people))
	var group errgroup.Group
	group.SetLimit(askingAtOnce)
	for i, person := range people {
		group.Go(func() error {
			results := filepath.Join(folder, person)
			err := eval.Run(t.Context(), eval.Options{
				Client: client.Options{URL: gateway}, Models: []string{"rehearsal"}, Sets: askedBy(person, sets), Results: results, Out: io.Discard, Err: io.Discard,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", person, err)
			}
			answers[i], err = readAnswers(results)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(answers...)
}

// askers are the people who ask, in the order of their first questions.
func askers(sets []eval.Set) (people []string) {
	for _, set := range sets {
		for _, c := range set.Conversations {
			if !slices.Contains(people, c.As) {
				people = append(people, c.As)
			}
		}
	}
	return people
}

// askedBy are the sets with the conversations of one person only.
func askedBy(person string, sets []eval.Set) []eval.Set {
	own := slices.Clone(sets)
	for i, set := range sets {
		own[i].Conversations = slices.DeleteFunc(slices.Clone(set.Conversations), func(c eval.Conversation) bool { return c.As != person })
	}
	return own
}

// readAnswers reads a file of results: a line an answer.
func readAnswers(file string) (answers []eval.Answered, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		var a eval.Answered
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// rowOf is a set's row of the table.
func rowOf(set string, answers []eval.Answered) string {
	count, all, honest := map[eval.Result]int{}, 0, 0
	for _, a := range answers {
		if a.Set != set {
			continue
		}
		all++
		count[a.Result]++
		if a.Honest {
			honest++
		}
	}
	share := func(n int) string { return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(all)) }
	return fmt.Sprintf("| %s | %d | %s | %d | %d | %s |\n", strings.ReplaceAll(set, "_", " "), all, share(count[eval.Right]), count[eval.Wrong], count[eval.Declined], share(honest))
}

// shownTable is the table with the same columns in a document.
var shownTable = regexp.MustCompile(`(?m)^\| set \| questions \|.*\n(\|.*\n)+`)

// writeTable puts the table in the place of the document's.
func writeTable(t *testing.T, path, table string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, shownTable.ReplaceAllLiteral(page, []byte(table)), 0o644); err != nil {
		t.Fatal(err)
	}
}
