package testkit_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sizes that ask for a seam. Tests do not count.
const (
	maxRoomLines = 2500 // of a room
	maxRoomFiles = 15
	maxFile      = 400 // lines of a file
	maxMethods   = 25  // of a type, besides the handlers of tools
	maxInterface = 4   // methods of an interface, those of embedded ones included
	maxFunction  = 60  // lines of a function
)

// treeLimits bound the lines of rooms together with those below them, data that
// they embed included. cmd has flags and the environment only.
var treeLimits = map[string]int{"cmd": 500, "internal/llm/rehearsal": 3200}

// sizeExceptions are the rooms, types and interfaces that are larger, each with
// the reason. One that is no longer needed fails.
var sizeExceptions = map[string]string{
	"internal/tool/run.go":            "every check of a call and of a declaration, from top to bottom",
	"internal/company/finance.go":     "rows of the sample company",
	"internal/domain/sales.Store":     "all that a domain keeps, in parts of four at most (Reader, Writer, Bookkeeping, Lifecycle): two engines pass one suite of it",
	"internal/domain/support.Store":   "as sales.Store: Reader, Writer, tool.ReceiptStore, Lifecycle",
	"internal/app.toolbox":            "what the REST face asks of a server, in its two parts",
	"internal/storage.documentServer": "a Server that is seeded and closed through itself",
}

func TestSizes(t *testing.T) {
	found, trees := map[string]string{}, map[string]int{} // what is too large, with its size; lines of trees
	rooms := sources(t)
	interfaces := interfacesOf(rooms)
	for room, files := range rooms {
		if strings.HasPrefix(room, "internal/testkit") {
			continue
		}
		lines := measureRoom(t, room, files, found)
		for name, file := range files {
			if !strings.HasSuffix(name, "_test.go") {
				measureInterfaces(room, file, interfaces, found)
			}
		}
		for tree := range treeLimits {
			if room == tree || strings.HasPrefix(room, tree+"/") {
				trees[tree] += lines
			}
		}
	}
	for tree, limit := range treeLimits {
		if lines := trees[tree] + dataLines(t, tree); lines > limit {
			t.Errorf("%s has %d lines in all, %d at most", tree, lines, limit)
		}
	}
	for what, size := range found {
		if sizeExceptions[what] == "" {
			t.Errorf("%s has %s: find the seam, or except it with a reason", what, size)
		}
	}
	for what := range sizeExceptions {
		if found[what] == "" {
			t.Errorf("%s is excepted and small enough: take it off the list", what)
		}
	}
}

// dataLines are the lines of all files of a tree that are neither Go nor for tests.
func dataLines(t *testing.T, tree string) (lines int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(repository, tree), func(path string, d os.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case err != nil || d.IsDir() || strings.HasSuffix(path, ".go"):
			return err
		}
		raw, err := os.ReadFile(path)
		lines += bytes.Count(raw, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// measureRoom returns how many lines a room has.
func measureRoom(t *testing.T, room string, files map[string]*ast.File, found map[string]string) (lines int) {
	t.Helper()
	count, methods := 0, map[string]int{}
	for name, file := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		count++
		long := strings.Count(read(t, room+"/"+name), "\n")
		if lines += long; long > maxFile {
			found[room+"/"+name] = fmt.Sprintf("%d lines", long)
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Body != nil {
				if n := 1 + strings.Count(read(t, room+"/"+name)[f.Pos()-file.FileStart:f.End()-file.FileStart], "\n"); n > maxFunction {
					found[room+"."+f.Name.Name] = fmt.Sprintf("a function of %d lines", n)
				}
			}
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv != nil && !handlesTool(f) {
				methods[receiver(f)]++
			}
		}
	}
	if lines > maxRoomLines || count > maxRoomFiles {
		found[room] = fmt.Sprintf("%d lines in %d files", lines, count)
	}
	for name, n := range methods {
		if n > maxMethods {
			found[room+"."+name] = fmt.Sprintf("%d methods", n)
		}
	}
	return lines
}

// handlesTool reports whether a method has the shape of a tool's handler or its
// preview: a context, one typed input, and an error among its results.
func handlesTool(f *ast.FuncDecl) bool {
	in := f.Type.Params.List
	if len(in) != 2 || f.Type.Results == nil || len(f.Type.Results.List) != 2 {
		return false
	}
	_, typed := in[1].Type.(*ast.Ident)
	return typed && strings.HasSuffix(in[1].Type.(*ast.Ident).Name, "Input")
}

func receiver(f *ast.FuncDecl) string {
	at := f.Recv.List[0].Type
	if pointer, ok := at.(*ast.StarExpr); ok {
		at = pointer.X
	}
	switch generic := at.(type) {
	case *ast.IndexExpr:
		at = generic.X
	case *ast.IndexListExpr:
		at = generic.X
	}
	return at.(*ast.Ident).Name
}

func measureInterfaces(room string, file *ast.File, of map[string]*ast.InterfaceType, found map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if i, ok := spec.Type.(*ast.InterfaceType); ok {
			if n := methodsOf(room, i, of); n > maxInterface {
				found[room+"."+spec.Name.Name] = fmt.Sprintf("%d methods in an interface", n)
			}
		}
		return true
	})
}

// methodsOf counts the methods of an interface, those of embedded ones too. An
// embedded interface of another room is found in internal, by its package's name.
func methodsOf(room string, i *ast.InterfaceType, of map[string]*ast.InterfaceType) (n int) {
	for _, field := range i.Methods.List {
		home, embedded := room, ""
		switch e := field.Type.(type) {
		case *ast.Ident:
			embedded = e.Name
		case *ast.SelectorExpr:
			home, embedded = "internal/"+e.X.(*ast.Ident).Name, e.Sel.Name
		}
		n++
		if i := of[home+"."+embedded]; i != nil {
			n += methodsOf(home, i, of) - 1
		}
	}
	return n
}

// interfacesOf are the named interfaces of every room.
func interfacesOf(rooms map[string]map[string]*ast.File) map[string]*ast.InterfaceType {
	all := map[string]*ast.InterfaceType{}
	for room, files := range rooms {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if i, ok := spec.Type.(*ast.InterfaceType); ok {
						all[room+"."+spec.Name.Name] = i
					}
				}
				return true
			})
		}
	}
	return all
}
