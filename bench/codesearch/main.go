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
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		panic(err)
	}
}

// result is one answer of a method, with what a reader reads of it.
type result struct {
	file        string
	first, last int
	tokens      int
}

// method answers a query with at most ten results.
type method struct {
	name   string
	search func(ix *index.Index, text string) []result
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
	indexes, err := build(roots, flags[folderFlag])
	if err != nil {
		return err
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

// processorTime is what this process has used of all cores, its garbage collector
// included: other work on the machine does not count.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// ownFolder has the gold set, whose queries would find themselves.
const ownFolder = "bench/"

// methods are what is compared.
func methods() []method {
	all := []method{{"ripgrep-style", matching}, {"plain BM25", ours(query.All)}, {"ours", ours(0)}}
	for _, s := range []struct {
		name string
		off  query.Signal
	}{
		{"definitions", query.Definitions}, {"paths", query.Paths}, {"coherence", query.Coherence}, {"penalties", query.Penalties}, {"decay", query.Decay},
		{"kinds of queries", query.Kinds}, {"fields", query.Fields}, {"coverage", query.Coverage}, {"neighbours", query.Neighbours}, {"expansion", query.Expansion},
	} {
		all = append(all, method{"ours without " + s.name, ours(s.off)})
	}
	return all
}

func ours(off query.Signal) func(*index.Index, string) []result {
	return func(ix *index.Index, text string) (all []result) {
		shards := []query.Shard{{Index: ix}}
		return results(shards, query.Search(shards, query.Request{Text: text, Limit: 10 + 3, Without: off}))
	}
}

// results are the best ten places that are not in the gold set's own folder.
func results(shards []query.Shard, hits []query.Hit) (all []result) {
	for _, h := range hits {
		ix := shards[h.Shard]
		c, last := ix.Chunks[h.Chunk], ix.Chunks[h.Last]
		if len(all) == 10 || strings.HasPrefix(ix.Files[c.File].Path, ownFolder) {
			continue
		}
		all = append(all, result{ix.Files[c.File].Path, int(c.Line), int(last.Last), int(last.End-c.Start) / 4})
	}
	return all
}

// matching ranks files by how many of the query's words they have, then by how
// many lines match, and shows all of a file: what an assistant does with ripgrep.
func matching(ix *index.Index, text string) (all []result) {
	type match struct{ file, words, lines int }
	var matches []match
	terms := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '.' })
	for i := range ix.Files {
		if strings.HasPrefix(ix.Files[i].Path, ownFolder) {
			continue
		}
		source, err := ix.Text(&ix.Files[i])
		if err != nil {
			continue
		}
		lower, m := strings.ToLower(string(source)), match{file: i}
		for _, term := range terms {
			if n := strings.Count(lower, term); n > 0 {
				m.words++
				m.lines += n
			}
		}
		if m.words > 0 {
			matches = append(matches, m)
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		if a.words != b.words {
			return b.words - a.words
		}
		return b.lines - a.lines
	})
	for _, m := range matches[:min(10, len(matches))] {
		f := &ix.Files[m.file]
		all = append(all, result{f.Path, 1, f.Lines, f.Size / 4})
	}
	return all
}

// score is the mean of a method over some questions. MRR, recall@5 and the tokens to the
// first hit are by the places that the questions name.
type score struct {
	ndcg, named, mrr, recall, tokens float64
	n                                int
}

func (s *score) add(q question, results []result) {
	s.n++
	found, tokens, first := 0, 0, 0
	for _, p := range q.places {
		rank := slices.IndexFunc(results, p.answeredBy)
		if rank < 0 {
			continue
		}
		if rank < 5 {
			found++
		}
		if first == 0 || rank+1 < first {
			first = rank + 1
		}
	}
	for i, r := range results {
		if first == 0 || i < first {
			tokens += r.tokens
		}
	}
	s.ndcg += graded(slices.Concat(q.places, q.judged), results)
	s.named += named(q, results)
	if first > 0 {
		s.mrr += 1 / float64(first)
	}
	s.recall += float64(found) / float64(len(q.places))
	s.tokens += float64(tokens)
}

// discount is what a rank from 0 is worth.
func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+2) }

// named is NDCG@10 by the places that a question names, as until version 3: a result may
// be at several of them.
func named(q question, results []result) float64 {
	gain, ideal := 0.0, 0.0
	for i, p := range q.places {
		if i < 10 {
			ideal += discount(i)
		}
		if rank := slices.IndexFunc(results, p.answeredBy); rank >= 0 {
			gain += discount(rank)
		}
	}
	return min(1, gain/ideal)
}

// graded is NDCG@10 by grades: a result gains the grade of the best place at it that no
// result before it gained.
func graded(places []place, results []result) float64 {
	slices.SortStableFunc(places, func(a, b place) int { return b.grade - a.grade })
	ideal, gain, used := 0.0, 0.0, make([]bool, len(places))
	for i, p := range places[:min(10, len(places))] {
		ideal += float64(p.grade) * discount(i)
	}
	for rank, r := range results {
		for i, p := range places {
			if !used[i] && p.answeredBy(r) {
				used[i] = true
				gain += float64(p.grade) * discount(rank)
				break
			}
		}
	}
	return gain / ideal
}

func (s score) row() string {
	n := float64(max(s.n, 1))
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%.3f\t%.0f", s.ndcg/n, s.named/n, s.mrr/n, s.recall/n, s.tokens/n)
}

func table(compared []method, questions []question, indexes map[string]*index.Index) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nmethod\thalf\tNDCG@10\tby named places\tMRR\trecall@5\ttokens to the first hit\tsymbol\tquestion\tarchitecture\tp50\tp95")
	for _, m := range compared {
		for _, held := range []bool{false, true} {
			total, kinds, took := score{}, map[string]*score{"symbol": {}, "question": {}, "architecture": {}}, []time.Duration{}
			for _, q := range questions {
				if q.held != held {
					continue
				}
				began := time.Now()
				results := m.search(indexes[q.corpus], q.query)
				took = append(took, time.Since(began))
				total.add(q, results)
				kinds[q.kind].add(q, results)
			}
			if total.n == 0 {
				continue
			}
			slices.Sort(took)
			name := map[bool]string{false: "tuning", true: "held-out"}[held]
			fmt.Fprintf(w, "%s\t%s\t%s", m.name, name, total.row())
			for _, kind := range []string{"symbol", "question", "architecture"} {
				fmt.Fprintf(w, "\t%.3f", kinds[kind].ndcg/float64(max(1, kinds[kind].n)))
			}
			fmt.Fprintf(w, "\t%v\t%v\n", took[len(took)/2].Round(time.Microsecond), took[len(took)*95/100].Round(time.Microsecond))
		}
	}
	return w.Flush()
}
