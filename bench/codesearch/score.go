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
	ndcg, inOrder, named, files, mrr, recall, tokens float64
	n                                                int
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
	all := slices.Concat(q.places, q.judged)
	s.ndcg += graded(all, results)
	s.inOrder += inOrder(all, results)
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

// named is NDCG@10 by the places that a question names, all alike: a rank counts when a place is first found
// there, once, as in semble's evaluation (benchmarks/metrics.py of github.com/MinishLab/semble).
func named(places []place, results []result) float64 {
	var grades [10]int
	for i := range places {
		if rank := slices.IndexFunc(results, places[i].answeredBy); rank >= 0 && rank < len(grades) {
			grades[rank] = 1
		}
	}
	return dcg(grades[:]) / dcg(slices.Repeat([]int{1}, len(places)))
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

// graded is NDCG@10 by grades. A result gains the best of its places that none before it gained, and no other:
// it is at one rank.
func graded(places []place, results []result) float64 { return ndcg(places, shown(places, results, 1)) }

// inOrder is the same by the places in the order in which results show them: one that shows several
// counts as these one after another, the best first, and what follows comes after all of them.
func inOrder(places []place, results []result) float64 {
	return ndcg(places, shown(places, results, len(places)))
}

// shown are the grades of the places that results show, each once, at most so many of one result. A
// result that shows none has 0.
func shown(places []place, results []result, most int) (grades []int) {
	used := make([]bool, len(places))
	for _, r := range results {
		if of := take(places, used, r, most); len(of) > 0 {
			grades = append(grades, of...)
		} else {
			grades = append(grades, 0)
		}
	}
	return grades
}

// take marks the best places at a result that are not used, at most so many, and returns their grades.
func take(places []place, used []bool, r result, most int) (grades []int) {
	for len(grades) < most {
		i := gained(places, used, r)
		if i < 0 {
			break
		}
		used[i] = true
		grades = append(grades, places[i].grade)
	}
	return grades
}

// ndcg compares the first ten grades with those of all places in the best order.
func ndcg(places []place, grades []int) float64 {
	best := make([]int, len(places))
	for i, p := range places {
		best[i] = -p.grade
	}
	slices.Sort(best)
	return dcg(grades) / -dcg(best)
}

func dcg(grades []int) (gain float64) {
	for rank, grade := range grades[:min(10, len(grades))] {
		gain += float64(grade) * discount(rank)
	}
	return gain
}

// bestOrder puts what gains most at each rank before the rest: about what the best ranking
// of the same results could do.
func bestOrder(places []place, results []result) []result {
	best, used := slices.Clone(results), make([]bool, len(places))
	for n := range best {
		at, most := n, 0
		for i := n; i < len(best); i++ {
			if gain := gained(places, used, best[i]); gain >= 0 && places[gain].grade > most {
				at, most = i, places[gain].grade
			}
		}
		best[n], best[at] = best[at], best[n]
		take(places, used, best[n], 1)
	}
	return best
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
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f", s.ndcg/n, s.inOrder/n, s.named/n, s.files/n, s.mrr/n, s.recall/n, s.tokens/n)
}

func table(compared []method, questions []question, indexes map[string]*index.Index) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nmethod\thalf\tNDCG@10\tplaces in order\tby named places\tby files\tMRR\trecall@5\ttokens to the first hit\tsymbol\tquestion\tarchitecture\tp50\tp95")
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
