package main

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
)

//go:embed gold.tsv
var goldText string

// question is one query of the gold set.
type question struct {
	corpus, kind, query string
	held                bool // of the half that no weight was chosen by
	places              []place
}

// place is where an answer is: a file, or a folder, or lines of a file.
type place struct {
	path       string
	first, end int // lines, inclusive; 0: all of it
}

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
	return all, nil
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
		return place{path: path}, nil
	}
	source, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return place{}, err
	}
	for anchor := range strings.SplitSeq(anchors, "|") {
		if at := strings.Index(string(source), anchor); at >= 0 {
			line := strings.Count(string(source[:at]), "\n")
			lines := strings.Split(string(source), "\n")
			return place{path, line + 1, max(line+placeLines, lastLine(lines, line)) + 1}, nil
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
