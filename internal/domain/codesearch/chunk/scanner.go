package chunk

import (
	"bytes"
	"strings"
)

// scanner follows strings, comments and braces from line to line.
type scanner struct {
	*syntax
	single   bool // no string is over lines
	level    int
	within   literal   // that is open; without a close: none
	depth    int       // of nested ones
	holes    []hole    // in strings, around the present place
	awaited  literal   // that begins with the next line
	branches []branch  // of conditional compilation, around the line
	unclosed [128]bool // quotes that have no end in the line
	reset    bool      // any of them has none
}

// branch is where a conditional group of lines began.
type branch struct{ before, after int } // levels; after is none until its first part ends

// hole is code inside a string.
type hole struct {
	level  int // outside of its braces
	within literal
}

// maxHoles is how deep they are followed.
const maxHoles = 100

func newScanner(s *syntax, src []byte) scanner {
	z := scanner{syntax: s}
	if s.html && bytes.Contains(src, []byte("<?")) {
		z.within = html
	}
	return z
}

func (z *scanner) inside() bool { return z.within.close != "" }

// unended reports whether a string or a comment is open at the end of a file that is none.
func (z *scanner) unended() bool { return !z.single && z.inside() && !z.within.code }

// comment reports whether a line is a comment.
func (z *scanner) comment(body []byte) bool {
	for _, prefix := range z.comments {
		if bytes.HasPrefix(body, []byte(prefix)) && !bytes.HasPrefix(body, []byte("#[")) && !bytes.HasPrefix(body, []byte("#define")) {
			return true
		}
	}
	return z.opens(body)
}

// opens reports whether a text begins with a comment over lines.
func (z *scanner) opens(text []byte) bool {
	return z.open != "" && bytes.HasPrefix(text, []byte(z.open))
}

// consume reads a line: afterwards level and within are those of the next one.
func (z *scanner) consume(text []byte) {
	if z.reset {
		z.unclosed, z.reset = [128]bool{}, false
	}
	if len(text) > 0 && !z.inside() {
		z.directive(text)
	}
	for i := 0; i < len(text); {
		if z.inside() {
			if i = z.closing(text, i); i < 0 {
				return
			}
			continue
		}
		c := text[i]
		if !z.starts[c] {
			i++
			continue
		}
		next, done := z.special(text, i)
		if done {
			break
		}
		i = next
	}
	if z.awaited.close != "" && !z.inside() {
		z.within = z.awaited
	}
	z.awaited = literal{}
}

// directive reads what counts at the beginning of a line alone: conditional compilation, and
// the document of a file.
func (z *scanner) directive(text []byte) {
	if z.conditional {
		if text = bytes.TrimLeft(text, " \t"); len(text) > 0 && text[0] == '#' {
			z.condition(bytes.TrimLeft(text[1:], " \t"))
		}
		return
	}
	open := z.document.open
	if open != "" && !z.single && bytes.HasPrefix(text, []byte(open)) && (len(open) > 1 || len(text) > 1 && letter(text[1])) {
		z.within = z.document
	}
}

// condition sees to it that of several parts of which one is compiled the first counts.
func (z *scanner) condition(text []byte) {
	n := len(z.branches) - 1
	switch {
	case bytes.HasPrefix(text, []byte("if")):
		if n < maxBranches {
			z.branches = append(z.branches, branch{z.level, none})
		}
	case n < 0:
	case bytes.HasPrefix(text, []byte("el")):
		b := &z.branches[n]
		if b.after == none {
			b.after = z.level
		}
		z.level = b.before
	case bytes.HasPrefix(text, []byte("endif")):
		if after := z.branches[n].after; after != none {
			z.level = after
		}
		z.branches = z.branches[:n]
	}
}

// maxBranches is how deep conditional groups are followed.
const maxBranches = 100

// closing returns where what is open ends, or -1 when it does not end in the line.
func (z *scanner) closing(text []byte, i int) int {
	l := z.within
	if l.alone {
		line := bytes.TrimLeft(text, " \t")
		if !bytes.HasPrefix(line, []byte(l.close)) || len(line) > len(l.close) && letter(line[len(l.close)]) {
			return -1
		}
		z.within = literal{}
		return len(text) - len(line) + len(l.close)
	}
	for i < len(text) {
		switch rest := text[i:]; {
		case l.escapes && rest[0] == '\\':
			i++
		case rest[0] == l.close[0] && bytes.HasPrefix(rest, []byte(l.close)):
			i += len(l.close)
			if l.doubled && i < len(text) && text[i] == l.close[0] {
				break
			}
			if z.depth--; z.depth < 0 || !l.nested {
				z.within, z.depth = literal{}, 0
				return i
			}
			continue
		case l.holes && len(z.holes) < maxHoles && bytes.HasPrefix(rest, []byte("${")):
			z.holes = append(z.holes, hole{z.level, l})
			z.level++
			z.within = literal{}
			return i + len("${")
		case l.nested && rest[0] == l.open[0] && bytes.HasPrefix(rest, []byte(l.open)):
			z.depth++
			i += len(l.open) - 1
		case !l.escapes && !l.nested:
			n := bytes.Index(rest, []byte(l.close))
			if n < 0 {
				return -1
			}
			i += n
			continue
		}
		i++
	}
	return -1
}

// special reads a brace, a comment or a string that begins at i. done: the rest of the
// line is a comment.
func (z *scanner) special(text []byte, i int) (next int, done bool) {
	rest := text[i:]
	if z.opens(rest) {
		z.within, z.depth = literal{open: z.open, close: z.close, nested: z.nested}, 0
		return i + len(z.open), false
	}
	for _, prefix := range z.comments {
		if rest[0] == prefix[0] && bytes.HasPrefix(rest, []byte(prefix)) && (prefix != "#" || i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			return 0, true
		}
	}
	if n := z.begin(text, i); n > 0 {
		return i + n, false
	}
	switch c := rest[0]; {
	case c == '{':
		z.level++
	case c == '}':
		z.level = max(0, z.level-1)
		if n := len(z.holes) - 1; n >= 0 && z.level <= z.holes[n].level {
			z.within, z.holes = z.holes[n].within, z.holes[:n]
		}
	case c == '/' && z.regexes && regexMay(text[:i]):
		return i + z.once('/', rest, regex), false
	case c == '\'' && z.chars:
		return i + char(rest), false
	case strings.IndexByte(z.quotes, c) >= 0, z.single && strings.IndexByte("\"'`", c) >= 0:
		return i + z.once(c, rest, quoted), false
	}
	return i + 1, false
}

// begin begins a string over lines, and returns the length of what it opens with.
func (z *scanner) begin(text []byte, i int) int {
	if z.single {
		return 0
	}
	rest := text[i:]
	if z.html && bytes.HasPrefix(rest, []byte(html.open)) {
		z.within = html
		return len(html.open)
	}
	if z.heredoc != "" && rest[0] == '<' && bytes.HasPrefix(rest, []byte(z.heredoc)) {
		if name, n := z.awaits(rest[len(z.heredoc):]); n > 0 {
			z.awaited = literal{close: name, alone: true}
			return len(z.heredoc) + n
		}
		return len(z.heredoc)
	}
	if rest[0] == '"' && z.raw != 0 {
		if l, n := raw(z.raw, text, i); n > 0 {
			z.within = l
			return n
		}
	}
	for _, l := range z.long {
		if bytes.HasPrefix(rest, []byte(l.open)) {
			z.within = l
			return len(l.open)
		}
	}
	return 0
}

// once reads a literal that ends in its line, and returns its length, or 1. One that does not
// end has no end after a later quote either.
func (z *scanner) once(quote byte, rest []byte, length func([]byte) int) int {
	if z.unclosed[quote] {
		return 1
	}
	n := length(rest)
	if n == 1 {
		z.unclosed[quote], z.reset = true, true
	}
	return n
}
