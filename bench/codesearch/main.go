// Command codesearch measures the quality of code search: NDCG@10 by graded places and
// by those alone that the questions name, MRR, recall@5
// and the tokens that are read before the first right place, on the gold set, for
// matching as ripgrep does it, for plain BM25, and for ours without each signal.
//
//	go run ./bench/codesearch go=$(go env GOROOT)/src own=. java=DIR js=DIR python=/usr/lib/python3.11
//
// The folders java and js are what fetch.sh unpacks. Questions about corpora that
// are not named are left out. A flag may be -misses, which lists the
// tuning half's queries whose first place is not right and counts why, or -short, which compares
// plain BM25 and ours only; -tuning leaves the held-out half out. With -engine=URL the corpora are also indexed in that
// Elasticsearch or OpenSearch, and the table compares ours there with ours here. With
// -embeddings=URL, -model=NAME and -folder=DIR it compares ours with and without a service of embeddings, such as embed.py.
// -questions=FILE writes the questions for another engine, and -results=FILE adds what it answered; peer.py asks one.
// A symbol's right places are the definitions that its line names; with -symbols those that were judged count for it, too.
// With -unjudged=FILE it writes what the methods return and no judge has seen, without saying which.
// With -messages it asks for messages of the corpora's programs, as written and filled in, instead of the gold set.
// With -learn=DIR it learns words from the comments of the folders instead; learn.sh has what they were learned from.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	roots, given, err := read(args)
	if err != nil {
		return err
	}
	questions, err := gold(roots)
	if err != nil {
		return err
	}
	if file := given[questionsFlag]; file != "" {
		return writeQuestions(file, questions)
	}
	indexes, err := build(roots, given[folderFlag])
	if err != nil {
		return err
	}
	if folder := given[learnFlag]; folder != "" {
		return learn(folder, roots, indexes)
	}
	if given.has(messagesFlag) {
		return messages(indexes)
	}
	if file := given[unjudgedFlag]; file != "" {
		return unjudged(file, roots, questions, indexes)
	}
	if !given.has(symbolsFlag) {
		questions = definitions(questions)
	}
	if given.has(missesFlag) {
		return printMisses(questions, indexes)
	}
	compared, err := comparedWith(given, roots, indexes)
	if err != nil {
		return err
	}
	if given.has(tuningFlag) {
		questions = slices.DeleteFunc(questions, func(q question) bool { return q.held })
	}
	return table(compared, questions, indexes)
}

// The flags without a value. The others are where they are used.
const (
	missesFlag  = "-misses"
	shortFlag   = "-short"
	symbolsFlag = "-symbols"
	tuningFlag  = "-tuning"
)

// flags are those that were given, with their values.
type flags map[string]string

func (f flags) has(name string) bool {
	_, given := f[name]
	return given
}

// read reads the corpora and the flags. A flag that is not known would leave out what it was given
// for, such as the half of the questions that is held out.
func read(args []string) (roots map[string]string, given flags, err error) {
	known := []string{missesFlag, shortFlag, symbolsFlag, tuningFlag, engineFlag, embeddingsFlag, modelFlag, folderFlag, questionsFlag, resultsFlag, unjudgedFlag, learnFlag, messagesFlag}
	roots, given = map[string]string{}, flags{}
	for _, arg := range args {
		name, value, valued := strings.Cut(arg, "=")
		switch {
		case slices.Contains(known, name) && valued != (value != ""):
			return nil, nil, fmt.Errorf("%s has no value", name)
		case slices.Contains(known, name):
			given[name] = value
		case strings.HasPrefix(name, "-"):
			return nil, nil, fmt.Errorf("%s is not a flag: there are %s", name, strings.Join(known, " "))
		case !valued:
			return nil, nil, fmt.Errorf("%s is no corpus: write name=folder", name)
		default:
			roots[name] = value
		}
	}
	return roots, given, nil
}

// definitions leaves to queries for a symbol the definitions that they name: what is near one was judged, too,
// but is not what such a query asks for.
func definitions(questions []question) []question {
	for i := range questions {
		if questions[i].kind == "symbol" {
			questions[i].judged = nil
		}
	}
	return questions
}

// comparedWith are the methods that the flags ask for.
func comparedWith(given flags, roots map[string]string, indexes map[string]*index.Index) ([]method, error) {
	compared := methods()
	engine, embeddings := given[engineFlag], given[embeddingsFlag]
	if given.has(shortFlag) || engine != "" || embeddings != "" {
		compared = compared[1:3]
	}
	if engine != "" {
		there, err := inEngine(engine, roots)
		if err != nil {
			return nil, err
		}
		compared = append(compared, there)
	}
	if file := given[resultsFlag]; file != "" {
		there, err := elsewhere(file)
		if err != nil {
			return nil, err
		}
		compared = append(compared, there)
	}
	if embeddings != "" {
		more, err := embedded(embed.Service{BaseURL: embeddings, Model: given[modelFlag]}, given[folderFlag], indexes)
		if err != nil {
			return nil, err
		}
		compared = append(compared, more...)
	}
	return compared, nil
}

// build indexes the corpora, one after the other on one core, and prints the rates, each beside the [floor].
// Without a folder the indexes are removed again, which leaves them open.
func build(roots map[string]string, folder string) (map[string]*index.Index, error) {
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "codesearch-bench-*"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // an idle core would be spent on collecting garbage sooner
	all := map[string]*index.Index{}
	base := floorOf(roots)
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "corpus\tfiles\tlines\tlines per second of one core\tgo/parser's then\tratio\tindex bytes per line\topened in\tmemory bytes per line")
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		file := filepath.Join(folder, name)
		before := processorTime()
		report, err := index.Update(context.Background(), file, index.Source{Name: name, Root: roots[name]}, index.Options{Workers: 1})
		if err != nil {
			return nil, err
		}
		rate := perSecond(report.Lines, processorTime()-before)
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		held := heldBytes()
		began := time.Now()
		ix, err := index.Open(file)
		if err != nil {
			return nil, err
		}
		took := time.Since(began)
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%s\t%.1f\t%v\t%.1f\n", name, report.Files, report.Lines, rate, base.beside(rate), float64(info.Size())/float64(report.Lines), took.Round(time.Millisecond), float64(heldBytes()-held)/float64(report.Lines))
		all[name] = ix
	}
	return all, w.Flush()
}

// heldBytes is what the process holds in its heap. What is mapped is not in it.
func heldBytes() int {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
