package main

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goldText has the questions and their right places, poolText what was judged besides.
var (
	//go:embed gold.tsv
	goldText string
	//go:embed pool.tsv
	poolText string
)

// question is one query of the gold set.
type question struct {
	corpus, kind, query string
	held                bool // of the half that no weight was chosen by
	places              []place
	judged              []place // that count besides those, by grade
}

// place is where an answer is: a file, or a folder, or lines of a file.
type place struct {
	path       string
	first, end int // lines, inclusive; 0: all of it
	grade      int // 2: right, 1: a part of it
}

// right is the grade of the places that a question names.
const right = 2

// gold reads the questions about the corpora that are there.
func gold(roots map[string]string) (all []question, err error) {
	for line := range strings.Lines(goldText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || roots[fields[0]] == "" {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("the gold set has a line of %d fields: %s", len(fields), line)
		}
		q := question{corpus: fields[0], kind: fields[1], query: fields[2], held: half(fields[2])}
		for text := range strings.SplitSeq(fields[3], " ; ") {
			p, err := find(roots[q.corpus], text)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", q.query, err)
			}
			q.places = append(q.places, p)
		}
		all = append(all, q)
	}
	return all, pool(roots, all)
}

// pool adds the places that were judged. One whose text is not in its file any more is
// left out: the corpus has changed since.
func pool(roots map[string]string, all []question) error {
	gone := 0
	for line := range strings.Lines(poolText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || roots[fields[0]] == "" {
			continue
		}
		i := slices.IndexFunc(all, func(q question) bool { return q.corpus == fields[0] && len(fields) == 4 && q.query == fields[1] })
		if i < 0 || fields[2] != "1" && fields[2] != "2" {
			return fmt.Errorf("a judgement of no question, or without a grade: %s", line)
		}
		p, err := find(roots[fields[0]], fields[3])
		if err != nil {
			gone++
			continue
		}
		p.grade = int(fields[2][0] - '0')
		all[i].judged = append(all[i].judged, p)
	}
	if gone > 0 {
		fmt.Fprintf(os.Stderr, "%d places that were judged are gone\n", gone)
	}
	return nil
}

// half puts a query into one of two halves, by its text alone.
func half(query string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(query))
	return h.Sum32()%2 == 1
}

// placeLines is how many lines from a place's text on count as the place at least.
const placeLines = 12

// find resolves a place. Alternatives after | are for other versions of a corpus.
func find(root, text string) (place, error) {
	path, anchors, has := strings.Cut(text, "@")
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil {
		return place{}, err
	}
	if !has || info.IsDir() {
		return place{path: path, grade: right}, nil
	}
	source, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return place{}, err
	}
	for anchor := range strings.SplitSeq(anchors, "|") {
		if at := strings.Index(string(source), anchor); at >= 0 {
			line := strings.Count(string(source[:at]), "\n")
			lines := strings.Split(string(source), "\n")
			return place{path, line + 1, max(line+placeLines, lastLine(lines, line)) + 1, right}, nil
		}
	}
	return place{}, fmt.Errorf("%s has no %q", path, anchors)
}

// lastLine is where the declaration ends that begins at a line: before the next line
// that is not indented more, or with it when it closes a bracket.
func lastLine(lines []string, first int) int {
	last, depth := first, indent(lines[first])
	for i := first + 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		switch {
		case text == "":
			continue
		case indent(lines[i]) > depth || text == "{" || strings.HasPrefix(text, ")") && i < first+maxSignature:
			last = i
			continue
		case strings.ContainsAny(text[:1], "})]"):
			return i
		}
		return last
	}
	return last
}

// maxSignature is how many lines the parameters of a declaration may take.
const maxSignature = 20

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// answered reports whether a result is at the place.
func (p place) answered(file string, first, last int) bool {
	if file != p.path && !strings.HasPrefix(file, p.path+"/") {
		return false
	}
	return p.first == 0 || first <= p.end && last >= p.first
}

func (p place) answeredBy(r result) bool { return p.answered(r.file, r.first, r.last) }
