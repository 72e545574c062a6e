package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/domain/codesearch/index"
)

// score is the mean of a method over some questions. MRR, recall@5 and the tokens to the
// first hit are by the places that the questions name.
type score struct {
	ndcg, named, files, mrr, recall, tokens float64
	n                                       int
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
	s.named += named(q.places, results)
	s.files += named(filesOf(q.places), results)
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
func named(places []place, results []result) float64 {
	gain, ideal := 0.0, 0.0
	for i, p := range places {
		if i < 10 {
			ideal += discount(i)
		}
		if rank := slices.IndexFunc(results, p.answeredBy); rank >= 0 {
			gain += discount(rank)
		}
	}
	return min(1, gain/ideal)
}

// filesOf are the files of places, each once: public evaluations of code search mostly judge by
// them, with whatever lines of a file are shown.
func filesOf(places []place) (files []place) {
	for _, p := range places {
		if !slices.ContainsFunc(files, func(f place) bool { return f.path == p.path }) {
			files = append(files, place{path: p.path})
		}
	}
	return files
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
		if i := gained(places, used, r); i >= 0 {
			used[i] = true
			gain += float64(places[i].grade) * discount(rank)
		}
	}
	return gain / ideal
}

// bestOrder puts what gains most before the rest: about what the best ranking of the same results could do.
func bestOrder(places []place, results []result) []result {
	ordered, used := slices.Clone(results), make([]bool, len(places))
	for n := range ordered {
		grade := func(r result) int {
			if i := gained(places, used, r); i >= 0 {
				return places[i].grade
			}
			return 0
		}
		best := n
		for i := n; i < len(ordered); i++ {
			if grade(ordered[i]) > grade(ordered[best]) {
				best = i
			}
		}
		ordered[n], ordered[best] = ordered[best], ordered[n]
		if i := gained(places, used, ordered[n]); i >= 0 {
			used[i] = true
		}
	}
	return ordered
}

// gained is the best place at a result that no result before it gained; -1: there is none.
func gained(places []place, used []bool, r result) int {
	best := -1
	for i, p := range places {
		if !used[i] && p.answeredBy(r) && (best < 0 || p.grade > places[best].grade) {
			best = i
		}
	}
	return best
}

func (s score) row() string {
	n := float64(max(s.n, 1))
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f", s.ndcg/n, s.named/n, s.files/n, s.mrr/n, s.recall/n, s.tokens/n)
}

func table(compared []method, questions []question, indexes map[string]*index.Index) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nmethod\thalf\tNDCG@10\tby named places\tby files\tMRR\trecall@5\ttokens to the first hit\tsymbol\tquestion\tarchitecture\tp50\tp95")
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
				if m.ordered {
					results = bestOrder(slices.Concat(q.places, q.judged), results)
				}
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
