package testkit_test

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOutcomeIsClosed: an outcome is made in four places, each of one kind, and no
// other package can make a fifth: the field that has the kind is result's own.
func TestOutcomeIsClosed(t *testing.T) {
	made := map[string]int{} // constructor: outcomes of a kind that it makes
	for name, file := range sources(t)["internal/result"] {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			where := name
			if function, ok := decl.(*ast.FuncDecl); ok {
				where = function.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					checkOutcome(t, n)
				case *ast.CompositeLit:
					if of, ok := n.Type.(*ast.Ident); ok && of.Name == "Outcome" && len(n.Elts) > 0 {
						made[where]++
					}
				case *ast.AssignStmt:
					for _, left := range n.Lhs {
						if field, ok := left.(*ast.SelectorExpr); ok && field.Sel.Name == "is" {
							made[where]++
						}
					}
				}
				return true
			})
		}
	}
	want := map[string]int{"Success": 1, "Waiting": 1, "Cancelled": 1, "Failed": 1}
	if !maps.Equal(made, want) {
		t.Errorf("outcomes are made by %v, want %v: data, pending, denied, fault", made, want)
	}
}

// checkOutcome: Outcome is a struct, and has no field that others can set.
func checkOutcome(t *testing.T, spec *ast.TypeSpec) {
	t.Helper()
	if spec.Name.Name != "Outcome" {
		return
	}
	made, ok := spec.Type.(*ast.StructType)
	if !ok {
		t.Error("result.Outcome is no struct: another package may implement it")
		return
	}
	for _, field := range made.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() || len(field.Names) == 0 {
				t.Errorf("result.Outcome.%s can be set by every package", name)
			}
		}
	}
}

// codecs are the functions that encode an outcome themselves, one of each dialect.
// The envelope's is package result.
var codecs = map[string]bool{"internal/domain/tasks/dialect/dialect.go Encode": true}

// TestOneCodecPerDialect: what else encodes an outcome hands it to a codec.
func TestOneCodecPerDialect(t *testing.T) {
	found := map[string]bool{}
	for room, files := range sources(t) {
		if room == "internal/result" || strings.HasPrefix(room, "internal/testkit") {
			continue
		}
		for name, file := range files {
			for _, decl := range file.Decls {
				function, ok := decl.(*ast.FuncDecl)
				if ok && !strings.HasSuffix(name, "_test.go") && encodes(function) && !delegates(function) {
					found[room+"/"+name+" "+function.Name.Name] = true
				}
			}
		}
	}
	if !maps.Equal(found, codecs) {
		t.Errorf("outcomes are encoded by %v, want %v alone", found, codecs)
	}
}

// encodes reports whether a function makes bytes of an outcome.
func encodes(function *ast.FuncDecl) bool {
	takes, gives := false, false
	for _, param := range function.Type.Params.List {
		of, ok := param.Type.(*ast.SelectorExpr)
		takes = takes || ok && of.Sel.Name == "Outcome"
	}
	if function.Type.Results != nil {
		for _, result := range function.Type.Results.List {
			of, ok := result.Type.(*ast.SelectorExpr)
			gives = gives || ok && of.Sel.Name == "RawMessage" || isBytes(result.Type)
		}
	}
	return takes && gives
}

func isBytes(of ast.Expr) bool {
	list, ok := of.(*ast.ArrayType)
	if !ok {
		return false
	}
	element, ok := list.Elt.(*ast.Ident)
	return ok && element.Name == "byte"
}

// delegates reports whether a function does nothing but call a codec.
func delegates(function *ast.FuncDecl) bool {
	if function.Body == nil || len(function.Body.List) != 1 {
		return false
	}
	end, ok := function.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(end.Results) != 1 {
		return false
	}
	call, ok := end.Results[0].(*ast.CallExpr)
	return ok && strings.HasPrefix(called(call.Fun), "Encode")
}

// TestConversationKnowsNoSurface: server-sent events and WebSockets read what a
// conversation yields. It names statuses of HTTP for its errors, and nothing else of
// a connection.
func TestConversationKnowsNoSurface(t *testing.T) {
	surface := regexp.MustCompile(`(?i)websocket|event-stream|\bsse\b`)
	rooms := 0
	for room, files := range sources(t) {
		if room != "internal/conversation" && !strings.HasPrefix(room, "internal/conversation/") {
			continue
		}
		rooms++
		for name, file := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, spec := range file.Imports {
				if path, _ := strconv.Unquote(spec.Path.Value); path == "net" || strings.HasPrefix(path, "net/") && path != "net/http" {
					t.Errorf("%s/%s imports %s", room, name, path)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if of, ok := n.X.(*ast.Ident); ok && of.Name == "http" && !strings.HasPrefix(n.Sel.Name, "Status") {
						t.Errorf("%s/%s uses http.%s", room, name, n.Sel.Name)
					}
				case *ast.Ident:
					if surface.MatchString(n.Name) {
						t.Errorf("%s/%s names %s", room, name, n.Name)
					}
				case *ast.BasicLit:
					if n.Kind == token.STRING && surface.MatchString(n.Value) {
						t.Errorf("%s/%s has the text %s", room, name, n.Value)
					}
				}
				return true
			})
		}
	}
	if rooms < 3 {
		t.Errorf("%d rooms of conversations were read, want 3", rooms)
	}
}

// planned matches what tells SQLite how to find rows, instead of which rows: an
// index by name, the order of a join, how many rows a condition has, a + before a column.
var planned = regexp.MustCompile(`(?i)\bindexed by\b|\bnot indexed\b|\bcross join\b|\blikel(?:y|ihood)\(|\bunlikely\(|(?:where|and|by)\s+\+[a-z_]`)

// TestEmbeddedStoresUseNoPlannerTricks: a list of an embedded store is one statement,
// and how it is carried out is left to the engine.
func TestEmbeddedStoresUseNoPlannerTricks(t *testing.T) {
	rooms := sources(t)
	for _, room := range []string{"internal/sqlite", "internal/domain/sales/sqlite", "internal/domain/support/sqlite"} {
		texts := 0
		for name, file := range rooms[room] {
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					texts++
					if found := planned.FindString(text.Value); found != "" {
						t.Errorf("%s/%s plans a query: %q", room, name, found)
					}
				}
				return true
			})
		}
		if texts == 0 {
			t.Errorf("%s has no statement", room)
		}
	}
}
