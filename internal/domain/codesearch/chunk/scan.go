package chunk

import (
	"bytes"
)

// scan finds definitions line by line, and cuts before each and its comment. A string over
// lines that does not end is one that was not understood: then none is taken for one.
func scan(s *syntax, src []byte, lines []int) []cut {
	z := newScanner(s, src)
	cuts := z.cuts(src, lines)
	if z.unended() {
		z = scanner{syntax: s, single: true}
		cuts = z.cuts(src, lines)
	}
	return cuts
}

// cuts reads a file.
func (z *scanner) cuts(src []byte, lines []int) []cut {
	c := cutter{scanner: z, src: src, lines: lines, lead: none, bare: none, typedef: none}
	for i := range len(lines) - 1 {
		text := bytes.TrimRight(src[lines[i]:lines[i+1]], "\r\n")
		if i == 0 {
			text = bytes.TrimPrefix(text, byteOrder)
		}
		inside, level := z.inside(), z.level
		body := head(text)
		if z.indented > 0 {
			level = indent(text, z.indented)
		}
		z.consume(text)
		switch {
		case inside:
		case len(body) == 0:
			c.lead = none
		case z.comment(body):
			c.leads(i)
		default:
			c.line(body, i, level)
		}
	}
	return belonging(c.cuts)
}

// byteOrder is the mark that a file may begin with.
var byteOrder = []byte("\ufeff")

// maxHead is how many bytes of a line are read for what it declares: longer ones are data.
const maxHead = 4 << 10

// head is what a line declares something by.
func head(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t")
	return text[:min(len(text), maxHead)]
}

// cutter makes the cuts of a file from its lines of code.
type cutter struct {
	*scanner
	src     []byte
	lines   []int // where each begins
	cuts    []cut
	lead    int         // the first line of comments and attributes before a definition
	bare    int         // the last line that is a type alone
	typedef int         // the cut of a typedef whose name is at its end
	types   []enclosing // around the present line
}

// enclosing is a type around a line.
type enclosing struct {
	level  int
	opened bool // its brace was seen
	parens int  // that are open before it: what is in them are its parameters
}

// leads makes a line the first one before a definition, unless there is one.
func (c *cutter) leads(i int) {
	if c.lead == none {
		c.lead = i
	}
}

// line takes a line of code.
func (c *cutter) line(body []byte, i, level int) {
	level = c.leave(body, level)
	if c.aliases && body[0] == '#' {
		body = append([]byte("#"), bytes.TrimLeft(body[1:], " \t")...)
	}
	d, found := c.definition(body, level, c.member(level))
	if found && c.aliases && !d.Type && c.declares(i) {
		found = false
	}
	if !found && c.bare == i-1 && c.bare != none { // its type is on the line before
		d, found = c.function(append([]byte("t "), body...), level, false)
	}
	begins := !found && c.aliases && bytes.HasPrefix(body, []byte("typedef "))
	switch {
	case (found || begins) && level <= maxLevel:
		c.cut(d, found, i, level)
		if bytes.HasPrefix(body, []byte("typedef ")) && c.level > level {
			c.typedef = len(c.cuts) - 1
		}
		c.enter(d, body, level)
	case found && len(c.cuts) > 0:
		d.Line = i + 1
		last := &c.cuts[len(c.cuts)-1]
		last.definitions = append(last.definitions, d)
		c.lead = none
	case attribute(body), c.aliases && isTemplate(body):
		c.leads(i)
	case c.aliases && level == 0 && typeAlone(body):
		c.leads(i)
		c.bare = i
	default:
		c.lead = none
	}
	c.close(body, level)
}

// declares reports whether the parameters that begin in a line, and end in a later one, are
// those of a declaration: a semicolon follows.
func (c *cutter) declares(i int) bool {
	depth := 0
	for n := i; n < min(len(c.lines)-1, i+maxParameters); n++ {
		text := bytes.TrimRight(c.src[c.lines[n]:c.lines[n+1]], " \t\r\n")
		depth += parens(text)
		if depth <= 0 {
			return n > i && bytes.HasSuffix(text, []byte(";")) && bytes.IndexByte(text, '{') < 0
		}
	}
	return false
}

// maxParameters is how many lines the parameters of a function may take.
const maxParameters = 20

// cut begins a chunk at a definition, or at its comment.
func (c *cutter) cut(d Definition, found bool, i, level int) {
	at := cut{line: i, level: level}
	if found {
		d.Line = i + 1
		at.definitions = append([]Definition{d}, c.further(d, i)...)
	}
	if c.lead != none {
		at.line, at.doc = c.lead, i-c.lead
	}
	c.cuts, c.lead = append(c.cuts, at), none
}

// further are the other names that Ruby's attr_reader :one, :two has in the line of the first.
func (c *cutter) further(d Definition, i int) (all []Definition) {
	if !c.constants {
		return nil
	}
	_, names, _ := bytes.Cut(head(c.src[c.lines[i]:c.lines[i+1]]), []byte(":"+d.Name))
	for symbol := range bytes.SplitSeq(names, []byte(",")) {
		if name, found := bytes.CutPrefix(bytes.TrimSpace(symbol), []byte(":")); found && len(name) > 0 {
			if name, _ := lastPart(name); name != "" {
				all = append(all, Definition{Name: name, Line: d.Line})
			}
		}
	}
	return all
}

// close gives a typedef over lines the name at its end.
func (c *cutter) close(body []byte, level int) {
	if c.typedef == none || c.level > c.cuts[c.typedef].level || level <= c.level {
		return
	}
	at := &c.cuts[c.typedef]
	if name := closing(c.withoutComment(body)); name != "" {
		at.definitions = append(at.definitions, Definition{Name: name, Line: at.line + at.doc + 1, Type: true})
	}
	c.typedef = none
}

// member reports whether a line is directly within a type.
func (c *cutter) member(level int) bool {
	n := len(c.types)
	return n > 0 && level == c.types[n-1].level+1
}

// enter notes a type that begins in a line, unless it ends there, too.
func (c *cutter) enter(d Definition, body []byte, level int) {
	opened := c.level > level
	if d.Type && (opened || !bytes.ContainsAny(body[len(body)-1:], ";}")) {
		c.types = append(c.types, enclosing{level, opened, parens(body)})
	}
}

// leave forgets types that ended before a line, and returns the level of the line: that of
// a type's parameters is one more. The brace of a type may be some lines below its name.
func (c *cutter) leave(body []byte, level int) int {
	for n := len(c.types) - 1; n >= 0; n-- {
		t := &c.types[n]
		switch {
		case level > t.level:
			t.opened = true
			return level
		case t.opened || level < t.level:
		case t.parens > 0:
			if t.parens += parens(body); t.parens > 0 {
				return level + 1
			}
			return level
		case body[0] == '{' || c.level > level || bytes.ContainsAny(body[len(body)-1:], ",>"):
			return level
		}
		c.types = c.types[:n]
	}
	return level
}

// parens is how many parentheses a line opens and leaves open.
func parens(body []byte) int {
	return bytes.Count(body, []byte("(")) - bytes.Count(body, []byte(")"))
}

// attribute reports whether a line says something of the declaration after it.
func attribute(body []byte) bool {
	return body[0] == '@' || body[0] == '#' && len(body) > 1 && body[1] == '[' || body[0] == '[' && body[len(body)-1] == ']'
}

// typeAlone reports whether a line is words and stars: the type of a function whose
// name is on the next line.
func typeAlone(body []byte) bool {
	for _, b := range body {
		if !letter(b) && b != ' ' && b != '\t' && b != '*' {
			return false
		}
	}
	return letter(body[0])
}

// belonging adds to each definition the type around it.
func belonging(cuts []cut) []cut {
	type around struct {
		name  string
		level int
	}
	var open []around
	for i := range cuts {
		for len(open) > 0 && open[len(open)-1].level >= cuts[i].level {
			open = open[:len(open)-1]
		}
		for j := range cuts[i].definitions {
			d := &cuts[i].definitions[j]
			if len(open) > 0 && d.Of == "" {
				d.Of = open[len(open)-1].name
			}
			if d.Type && j == 0 {
				open = append(open, around{d.Name, cuts[i].level})
			}
		}
	}
	return cuts
}

// indent is the level of an indented line, of so many columns each.
func indent(text []byte, unit int) int {
	n := 0
	for _, c := range text {
		switch c {
		case ' ':
			n++
		case '\t':
			n += unit
		default:
			return (n + unit/2) / unit
		}
	}
	return 0
}
