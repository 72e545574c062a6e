package database_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What SQL of this tree may never contain, in any file.
var (
	lastingSetting = regexp.MustCompile(`(?is)set_config\s*\([^()]*,\s*false\s*\)`)
	setLocal       = regexp.MustCompile(`(?i)\bset\s+(session|local)\s+"?app\.`)
	offsetClause   = regexp.MustCompile(`(?i)\boffset\s+(\$\d|\d)`)
)

// TestSQLKeepsTheRules reads every Go and SQL file of the packages that use
// PostgreSQL. A setting that outlives its transaction would hand one person's
// identity to the next; OFFSET repeats and skips rows while others write; a
// statement that is concatenated from values is an injection.
func TestSQLKeepsTheRules(t *testing.T) {
	read := 0
	walk(t, "..", func(path string, text string) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.Join("..", "testkit")) {
			return // tests name tables and roles as they go
		}
		room := usesPostgres(t, filepath.Dir(path))
		if strings.HasSuffix(path, ".sql") || room {
			read++
			forbid(t, path, text, lastingSetting, setLocal, offsetClause)
		}
		if room && strings.HasSuffix(path, ".go") {
			constantStatements(t, path, text)
		}
	})
	if read < 5 {
		t.Errorf("only %d files were read", read)
	}
}

func walk(t *testing.T, root string, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || (filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sql") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(path, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// usesPostgres reports whether a folder is this package or imports it.
func usesPostgres(t *testing.T, folder string) bool {
	t.Helper()
	if folder == filepath.Join("..", "database") {
		return true
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), `"countersign.dev/internal/database"`) {
			return true
		}
	}
	return false
}

func forbid(t *testing.T, path, text string, rules ...*regexp.Regexp) {
	t.Helper()
	for _, rule := range rules {
		if found := rule.FindString(text); found != "" {
			t.Errorf("%s: %q is forbidden in SQL", path, found)
		}
	}
}

// constantStatements checks every statement that a file passes to this package:
// it is a constant, or constants and ForUpdate joined.
func constantStatements(t *testing.T, path, text string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := calledOf(call); slices.Contains([]string{"Rows", "Row", "Exec", "ExecOne", "ExecAll", "Probe"}, name) && len(call.Args) >= 3 && !constant(call.Args[2]) {
			t.Errorf("%s: the statement of %s is not a constant", files.Position(call.Pos()), name)
		}
		return true
	})
}

// calledOf is the name of the function of this package that is called, or empty.
func calledOf(call *ast.CallExpr) string {
	fun := call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if room, ok := selector.X.(*ast.Ident); !ok || room.Name != "database" {
		return ""
	}
	return selector.Sel.Name
}

func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Obj == nil || e.Obj.Kind == ast.Con // without an object it is declared in another file
	case *ast.BinaryExpr:
		return e.Op == token.ADD && constant(e.X) && constant(e.Y)
	case *ast.CallExpr:
		return calledOf(e) == "ForUpdate"
	}
	return false
}

func TestTheRulesFindWhatTheyForbid(t *testing.T) {
	for text, rule := range map[string]*regexp.Regexp{
		"select set_config('app.x', $1, false)":    lastingSetting,
		"SELECT set_config ( 'a' , 'b',\n FALSE )": lastingSetting,
		"set local app.current_user_id = 'x'":      setLocal,
		"select 1 limit 50 offset $2":              offsetClause,
		"select 1 OFFSET 100":                      offsetClause,
	} {
		if !rule.MatchString(text) {
			t.Errorf("%q is not found", text)
		}
	}
}
