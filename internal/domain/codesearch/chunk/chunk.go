package chunk

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// The sizes of chunks, in lines.
const (
	maxLines   = 90 // a longer one is divided at blank lines
	pieceLines = 60 // into pieces of about this
	joinLines  = 25 // of at most this
)

// Chunk is a piece of a file: a declaration with its comment, a part of a long
// one, or several short ones. The chunks of a file are in order, and every line
// that is not blank is in one of them.
type Chunk struct {
	Start, End  int // bytes, half open
	Line, Last  int // from 1, both inclusive
	Doc         int // bytes at the start that are the comment of the declaration
	Definitions []Definition
}

// Of divides a file. language is a name as go-enry has it, such as "Go" or "C++".
func Of(language string, src []byte) []Chunk {
	memory := memories.Get().(*memory) // nothing else is in the pool
	defer memories.Put(memory)
	memory.lines = appendStarts(memory.lines[:0], src)
	lines := memory.lines
	var cuts []cut
	switch s, known := syntaxes[language]; {
	case language == "Go":
		var ok bool
		if cuts, ok = memory.goCuts(src); !ok {
			cuts = scan(goSyntax, src, lines)
		}
	case known:
		cuts = scan(s, src, lines)
	default:
		cuts = blocks(src, lines)
	}
	return assemble(src, lines, cuts)
}

// memory is used for one file after the other: most of what is made of each is not kept.
type memory struct {
	lines        []int
	declarations []byte
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// appendStarts appends the offset of each line, and the end of the file.
func appendStarts(starts []int, src []byte) []int {
	starts = append(starts, 0)
	for i := 0; i < len(src); {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		starts = append(starts, i)
	}
	if starts[len(starts)-1] != len(src) {
		starts = append(starts, len(src))
	}
	return starts
}

// assemble makes chunks that begin at the cuts: short neighbours are joined, long
// ones divided, and blank lines around them left out.
func assemble(src []byte, lines []int, cuts []cut) []Chunk {
	n := len(lines) - 1
	if n <= 0 {
		return nil
	}
	if len(cuts) == 0 || cuts[0].line > 0 {
		cuts = slices.Insert(cuts, 0, cut{})
	}
	cuts = joined(cuts, n)
	var chunks []Chunk
	for i, c := range cuts {
		end := n
		if i+1 < len(cuts) {
			end = cuts[i+1].line
		}
		chunks = appendPieces(chunks, src, lines, c, end)
	}
	return chunks
}

// joined joins short neighbours of one level.
func joined(cuts []cut, n int) []cut {
	out := cuts[:0:0]
	for i, c := range cuts {
		end := n
		if i+1 < len(cuts) {
			end = cuts[i+1].line
		}
		if k := len(out) - 1; k >= 0 {
			before := &out[k]
			short := c.line-before.line < minLines || end-c.line < minLines && before.level == c.level
			if short && before.level <= c.level && end-before.line <= joinLines {
				before.definitions = append(before.definitions, c.definitions...)
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// appendPieces adds the chunk from a cut to a line, or its pieces.
func appendPieces(chunks []Chunk, src []byte, lines []int, c cut, end int) []Chunk {
	start, doc, left := c.line, c.doc, c.definitions
	slices.SortStableFunc(left, func(a, b Definition) int { return cmp.Compare(a.Line, b.Line) })
	for start < end {
		stop := end
		if end-start > maxLines {
			stop = breakAt(src, lines, start+pieceLines, min(start+maxLines, end))
		}
		piece := trimmed(src, lines, start, stop)
		if piece.Last >= piece.Line {
			if at := start + doc; doc > 0 && at <= stop {
				piece.Doc = max(0, lines[at]-piece.Start)
			}
			for len(left) > 0 && left[0].Line <= stop {
				piece.Definitions, left = append(piece.Definitions, left[0]), left[1:]
			}
			chunks = append(chunks, piece)
		}
		start, doc = stop, 0
	}
	return chunks
}

// breakAt finds a blank line to end a piece at.
func breakAt(src []byte, lines []int, from, to int) int {
	for i := from; i < to; i++ {
		if blank(src, lines, i) {
			return i
		}
	}
	return to
}

func blank(src []byte, lines []int, i int) bool {
	return len(bytes.TrimSpace(src[lines[i]:lines[i+1]])) == 0
}

// trimmed is the chunk of some lines without blank ones at its ends.
func trimmed(src []byte, lines []int, start, end int) Chunk {
	for start < end && blank(src, lines, start) {
		start++
	}
	for end > start && blank(src, lines, end-1) {
		end--
	}
	return Chunk{Start: lines[start], End: lines[end], Line: start + 1, Last: end}
}

// blocks cuts at blank lines, for files without a known structure.
func blocks(src []byte, lines []int) (cuts []cut) {
	last := 0
	for i := 1; i < len(lines)-1; i++ {
		if i-last >= 12 && blank(src, lines, i-1) && !blank(src, lines, i) {
			cuts, last = append(cuts, cut{line: i, level: i}), i // levels differ: blocks are not joined
		}
	}
	return cuts
}
