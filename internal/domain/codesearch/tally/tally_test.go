package tally

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

var some = []string{"seal", "cursor", "token", "verify", "page", "lock", "queue", "retry"}

// large is an index of several windows, one file of which is larger than a window.
func large(t *testing.T) *index.Index {
	t.Helper()
	random, root, file := rand.New(rand.NewPCG(1, 2)), t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	for n, functions := range []int{Window + 500, 1, 700, Window - 900, 0, 40, 3, Window / 2} {
		var b strings.Builder
		b.WriteString("package p\n\n")
		for i := range functions {
			word := func() string { return some[random.IntN(len(some))] }
			fmt.Fprintf(&b, "// f%d may %s.\nfunc f%d() {\n\t%s(%s)\n%s}\n\n", i, word(), i, word(), word(), strings.Repeat("\tprepare(lorem, ipsum)\n", 4+random.IntN(3)))
		}
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d.go", n)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	if _, most := ix.Files[0].Chunks(); most <= Window || len(ix.Chunks) < 2*Window {
		t.Fatalf("%d chunks, %d in the first file", len(ix.Chunks), most)
	}
	return ix
}

// groups are terms of an index that are counted together. A part below 1 does not cover its group.
func groups(ix *index.Index, words ...map[string]float32) (all []Group) {
	for i, of := range words {
		g := Group{Weight: float32(i) + 1.5, Bit: 1 << i}
		for word, part := range of {
			if term, ok := ix.Word(word); ok {
				g.Terms = append(g.Terms, Term{ix.Postings(term), part, part == 1})
			}
		}
		all = append(all, g)
	}
	return all
}

// TestWindowsCountAll: what is counted in windows is what counting one chunk after the other finds, also in memory that
// was used before.
func TestWindowsCountAll(t *testing.T) {
	ix, tally := large(t), new(Tally)
	odd := make([]bool, len(ix.Files))
	for i := range odd {
		odd[i] = i%2 == 1
	}
	for n, words := range [][]map[string]float32{
		{{"cursor": 1, "page": 0.3}, {"seal": 1, "lock": 0.5}},
		{{"token": 1}},
		{{"verifi": 1}, {"token": 1, "cursor": 0.2}, {"page": 1}, {"retri": 0.4}},
		{{"nowhere": 1}},
	} {
		settings := Settings{K1: K1 + float32(n)/10, Permitted: [][]bool{nil, odd}[n%2]}
		for i := range settings.Frequencies {
			settings.Frequencies[i] = Frequency(index.Payload(i))
		}
		chunks, files := oneByOne(ix, settings, groups(ix, words...))
		tally.Start(ix, settings)
		found, windows := 0, 0
		for all := groups(ix, words...); tally.Next(); windows++ {
			for i := range all {
				tally.Count(&all[i])
			}
			for chunk := tally.First; chunk < tally.End; chunk++ {
				at := chunk - tally.First
				has, want := tally.Match(at), chunks[chunk]
				if has.Groups != want.Groups || !near(has.Words, want.Words) || !near(has.Around, want.Around) {
					t.Fatalf("%v: chunk %d has %+v, not %+v", words, chunk, has, want)
				}
				if is := tally.Found[at/64]&(1<<(at%64)) != 0; is != (want.Words > 0) {
					t.Fatalf("%v: chunk %d is found: %v, and has %+v", words, chunk, is, want)
				} else if is {
					found++
				}
			}
		}
		for file, want := range files {
			if has := tally.Files[file]; has.Groups != want.Groups || !near(has.Score, want.Score) || has.count != 0 {
				t.Fatalf("%v: file %d has %+v, not %+v", words, file, has, want)
			}
		}
		if windows < 3 || n < 3 && found < 300 {
			t.Errorf("%v: %d chunks in %d windows", words, found, windows)
		}
	}
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-4*(1+math.Abs(float64(b))) }

// oneByOne is what [Tally] counts, without windows.
func oneByOne(ix *index.Index, s Settings, all []Group) ([]Match, []File) {
	chunks, files := make([]Match, len(ix.Chunks)), make([]File, len(ix.Files))
	for _, g := range all {
		counts, inFiles, weight := make([]float32, len(chunks)), make([]float32, len(files)), g.Weight*(s.K1+1)
		for _, term := range g.Terms {
			for p := term.Postings; p.Next(); {
				file := ix.Chunks[p.Chunk].File
				if s.Permitted != nil && !s.Permitted[file] {
					continue
				}
				counts[p.Chunk] += term.Part * s.Frequencies[p.Payload]
				if term.Covers {
					chunks[p.Chunk].Groups |= g.Bit
					files[file].Groups |= g.Bit
				}
			}
		}
		for i, count := range counts {
			if c := ix.Chunks[i]; count > 0 {
				chunks[i].Words += weight * count / (count + s.K1*(1-B+B*float32(c.Words)/ix.Average))
				inFiles[c.File] += count
			}
		}
		for file, count := range inFiles {
			files[file].Score += weight * count / (count + fileK1*(1-fileB+fileB*ix.FileLengths[file]))
		}
	}
	for i := range chunks {
		for distance, part := range map[int]float32{-2: NextButOne, -1: 1, 1: 1, 2: NextButOne} {
			if at := i + distance; at >= 0 && at < len(chunks) && ix.Chunks[at].File == ix.Chunks[i].File {
				chunks[i].Around += part * chunks[at].Words
			}
		}
	}
	return chunks, files
}
