package web_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var imported = regexp.MustCompile(`(?m)^(?:import|export) [^;]*?from "([^"]+)";`)

// TestModulesImportInNoCircle: what a module is built on can be read before it, and loads
// before it.
func TestModulesImportInNoCircle(t *testing.T) {
	imports := map[string][]string{}
	for _, pattern := range []string{"*.js", "views/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, one := range imported.FindAllStringSubmatch(read(t, file), -1) {
				imports[file] = append(imports[file], filepath.Join(filepath.Dir(file), one[1]))
			}
		}
	}
	if len(imports["store.js"]) < 5 {
		t.Fatalf("store.js imports %v", imports["store.js"])
	}
	done := map[string]bool{}
	var visit func(file string, path []string)
	visit = func(file string, path []string) {
		if at := slices.Index(path, file); at >= 0 {
			t.Errorf("a circle: %s", strings.Join(append(path[at:], file), " → "))
			return
		}
		if done[file] {
			return
		}
		for _, next := range imports[file] {
			visit(next, append(slices.Clone(path), file))
		}
		done[file] = true
	}
	for file := range imports {
		visit(file, nil)
	}
}
