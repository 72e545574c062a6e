package chunk

import (
	goscanner "go/scanner"
	"go/token"
	"slices"
	"strings"
)

// outline reads the declarations of Go source by its tokens. It passes over types, values and
// bodies: to parse them, as go/parser does, takes two thirds of the time, for trees that are not used.
type outline struct {
	scanner goscanner.Scanner
	file    *token.File
	cuts    []cut
	failed  bool // there is something else than a declaration

	pos    token.Pos
	tok    token.Token
	text   string
	before token.Pos // of the token before
	doc    token.Pos // of the comment that ends in the line before; not valid: none
}

// outlined are the cuts of a source that has declarations alone.
func outlined(src []byte) (cuts []cut, ok bool) {
	o := outline{file: token.NewFileSet().AddFile("", -1, len(src)), cuts: []cut{{}}}
	o.scanner.Init(o.file, src, nil, goscanner.ScanComments)
	o.next()
	if o.doc.IsValid() {
		o.cuts[0].doc = o.line(o.pos) - 1
	}
	o.expect(token.PACKAGE)
	o.expect(token.IDENT)
	o.end()
	for o.tok != token.EOF && !o.failed {
		switch o.tok {
		case token.IMPORT:
			o.rest()
		case token.FUNC:
			o.function()
		case token.TYPE, token.CONST, token.VAR:
			o.general()
		default:
			o.failed = true
		}
		o.end()
	}
	return o.cuts, !o.failed && o.scanner.ErrorCount == 0
}

// line is that of the file itself, whatever its line directives say.
func (o *outline) line(p token.Pos) int { return o.file.PositionFor(p, false).Line }

// next goes to the next token. What is the comment of a declaration is decided as in go/parser.
func (o *outline) next() {
	o.before, o.doc = o.pos, token.NoPos
	if o.scan(); o.tok != token.COMMENT {
		return
	}
	if o.line(o.pos) == o.line(o.before) {
		o.comments(0)
	}
	first, last := token.NoPos, 0
	for o.tok == token.COMMENT {
		first, last = o.comments(1)
	}
	if last+1 == o.line(o.pos) {
		o.doc = first
	}
}

func (o *outline) scan() { o.pos, o.tok, o.text = o.scanner.Scan() }

// comments passes over comments, each of which begins at most so many lines after the end of
// the one before, and returns where they begin and the line where they end.
func (o *outline) comments(lines int) (first token.Pos, last int) {
	first, last = o.pos, o.line(o.pos)
	for o.tok == token.COMMENT && o.line(o.pos) <= last+lines {
		last = o.line(o.pos) + strings.Count(o.text, "\n")
		o.scan()
	}
	return first, last
}

// expect passes over a token, and returns its text.
func (o *outline) expect(tok token.Token) (text string) {
	text = o.text
	if o.tok != tok {
		o.failed = true
		return ""
	}
	o.next()
	return text
}

// end passes over the end of a declaration.
func (o *outline) end() {
	if o.tok != token.EOF {
		o.expect(token.SEMICOLON)
	}
}

// rest passes over tokens to the end of a declaration, or to a bracket that is closed without
// being opened, and returns the last of them.
func (o *outline) rest() (last token.Pos) {
	for depth := 0; o.tok != token.EOF; o.scan() {
		switch o.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth == 0 {
				return last
			}
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				return last
			}
		case token.COMMENT:
			continue
		}
		last = o.pos
	}
	o.failed = true // the scanner ends each declaration with a semicolon
	return last
}

// function cuts before a function or a method.
func (o *outline) function() {
	at, doc, owner := o.pos, o.doc, ""
	if o.next(); o.tok == token.LPAREN {
		owner = o.receiver()
	}
	o.add(at, doc, Definition{Name: o.expect(token.IDENT), Of: owner, Line: o.line(at)})
	o.rest()
}

// receiver passes over the receiver of a method, and returns the name of its type.
func (o *outline) receiver() (name string) {
	for depth := 0; !o.failed; o.next() {
		switch o.tok {
		case token.IDENT:
			name = o.text
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				o.next()
				return name
			}
		case token.LBRACK:
			o.next()
			if o.rest(); o.tok != token.RBRACK {
				o.failed = true
			}
		case token.MUL, token.COMMA, token.PERIOD:
		default:
			o.failed = true
		}
	}
	return ""
}

// general cuts before a declaration of types, constants or variables, and before each
// long type of a group.
func (o *outline) general() {
	number, kind := len(o.cuts), o.tok
	o.add(o.pos, o.doc)
	o.next()
	var definitions []Definition
	if o.tok != token.LPAREN {
		definitions = o.names(kind)
		o.rest()
		o.keep(number, definitions, false)
		return
	}
	o.next()
	empty := o.tok == token.RPAREN
	for o.tok != token.RPAREN && !o.failed {
		at, doc := o.pos, o.doc
		names := o.names(kind)
		if last := o.rest(); kind == token.TYPE && o.line(last)-o.line(at) > minLines {
			o.add(at, doc, names...)
		} else {
			definitions = append(definitions, names...)
		}
		if o.tok != token.RPAREN {
			o.expect(token.SEMICOLON)
		}
	}
	o.next()
	o.keep(number, definitions, empty)
}

// names passes over the names that a line of a declaration begins with.
func (o *outline) names(kind token.Token) (all []Definition) {
	for {
		d := Definition{Line: o.line(o.pos), Type: kind == token.TYPE}
		if d.Name = o.expect(token.IDENT); d.Name != "_" || d.Type {
			all = append(all, d)
		}
		if o.tok != token.COMMA {
			return all
		}
		o.next()
	}
}

// keep keeps the cut of a declaration that defines something, or has nothing.
func (o *outline) keep(number int, definitions []Definition, empty bool) {
	if len(definitions) == 0 && !empty {
		o.cuts = slices.Delete(o.cuts, number, number+1)
		return
	}
	o.cuts[number].definitions = definitions
}

// add cuts before a declaration and its comment.
func (o *outline) add(at, doc token.Pos, definitions ...Definition) {
	c := cut{line: o.line(at) - 1, definitions: definitions}
	if doc.IsValid() {
		first := o.line(doc) - 1
		c.doc, c.line = c.line-first, first
	}
	o.cuts = append(o.cuts, c)
}
