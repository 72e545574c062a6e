package chunk

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDeclarationsAreCutAsParsed without their bodies: where gofmt was not used, and where
// a body has a line that looks like its end, too.
func TestDeclarationsAreCutAsParsed(t *testing.T) {
	sources := []string{
		"package p\n\n// a does.\nfunc a() {\n\tb()\n}\n\nfunc b() {\n}\n\ntype T struct{}\n",
		"package p\n\nfunc a() {\n\tb(`\n}\n`)\n}\n\nfunc b() {}\n",
		"package p\n\nfunc a() {\n\tb(`func c() {\n}\n\nfunc d() {\n}\n`)\n}\n\nvar v = 1\n",
		"package p\n\nfunc a() {\n\tb()\n} // the end\n\nfunc b() {\n}\n",
		"package p\n\nfunc a() {\n\tb()\n  }\nfunc b() {\n}\nconst c = 1\n",
		"package p\n\nfunc a() {\r\n\tb()\r\n}\r\n\r\nfunc b() {\r\n}\r\n",
		"package p\n\nfunc a() {\nouter:\n\tfor {\n\t\tbreak outer\n\t}\n}\n\nfunc (t *T) b(\n\tx int,\n) {\n}",
		"package p\n\nvar table = []T{\n\t{1},\n}\n\n// T is.\ntype T struct {\n\ta int\n}\n\ntype I interface {\n\tm()\n}\n",
		"package p\n\nvar table = []T{{\n\ta: 1,\n}}\n\nvar t, u = T{\n}, T{\n}\n\nvar f = func() {\n\tvar v = 1\n}\n",
		"package p\n\nvar text = `{\n}\n` + `type T struct {\n}\n`\n\nvar other = `{\n`\n\ntype T struct {\n}\n",
		"package p\n\ntype (\n\tT struct {\n\t\ta int\n\t}\n)\n\nvar (\n\tt = T{\n\t}\n\tu = 1\n)\n",
		"// Package p is.\npackage p\n\n// Types.\ntype (\n\t// T is\n\t// long.\n\tT struct {\n\t\ta int\n\n\n\n\n\n\t}\n\tu struct{ a int } // short\n\t// v is not the comment of V.\n\n\tV[K any] struct {\n\n\n\n\n\n\n\t}\n)\n",
		"/* Package p\nis. */ package p; import \"a\"; type a int\nvar b, _, c = 1, 2, 3; func d() {}\n\nvar _ = 1\n\nvar ()\n\nconst (\n\te = iota // e\n\tf\n)",
		"package p\n\n/* a is. */ /* it\nis */\nfunc a[T any](x func(y int) struct{ z T }) (b map[string]T, err error)\n\nfunc (t *T[K, V]) m() {}\nfunc (/* none */ T) n() {}\nfunc (t ***T) o() {}\n",
		"package p\n\nfunc (\n\tt *T,\n) m() {}\n\nfunc (t *(T)) n() {}\n\nfunc ((T[K])) o() {}\n",
	}
	written := len(sources)
	for _, root := range []string{"..", filepath.Join(build.Default.GOROOT, "src", "go"), filepath.Join(build.Default.GOROOT, "src", "net")} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			src, err := os.ReadFile(path)
			sources = append(sources, string(src))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, src := range sources {
		want, parses := parsed([]byte(src))
		if got, ok := new(memory).goCuts([]byte(src)); (parses || i < written) && (!ok || !reflect.DeepEqual(got, want)) {
			t.Errorf("%t, %+v; parsed: %+v:\n%s", ok, got, want, src)
		}
	}
	for i, left := range map[int]string{0: "\tb()", 7: "\t{1},\ta int\tm()"} {
		if n := len(appendDeclarations(nil, []byte(sources[i]))); n != len(sources[i])-len(left) {
			t.Errorf("%d bytes are left of\n%s", n, sources[i])
		}
	}
}

// TestLineDirectivesMoveNothing: generated code names the lines that it comes from.
func TestLineDirectivesMoveNothing(t *testing.T) {
	chunks := Of("Go", []byte("package p\n\n//line parse.y:5000\nfunc parse() {\n}\n"))
	if len(chunks) == 0 || !slices.Equal(chunks[len(chunks)-1].Definitions, []Definition{{Name: "parse", Line: 4}}) {
		t.Errorf("%+v", chunks)
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
		case *ast.ParenExpr:
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
