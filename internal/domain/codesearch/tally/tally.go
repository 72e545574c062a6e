// Package tally counts the words of a query in an index and adds up what they are worth, by BM25, of chunks and of
// files. It goes through the index in windows of some files: what is counted of them fits into the memory that is nearest to a
// processor, where a word is in chunks all over an index, and to wait for the memory of each would take most of a search.
// It knows neither how a query is understood nor how what is found is ranked.
package tally

import (
	"math/bits"

	"countersign.dev/internal/domain/codesearch/index"
)

// Window is how many chunks are counted at a time, unless one file has more.
const Window = 2048

// The parameters of BM25 for chunks. An engine that finds candidates has them, too.
const (
	K1 = 1.2
	B  = 0.3
)

const (
	fileK1 = 3.5 // of whole files
	fileB  = 0.6
)

// NextButOne is what the score of a chunk counts beside the one that is one further, in parts of what it counts beside the next.
const NextButOne = 0.5

// Frequency is how often a term with a payload counts.
func Frequency(p index.Payload) float32 {
	tf := float32(p.Count())
	if p&index.InName != 0 {
		tf += 4
	}
	if p&index.InDoc != 0 {
		tf += 1.2
	}
	if p&index.InOwner != 0 {
		tf += 2
	}
	return tf
}

// Tally counts in one window of files after the other, and in each window one group of terms after the other. What was
// counted of chunks is by their numbers in the window. It may be started again, and uses its memory again then.
type Tally struct {
	Settings
	Files      []File // of the whole index
	First, End int    // the chunks of the window
	Scores     []float32
	Groups     []uint32 // that each chunk has, as bits
	Found      []uint64 // as bits: the chunks that have a term

	ix      *index.Index
	counts  []float32 // how often each chunk has the group that is counted
	seen    []uint64  // as bits: those that have it
	several [256]index.Posting
}

// Settings are of one search.
type Settings struct {
	K1          float32
	Frequencies [256]float32 // how often a term counts, by its payload
	Permitted   []bool       // by file: those that are counted; nil: all
}

// File is what was counted of a file.
type File struct {
	Score  float32
	Groups uint32 // those that its chunks have

	count float32 // of the group that is counted; zero between two groups
}

// Group is the terms that are counted together, so that a chunk with several forms of one word is not taken for one
// with several words.
type Group struct {
	Weight float32
	Bit    uint32
	Terms  []Term
}

// Term is a term of a group while it is counted.
type Term struct {
	Postings index.Postings // those that are not counted yet
	Part     float32        // what one counts in its group
	Covers   bool           // a chunk that has it has the group
}

// Match is what a chunk has of a query.
type Match struct {
	Words, Around float32 // its score, and those of what is beside it
	Groups        uint32
}

// Start begins before the first window.
func (t *Tally) Start(ix *index.Index, s Settings) {
	t.ix, t.Settings, t.First, t.End = ix, s, 0, 0
	t.Files = Cleared(t.Files, len(ix.Files))
}

// Forget lets go of the index and the settings. The memory stays for another start.
func (t *Tally) Forget() { t.ix, t.Settings = nil, Settings{} }

// Cleared returns n zero values in the memory of a slice, if that is enough.
func Cleared[T any](of []T, n int) []T {
	if cap(of) < n {
		return make([]T, n)
	}
	of = of[:n]
	clear(of)
	return of
}

// Next goes to the files after those of the last window, and reports whether there are any.
func (t *Tally) Next() bool {
	if t.End == len(t.ix.Chunks) {
		return false
	}
	t.First, t.End = t.End, len(t.ix.Chunks)
	if next := t.First + Window; next < t.End {
		first, n := t.ix.Files[t.ix.InFile[next]].Chunks()
		if t.End = first; first == t.First {
			t.End = first + n
		}
	}
	n := t.End - t.First
	t.counts, t.Scores, t.Groups = Cleared(t.counts, n), Cleared(t.Scores, n), Cleared(t.Groups, n)
	t.seen, t.Found = Cleared(t.seen, n/64+1), Cleared(t.Found, n/64+1)
	return true
}

// Count counts a group in the window.
func (t *Tally) Count(g *Group) {
	for i := range g.Terms {
		t.term(&g.Terms[i], g.Bit)
	}
	t.add(g.Weight*(t.K1+1), g.Bit)
}

// term adds the occurrences of a term to those of its group.
func (t *Tally) term(term *Term, bit uint32) {
	if !term.Covers {
		bit = 0
	}
	first, part, counts, seen := t.First, term.Part, t.counts, t.seen
	groups := t.Groups[:len(counts)]
	for n := len(t.several); n == len(t.several); {
		n = term.Postings.Before(t.End, t.several[:])
		for _, p := range t.several[:n] {
			at := int(p.Chunk) - first
			if uint(at) >= uint(len(counts)) || t.Permitted != nil && !t.Permitted[t.ix.InFile[p.Chunk]] {
				continue
			}
			counts[at] += part * t.Frequencies[p.Payload]
			groups[at] |= bit
			seen[at/64] |= 1 << (at % 64)
		}
	}
}

// add adds what the occurrences of a group are worth, and forgets them.
func (t *Tally) add(weight float32, bit uint32) {
	long, short := t.K1*B/t.ix.Average, t.K1*(1-B)
	counts := t.counts
	scores, groups, lengths, inFile := t.Scores[:len(counts)], t.Groups[:len(counts)], t.ix.Lengths[t.First:][:len(counts)], t.ix.InFile[t.First:][:len(counts)]
	for n, set := range t.seen {
		t.Found[n] |= set
		t.seen[n] = 0
		for ; set != 0; set &= set - 1 {
			at := n*64 + bits.TrailingZeros64(set)
			if at >= len(counts) {
				break // is never so, and saves the checks below
			}
			count := counts[at]
			counts[at] = 0
			scores[at] += weight * count / (count + short + long*float32(lengths[at]))
			in := &t.Files[inFile[at]]
			in.count += count
			in.Groups |= groups[at] & bit
		}
	}
	from := inFile[0]
	files, fileLengths := t.Files[from:inFile[len(inFile)-1]+1], t.ix.FileLengths[from:]
	for i := range files {
		if count := files[i].count; count > 0 {
			files[i].Score += weight * count / (count + fileK1*(1-fileB) + fileK1*fileB*fileLengths[i])
			files[i].count = 0
		}
	}
}

// Match returns what a chunk of the window has.
func (t *Tally) Match(at int) Match {
	m := Match{Words: t.Scores[at], Groups: t.Groups[at]}
	inFile := t.ix.InFile[t.First:t.End]
	for beside := max(0, at-2); beside < min(len(inFile), at+3); beside++ {
		switch distance := beside - at; {
		case distance == 0 || inFile[beside] != inFile[at]:
		case distance == -1 || distance == 1:
			m.Around += t.Scores[beside]
		default:
			m.Around += NextButOne * t.Scores[beside]
		}
	}
	return m
}
