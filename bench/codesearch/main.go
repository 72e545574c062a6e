// Command codesearch measures the quality of code search: NDCG@10 by graded places and
// by those alone that the questions name, MRR, recall@5
// and the tokens that are read before the first right place, on the gold set, for
// matching as ripgrep does it, for plain BM25, and for ours without each signal.
//
//	go run ./bench/codesearch go=$(go env GOROOT)/src own=. java=DIR js=DIR python=/usr/lib/python3.11
//
// The folders java and js are what fetch.sh unpacks. Questions about corpora that
// are not named are left out. The last argument may be -misses, which lists the
// tuning half's queries whose first place is not right and counts why, or -short, which compares
// plain BM25 and ours only; -tuning leaves the held-out half out. With -engine=URL the corpora are also indexed in that
// Elasticsearch or OpenSearch, and the table compares ours there with ours here. With
// -embeddings=URL, -model=NAME and -folder=DIR it compares ours with and without a service of embeddings, such as embed.py.
// -questions=FILE writes the questions for another engine, and -results=FILE adds what it answered; peer.py asks one.
// A symbol's right places are the definitions that its line names; with -symbols those that were judged count for it, too.
// With -unjudged=FILE it writes what the methods return and no judge has seen, without saying which.
// With -learn=DIR it learns words from the comments of the folders instead; learn.sh has what they were learned from.
package main

import (
	"context"
	"fmt"
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
		panic(err)
	}
}

func run(args []string) error {
	roots, flags := map[string]string{}, map[string]string{}
	for _, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if strings.HasPrefix(name, "-") {
			flags[name] = value
		} else if given {
			roots[name] = value
		}
	}
	questions, err := gold(roots)
	if err != nil {
		return err
	}
	if file := flags[questionsFlag]; file != "" {
		return writeQuestions(file, questions)
	}
	indexes, err := build(roots, flags[folderFlag])
	if err != nil {
		return err
	}
	if folder := flags[learnFlag]; folder != "" {
		return learn(folder, roots, indexes)
	}
	if file := flags[unjudgedFlag]; file != "" {
		return unjudged(file, roots, questions, indexes)
	}
	if !slices.Contains(args, "-symbols") {
		questions = definitions(questions)
	}
	if slices.Contains(args, "-misses") {
		return printMisses(questions, indexes)
	}
	compared, err := comparedWith(flags, roots, indexes)
	if err != nil {
		return err
	}
	if slices.Contains(args, "-tuning") {
		questions = slices.DeleteFunc(questions, func(q question) bool { return q.held })
	}
	return table(compared, questions, indexes)
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
func comparedWith(flags, roots map[string]string, indexes map[string]*index.Index) ([]method, error) {
	compared := methods()
	_, short := flags["-short"]
	engine, embeddings := flags[engineFlag], flags[embeddingsFlag]
	if short || engine != "" || embeddings != "" {
		compared = compared[1:3]
	}
	if engine != "" {
		there, err := inEngine(engine, roots)
		if err != nil {
			return nil, err
		}
		compared = append(compared, there)
	}
	if file := flags[resultsFlag]; file != "" {
		there, err := elsewhere(file)
		if err != nil {
			return nil, err
		}
		compared = append(compared, there)
	}
	if embeddings != "" {
		more, err := embedded(embed.Service{BaseURL: embeddings, Model: flags[modelFlag]}, flags[folderFlag], indexes)
		if err != nil {
			return nil, err
		}
		compared = append(compared, more...)
	}
	return compared, nil
}

// build indexes the corpora, one after the other on one core, and prints the rates.
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
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "corpus\tfiles\tlines\tlines per second of one core\tindex bytes per line\topened in\tmemory bytes per line")
	for _, name := range slices.Sorted(mapKeys(roots)) {
		file := filepath.Join(folder, name)
		before := processorTime()
		report, err := index.Update(context.Background(), file, index.Source{Name: name, Root: roots[name]}, index.Options{Workers: 1})
		if err != nil {
			return nil, err
		}
		spent := processorTime() - before
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
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.1f\t%v\t%.1f\n", name, report.Files, report.Lines, float64(report.Lines)/spent.Seconds(), float64(info.Size())/float64(report.Lines), took.Round(time.Millisecond), float64(heldBytes()-held)/float64(report.Lines))
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
