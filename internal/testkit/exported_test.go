package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportedIsDocumented: every exported type, function, method, variable and
// constant has a comment of its own or of its group.
func TestExportedIsDocumented(t *testing.T) {
	set := token.NewFileSet()
	for _, p := range packages(t) {
		if !strings.Contains(p.ImportPath, "/internal/") {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if what := undocumented(d); what != "" {
					t.Errorf("%s: %s has no comment", set.Position(d.Pos()), what)
				}
			}
		}
	}
}

// undocumented names what a declaration exports without a comment.
func undocumented(declared ast.Decl) string {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return d.Name.Name
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					return s.Name.Name
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					return s.Names[0].Name
				}
			}
		}
	}
	return ""
}
