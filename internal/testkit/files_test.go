package testkit_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// circling are the rooms whose files call methods of one another in a circle. The
// list only becomes shorter.
var circling = []string{
	"internal/domain/tasks/store",
}

// TestFilesRunOneWay compares what the files of a room use of each other: types,
// functions, methods, constants and variables. No file may be above another and,
// by however many steps, below it too.
func TestFilesRunOneWay(t *testing.T) {
	all := compiled(t)
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	for path, p := range all {
		room, ours := strings.CutPrefix(path, module)
		if !ours || strings.HasPrefix(room, "internal/testkit") {
			continue
		}
		arrows := p.circular(t, set, from)
		switch known := slices.Contains(circling, room); {
		case known && len(arrows) == 0:
			t.Errorf("%s has no circles any more: take it from the list", room)
		case !known && len(arrows) > 0:
			t.Errorf("%s has files that use each other in a circle:\n%s", room, strings.Join(arrows, "\n"))
		}
	}
}

// compiledPackage is a package with the file of its compiled types.
type compiledPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// compiled lists our packages and all that they import, by path.
func compiled(t *testing.T) map[string]compiledPackage {
	t.Helper()
	testkit.Alone(t)
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]compiledPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p compiledPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	return all
}

// circular describes what files use of others that lead back to them.
func (p compiledPackage) circular(t *testing.T, set *token.FileSet, from types.Importer) (arrows []string) {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: from}).Check(p.ImportPath, set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	uses := usesOf(set, checked, info, receivers(files))
	for file, of := range uses {
		for other, names := range of {
			if leads(uses, other, file, map[string]bool{}) {
				slices.Sort(names)
				arrows = append(arrows, fmt.Sprintf("%s uses %v of %s", file, slices.Compact(names), other))
			}
		}
	}
	slices.Sort(arrows)
	return arrows
}

// leads reports whether a file uses something of another, directly or by others.
func leads(uses map[string]map[string][]string, from, to string, seen map[string]bool) bool {
	seen[from] = true
	for next := range uses[from] {
		if next == to || !seen[next] && leads(uses, next, to, seen) {
			return true
		}
	}
	return false
}

// usesOf lists what each file uses of each other one. Fields do not count, and a
// method may be in another file than its type.
func usesOf(set *token.FileSet, checked *types.Package, info *types.Info, receivers map[*ast.Ident]bool) map[string]map[string][]string {
	base := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	uses := map[string]map[string][]string{}
	for name, object := range info.Uses {
		method, isFunction := object.(*types.Func)
		if isFunction {
			object = method.Origin()
		}
		if receivers[name] || object.Pkg() != checked || !isFunction && object.Parent() != checked.Scope() {
			continue
		}
		if file, other := base(name.Pos()), base(object.Pos()); file != other {
			if uses[file] == nil {
				uses[file] = map[string][]string{}
			}
			uses[file][other] = append(uses[file][other], object.Name())
		}
	}
	return uses
}

// receivers are the names in the receivers of methods.
func receivers(files []*ast.File) map[*ast.Ident]bool {
	names := map[*ast.Ident]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			ast.Inspect(f.Recv, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					names[name] = true
				}
				return true
			})
		}
	}
	return names
}
