package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// unjudgedFlag names the file for what any method returns and no judge has seen.
const unjudgedFlag = "-unjudged"

// judgedText has what was judged, with whatever grade.
//
//go:embed judged.tsv
var judgedText string

// span is some lines of a file, inclusive.
type span struct{ first, last int }

// inFile is a file as an answer to a question.
type inFile struct{ corpus, query, file string }

// found is a place to be judged. Nothing in it says which method returned it, or where.
type found struct {
	inFile
	kind string
	span
}

// unjudged writes the places of the first ten of every method that no judge has seen, merged
// and shuffled, and prints what share of each method's they are.
func unjudged(file string, roots map[string]string, questions []question, indexes map[string]*index.Index) error {
	judged, err := judgedLines(roots)
	if err != nil {
		return err
	}
	var all []found
	for i, m := range methods() {
		returned, before := 0, len(all)
		for _, q := range questions {
			ix := indexes[q.corpus]
			for _, r := range m.search(ix, q.query) {
				returned++
				if slices.ContainsFunc(slices.Concat(q.places, q.judged), func(p place) bool { return p.answeredBy(r) }) {
					continue
				}
				if i == 0 { // matching shows whole files, of which a part is judged once
					if judged[inFile{q.corpus, q.query, r.file}] != nil {
						continue
					}
					r = bestOf(ix, q.query, r)
				}
				at := found{inFile{q.corpus, q.query, r.file}, q.kind, span{r.first, r.last}}
				if 2*at.shared(judged[at.inFile]) < at.lines() {
					all = append(all, at)
				}
			}
		}
		fmt.Printf("%s: %d of %d are not judged\n", m.name, len(all)-before, returned)
	}
	var text strings.Builder
	for _, f := range merged(all) {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%d\t%d\n", f.corpus, f.kind, f.query, f.file, f.first, f.last)
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

// bestOf is the best chunk of a whole file, whose lines are too many to judge each.
func bestOf(ix *index.Index, text string, r result) result {
	hits := query.Search([]query.Shard{{Index: ix}}, query.Request{Text: text, Path: r.file, Limit: 1})
	if len(hits) == 0 {
		return r
	}
	return result{file: r.file, first: int(ix.Chunks[hits[0].Chunk].Line), last: int(ix.Chunks[hits[0].Last].Last)}
}

// merged leaves one of the places that have half of the smaller one in common.
func merged(all []found) (places []found) {
	slices.SortFunc(all, func(a, b found) int {
		if c := strings.Compare(a.corpus+"\t"+a.query+"\t"+a.file, b.corpus+"\t"+b.query+"\t"+b.file); c != 0 {
			return c
		}
		return a.first - b.first
	})
	for _, f := range all {
		if n := len(places) - 1; n >= 0 && places[n].inFile == f.inFile && 2*f.shared([]span{places[n].span}) >= min(f.lines(), places[n].lines()) {
			continue
		}
		places = append(places, f)
	}
	rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	return places
}

func (s span) lines() int { return s.last - s.first + 1 }

// shared is how many lines some spans, which are apart, have of this one.
func (s span) shared(others []span) (n int) {
	for _, o := range others {
		n += max(0, min(s.last, o.last)-max(s.first, o.first)+1)
	}
	return n
}

// judgedLines reads which lines were judged. Those of this repository are of a commit,
// and moved by what changed since.
func judgedLines(roots map[string]string) (map[inFile][]span, error) {
	all, changes := map[inFile][]span{}, map[string][]hunk{}
	for line := range strings.Lines(judgedText) {
		line = strings.TrimSuffix(line, "\n")
		if commit, is := strings.CutPrefix(line, "# own: "); is && roots["own"] != "" {
			var err error
			if changes, err = changedSince(roots["own"], commit); err != nil {
				return nil, err
			}
		}
		fields := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 3 {
			continue
		}
		for text := range strings.FieldsSeq(fields[2]) {
			path, spans, _ := strings.Cut(text, ":")
			for part := range strings.SplitSeq(spans, ",") {
				var s span
				if _, err := fmt.Sscanf(part, "%d-%d", &s.first, &s.last); err != nil {
					return nil, fmt.Errorf("judged.tsv has %q: %w", part, err)
				}
				at := inFile{fields[0], fields[1], path}
				if fields[0] == "own" {
					all[at] = append(all[at], moved(s, changes[path])...)
				} else {
					all[at] = append(all[at], s)
				}
			}
		}
	}
	return all, nil
}

// hunk is a change of some lines: those from old on, of which there were was, are will.
type hunk struct{ old, was, will int }

// changedSince are the changes of a repository's files since a commit.
func changedSince(root, commit string) (map[string][]hunk, error) {
	cmd := exec.Command("git", "-C", root, "diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", "--no-prefix", commit)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("what changed since %s: %w", commit, err)
	}
	changes, path := map[string][]hunk{}, ""
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "diff --git "); is {
			path = text[:len(text)/2] // it is there twice
		} else if text, is := strings.CutPrefix(lines.Text(), "@@ -"); is {
			changes[path] = append(changes[path], hunkOf(text))
		}
	}
	return changes, lines.Err()
}

// hunkOf reads "12,3 +12,4 @@": a count that is left out is 1.
func hunkOf(text string) hunk {
	from, rest, _ := strings.Cut(text, " +")
	to, _, _ := strings.Cut(rest, " @@")
	count := func(s string) (first, n int) {
		if k, _ := fmt.Sscanf(s, "%d,%d", &first, &n); k < 2 {
			n = 1
		}
		return first, n
	}
	h := hunk{}
	h.old, h.was = count(from)
	_, h.will = count(to)
	if h.was == 0 {
		h.old++ // what is added comes after the line
	}
	return h
}

// moved is where lines are after changes: the parts that are left.
func moved(s span, changes []hunk) (parts []span) {
	by := 0
	for _, h := range changes {
		if h.old > s.last {
			break
		}
		if s.first < h.old {
			parts = append(parts, span{s.first + by, h.old - 1 + by})
		}
		s.first = max(s.first, h.old+h.was)
		by += h.will - h.was
	}
	if s.first <= s.last {
		parts = append(parts, span{s.first + by, s.last + by})
	}
	return parts
}
