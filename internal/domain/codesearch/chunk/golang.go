package chunk

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// goCuts cuts Go source at its declarations. ok is false for a file that does
// not parse.
func goCuts(src []byte) (cuts []cut, ok bool) {
	if cuts, ok = parsed(withoutBodies(src)); !ok {
		cuts, ok = parsed(src)
	}
	return cuts, ok
}

// withoutBodies is a source with the same lines, where the bodies of functions and types and
// the elements of variables are left out: to parse them takes most of the time, and only the
// names and lines of declarations count. A body ends at the first line that is a closing brace alone, as gofmt has it. Where that line is in a raw
// string, the rest does not parse: no file of the standard library that parses has other
// cuts.
func withoutBodies(src []byte) []byte {
	declarations := make([]byte, 0, len(src)/2)
	for len(src) > 0 {
		end := bytes.IndexByte(src, '\n')
		if end < 0 {
			break
		}
		if src[max(0, end-1)] == '{' && declares(src[:end]) {
			if n := bytes.Index(src[end:], []byte("\n}\n")); n >= 0 && !hasDeclaration(src[end:end+n]) {
				declarations = append(declarations, src[:end]...)
				for range bytes.Count(src[end:end+n+1], []byte("\n")) {
					declarations = append(declarations, '\n')
				}
				src = src[end+n+1:]
				continue
			}
		}
		declarations, src = append(declarations, src[:end+1]...), src[end+1:]
	}
	return append(declarations, src...)
}

// declaring are the words that declarations begin with, and a space.
var declaring = [][]byte{[]byte("func "), []byte("type "), []byte("var "), []byte("const ")}

// declares reports whether a line begins as a declaration does.
func declares(line []byte) bool {
	return slices.ContainsFunc(declaring, func(word []byte) bool { return bytes.HasPrefix(line, word) })
}

// hasDeclaration reports whether a line of a body, whose first one is empty, begins as a
// declaration does: the body ended before.
func hasDeclaration(body []byte) bool {
	for {
		n := bytes.IndexByte(body, '\n')
		if n < 0 {
			return false
		}
		if body = body[n+1:]; declares(body) {
			return true
		}
	}
}

// parsed are the cuts of a source that parses.
func parsed(src []byte) (cuts []cut, ok bool) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	g := goFile{file: set.File(file.Pos()), cuts: []cut{{}}}
	if file.Doc != nil {
		g.cuts[0].doc = g.line(file.Package) - 1
	}
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			g.add(d.Pos(), d.Doc, Definition{Name: d.Name.Name, Of: receiverOf(d)})
		case *ast.GenDecl:
			g.general(d)
		}
	}
	return g.cuts, true
}

type goFile struct {
	file *token.File
	cuts []cut
}

// line is that of the file itself, whatever its line directives say.
func (g *goFile) line(p token.Pos) int { return g.file.PositionFor(p, false).Line }

// add cuts before a declaration and its comment.
func (g *goFile) add(at token.Pos, doc *ast.CommentGroup, definitions ...Definition) {
	c := cut{line: g.line(at) - 1, definitions: definitions}
	if doc != nil {
		first := g.line(doc.Pos()) - 1
		c.doc, c.line = c.line-first, first
	}
	for i := range c.definitions {
		if c.definitions[i].Line == 0 {
			c.definitions[i].Line = g.line(at)
		}
	}
	g.cuts = append(g.cuts, c)
}

// general cuts before a group of types, constants or variables, and before each
// type of a group.
func (g *goFile) general(d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	var definitions []Definition
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			definition := Definition{Name: s.Name.Name, Line: g.line(s.Pos()), Type: true}
			if d.Lparen.IsValid() && g.line(s.End())-g.line(s.Pos()) > minLines {
				g.add(s.Pos(), s.Doc, definition)
				continue
			}
			definitions = append(definitions, definition)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.Name != "_" {
					definitions = append(definitions, Definition{Name: name.Name, Line: g.line(name.Pos())})
				}
			}
		}
	}
	if len(definitions) > 0 || len(d.Specs) == 0 {
		g.insert(d, definitions)
	}
}

// insert adds a group before the cuts of its own types.
func (g *goFile) insert(d *ast.GenDecl, definitions []Definition) {
	at := len(g.cuts)
	for at > 0 && g.cuts[at-1].line >= g.line(d.Pos())-1 {
		at--
	}
	own := append([]cut(nil), g.cuts[at:]...)
	g.cuts = g.cuts[:at]
	g.add(d.Pos(), d.Doc, definitions...)
	g.cuts = append(g.cuts, own...)
}

// receiverOf is the name of a method's type.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	at := f.Recv.List[0].Type
	for {
		switch t := at.(type) {
		case *ast.StarExpr:
			at = t.X
		case *ast.IndexExpr:
			at = t.X
		case *ast.IndexListExpr:
			at = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
