package support

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/internal/access"
)

// TestNoQueryWithoutAScope: every method that reaches a row takes a scope.
func TestNoQueryWithoutAScope(t *testing.T) {
	for _, face := range []reflect.Type{reflect.TypeFor[Reader](), reflect.TypeFor[Writer]()} {
		for i := range face.NumMethod() {
			method := face.Method(i)
			if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[Scope]() {
				t.Errorf("%s.%s takes no scope", face.Name(), method.Name)
			}
		}
	}
}

// TestScopesAreMadeInOnePlace reads the source: a scope with something in it,
// the filters of a search, and a query that finds something are made in one
// function each.
func TestScopesAreMadeInOnePlace(t *testing.T) {
	here, err := filepath.Glob("*.go")
	stores, err2 := filepath.Glob("*/*.go")
	files := append(here, stores...)
	if err != nil || err2 != nil || len(here) == 0 || len(stores) == 0 {
		t.Fatal(files, err, err2)
	}
	made := regexp.MustCompile(`\bScope\{[^}]|\bfilters\{[^}]|\bQuery\{[^}]|\.(staff|drafts|every) = `)
	found := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(made.FindAll(text, -1)); n > 0 {
			found[file] = n
		}
	}
	want := map[string]int{"scope.go": 1, "elastic/read.go": 1, "query.go": 1}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}

func TestScopeOfRoles(t *testing.T) {
	for name, c := range map[string]struct {
		roles []string
		want  Scope
	}{
		"support-write":            {[]string{"support-write"}, Scope{staff: true, drafts: true}},
		"support-read":             {[]string{"support-read"}, Scope{staff: true}},
		"executive":                {[]string{"executive", "manager"}, Scope{staff: true}},
		"an executive who writes":  {[]string{"executive", "support-write"}, Scope{staff: true, drafts: true}},
		"another department":       {[]string{"manager", "employee", "hr-write", "finance-write", "sales-write"}, Scope{}},
		"no principal":             {nil, Scope{}},
		"a role with another case": {[]string{"Support-Write"}, Scope{}},
	} {
		if got := ScopeOf(access.NewPrincipal(access.Claims{Roles: c.roles})); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
