package testkit_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// sleepers are the files of tests that sleep by the machine's clock, each with the reason.
var sleepers = map[string]string{
	"cmd/countersign/gateway_bench_test.go": "a benchmark waits for a process that has no other sign of being ready",
	"internal/app/load_test.go":             "clients of a benchmark that are slow on purpose",
}

// TestTestsDoNotSleep: a test waits for what it expects. One that needs time to pass runs
// in a bubble of synctest, whose clock goes on by itself.
func TestTestsDoNotSleep(t *testing.T) {
	slept := map[string]bool{}
	for room, files := range sources(t) {
		for name, file := range files {
			path := room + "/" + name
			if !strings.HasSuffix(name, "_test.go") || !sleeps(file) || bubbles(file) {
				continue
			}
			if slept[path] = true; sleepers[path] == "" {
				t.Errorf("%s sleeps: wait for what is expected, or use testing/synctest", path)
			}
		}
	}
	for path := range sleepers {
		if !slept[path] {
			t.Errorf("%s is excepted and does not sleep: take it off the list", path)
		}
	}
}

// sleeps reports whether a file calls time.Sleep.
func sleeps(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.SelectorExpr); ok && f.Sel.Name == "Sleep" {
			of, ok := f.X.(*ast.Ident)
			found = found || ok && of.Name == "time"
		}
		return true
	})
	return found
}

// bubbles reports whether a file has tests with a clock of their own.
func bubbles(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
}
