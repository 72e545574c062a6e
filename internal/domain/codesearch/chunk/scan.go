package chunk

import (
	"bytes"
)

// maxLevel is how deep a definition may be nested to begin a chunk of its own.
const maxLevel = 3

// scan finds definitions line by line, and cuts before each and its comment.
func scan(s *syntax, src []byte, lines []int) []cut {
	z := scanner{syntax: s, src: src}
	var cuts []cut
	lead := -1 // the first line of comments and attributes before a definition
	for i := range len(lines) - 1 {
		text := bytes.TrimRight(src[lines[i]:lines[i+1]], "\r\n")
		inside, level := z.inside(), z.level
		body := bytes.TrimLeft(text, " \t")
		if s.indented > 0 {
			level = indent(text, s.indented)
		}
		z.consume(text)
		switch {
		case inside || len(body) == 0:
			if len(body) == 0 && !inside {
				lead = -1
			}
			continue
		case z.comment(body):
			if lead < 0 {
				lead = i
			}
			continue
		}
		d, found := s.definition(body, level)
		attribute := body[0] == '@' || body[0] == '#' && len(body) > 1 && body[1] == '[' || body[0] == '[' && body[len(body)-1] == ']'
		switch {
		case found && level <= maxLevel:
			d.Line = i + 1
			c := cut{line: i, level: level, definitions: []Definition{d}}
			if lead >= 0 {
				c.line, c.doc = lead, i-lead
			}
			cuts, lead = append(cuts, c), -1
		case found && len(cuts) > 0:
			d.Line = i + 1
			last := &cuts[len(cuts)-1]
			last.definitions = append(last.definitions, d)
			lead = -1
		case attribute:
			if lead < 0 {
				lead = i
			}
		default:
			lead = -1
		}
	}
	return belonging(cuts)
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

// scanner follows strings, comments and braces from line to line.
type scanner struct {
	*syntax
	src   []byte
	level int
	until string // what ends the comment or string that is open
}

func (z *scanner) inside() bool { return z.until != "" }

// comment reports whether a line is a comment.
func (z *scanner) comment(body []byte) bool {
	for _, prefix := range z.comments {
		if bytes.HasPrefix(body, []byte(prefix)) && !bytes.HasPrefix(body, []byte("#[")) && !bytes.HasPrefix(body, []byte("#define")) {
			return true
		}
	}
	return z.open != "" && bytes.HasPrefix(body, []byte(z.open))
}

// consume reads a line: afterwards level and until are those of the next one.
func (z *scanner) consume(text []byte) {
	for i := 0; i < len(text); {
		if z.until != "" {
			n := bytes.Index(text[i:], []byte(z.until))
			if n < 0 {
				return
			}
			i, z.until = i+n+len(z.until), ""
			continue
		}
		c := text[i]
		switch {
		case c == '{':
			z.level++
		case c == '}':
			z.level = max(0, z.level-1)
		case c > ' ' && c < '0' || c == '`' || c == '{' || c == '-':
			next, done := z.special(text, i)
			if done {
				return
			}
			i = next
			continue
		}
		i++
	}
}

// special reads a comment or a string that begins at i. done: the rest of the
// line is a comment.
func (z *scanner) special(text []byte, i int) (next int, done bool) {
	rest := text[i:]
	for _, prefix := range z.comments {
		if rest[0] == prefix[0] && bytes.HasPrefix(rest, []byte(prefix)) && (prefix != "#" || i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			return 0, true
		}
	}
	if z.open != "" && bytes.HasPrefix(rest, []byte(z.open)) {
		z.until = z.close
		return i + len(z.open), false
	}
	for _, delimiter := range z.long {
		if bytes.HasPrefix(rest, []byte(delimiter)) {
			z.until = delimiter
			return i + len(delimiter), false
		}
	}
	if bytes.IndexByte([]byte(z.quotes), rest[0]) >= 0 {
		return i + quoted(rest), false
	}
	return i + 1, false
}

// quoted is the length of a string of one line, or 1 when it does not end there.
func quoted(rest []byte) int {
	for j := 1; j < len(rest); j++ {
		switch rest[j] {
		case '\\':
			j++
		case rest[0]:
			return j + 1
		}
	}
	return 1
}
