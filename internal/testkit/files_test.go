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
// functions, constants and variables. Methods may be in any file of their room. No
// file may be above another and, by however many steps, below it too.
func TestFilesRunOneWay(t *testing.T) {
	for room, files := range sources(t) {
		if arrows := circular(files); len(arrows) > 0 && !strings.HasPrefix(room, "internal/testkit") {
			t.Errorf("%s has files that name each other in a circle:\n%s", room, strings.Join(arrows, "\n"))
		}
	}
}

// circular describes what files name of others that lead back to them.
func circular(files map[string]*ast.File) (arrows []string) {
	names := namedIn(files)
	for from, of := range names {
		for to, named := range of {
			if leads(names, to, from, map[string]bool{}) {
				arrows = append(arrows, fmt.Sprintf("%s names %v of %s", from, named, to))
			}
		}
	}
	slices.Sort(arrows)
	return arrows
}

// leads reports whether a file names something of another, directly or by others.
func leads(names map[string]map[string][]string, from, to string, seen map[string]bool) bool {
	seen[from] = true
	for next := range names[from] {
		if next == to || !seen[next] && leads(names, next, to, seen) {
			return true
		}
	}
	return false
}

// namedIn lists what each file names of each other one.
func namedIn(files map[string]*ast.File) map[string]map[string][]string {
	declaredIn, names := map[string]string{}, map[string]map[string][]string{}
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
		names[name] = map[string][]string{}
		for _, used := range outside(file) {
			if of := declaredIn[used]; of != "" && of != name {
				names[name][of] = append(names[name][of], used)
			}
		}
	}
	return names
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
