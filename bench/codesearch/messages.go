package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/linguist"
	"countersign.dev/internal/domain/codesearch/query"
)

// messagesFlag asks for the texts of the corpora's own messages instead of the gold set.
const messagesFlag = "-messages"

// What counts as a message: some words between quotes that are once in the code, and what a
// program fills in.
var (
	literal = regexp.MustCompile(`"([A-Za-z][^"\\$\n]{18,110})"`)
	hole    = regexp.MustCompile(`%[+#]?[svdqTw]|%r|\{[a-z_0-9.]*\}`)
)

const (
	fewestSpaces = 3
	mostMessages = 100 // of each corpus and kind, drawn with the same seed each time
)

// filledIn are what messages have in their holes, in turn.
var filledIn = []string{"/tmp/data/x1.csx", "42", "alice", "https://h7.example.org/a?b=1", "[3 0 1]", "main_loop", "0x1f2e", "true"}

// notCode are files whose messages are left out: what they say, code says first.
const notCode = linguist.Test | linguist.Example | linguist.Prose | linguist.Data | linguist.Generated | linguist.Vendored

// message is a text as a program prints it, and the line where it is made.
type message struct {
	file string
	line int
	text string
}

// messagesOf finds the messages of a corpus that have something to fill in, or have nothing.
func messagesOf(ix *index.Index, filled bool) (all []message, err error) {
	times := map[string]int{}
	for i := range ix.Files {
		f := &ix.Files[i]
		if f.Flags&notCode != 0 || f.Language == "" || strings.HasPrefix(f.Path, ownFolder) {
			continue
		}
		text, err := ix.Text(f)
		if err != nil {
			return nil, err
		}
		for _, at := range literal.FindAllSubmatchIndex(text, -1) {
			said := string(text[at[2]:at[3]])
			if strings.Count(said, " ") < fewestSpaces || hole.MatchString(said) != filled {
				continue
			}
			times[said]++
			all = append(all, message{f.Path, 1 + bytes.Count(text[:at[2]], []byte("\n")), said})
		}
	}
	all = slices.DeleteFunc(all, func(m message) bool { return times[m.text] > 1 })
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), mostMessages)], nil
}

// fill puts values in the holes of a message.
func fill(text string, n int) string {
	return hole.ReplaceAllStringFunc(text, func(string) string {
		n++
		return filledIn[n%len(filledIn)]
	})
}

// messages prints how often the place where a message is made is the first result, or among five.
func messages(indexes map[string]*index.Index) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nmessages\tcorpus\tnumber\tfirst\tin five\tfirst without phrases\tin five")
	for _, filled := range []bool{false, true} {
		for _, corpus := range slices.Sorted(maps.Keys(indexes)) {
			ix := indexes[corpus]
			all, err := messagesOf(ix, filled)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s\t%s\t%d", map[bool]string{false: "as written", true: "filled in"}[filled], corpus, len(all))
			for _, off := range []query.Signal{0, query.Phrases} {
				first, five := 0, 0
				for n, m := range all {
					found := ours(off)(ix, fill(m.text, n))
					rank := slices.IndexFunc(found, func(r result) bool { return r.file == m.file && r.first <= m.line && m.line <= r.last })
					first += map[bool]int{true: 1}[rank == 0]
					five += map[bool]int{true: 1}[rank >= 0 && rank < 5]
				}
				part := func(n int) float64 { return float64(n) / float64(max(1, len(all))) }
				fmt.Fprintf(w, "\t%.3f\t%.3f", part(first), part(five))
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}
