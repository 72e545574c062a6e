package testkit_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestFilesRunOneWay compares what the files of a room name of each other: types,
// functions, constants and variables. Methods may be in any file of their room.
func TestFilesRunOneWay(t *testing.T) {
	for room, files := range sources(t) {
		if pairs := mutual(files); len(pairs) > 0 && !strings.HasPrefix(room, "internal/testkit") {
			t.Errorf("%s has %d pairs of files that name each other:\n%s", room, len(pairs), strings.Join(pairs, "\n"))
		}
	}
}

// mutual describes the pairs of files that name each other's declarations.
func mutual(files map[string]*ast.File) (pairs []string) {
	declaredIn, named := map[string]string{}, map[[2]string][]string{}
	for name, file := range files {
		if !strings.HasSuffix(name, "_test.go") {
			for declared := range topLevel(file) {
				declaredIn[declared] = name
			}
		}
	}
	for name, file := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, used := range outside(file) {
			if of := declaredIn[used]; of != "" && of != name {
				named[[2]string{name, of}] = append(named[[2]string{name, of}], used)
			}
		}
	}
	for arrow, there := range named {
		if back := named[[2]string{arrow[1], arrow[0]}]; back != nil && arrow[0] < arrow[1] {
			pairs = append(pairs, fmt.Sprintf("%s names %v of %s, which names %v of it", arrow[0], there, arrow[1], back))
		}
	}
	slices.Sort(pairs)
	return pairs
}

// topLevel yields the names that a file declares, without methods.
func topLevel(file *ast.File) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range file.Scope.Objects {
			if !yield(name) {
				return
			}
		}
	}
}

// outside lists what a file names and does not declare, each once. Receivers and
// the names of fields in literals do not count.
func outside(file *ast.File) []string {
	skipped := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				skipped[key] = true
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				ast.Inspect(n.Recv, func(n ast.Node) bool {
					if name, ok := n.(*ast.Ident); ok {
						skipped[name] = true
					}
					return true
				})
			}
		}
		return true
	})
	names := map[string]bool{}
	for _, name := range file.Unresolved {
		if !skipped[name] {
			names[name.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
