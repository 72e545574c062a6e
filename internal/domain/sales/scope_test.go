package sales

import (
	"context"
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
	for _, face := range []reflect.Type{reflect.TypeFor[CustomerReader](), reflect.TypeFor[DealReader](), reflect.TypeFor[Writer]()} {
		for i := range face.NumMethod() {
			method := face.Method(i)
			if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[Scope]() {
				t.Errorf("%s.%s takes no scope", face.Name(), method.Name)
			}
		}
	}
}

// TestScopesAreMadeInOnePlace reads the source: a scope with something in it,
// and a document filter, are made in one function each.
func TestScopesAreMadeInOnePlace(t *testing.T) {
	here, err := filepath.Glob("*.go")
	stores, err2 := filepath.Glob("*/*.go")
	files := append(here, stores...)
	if err != nil || err2 != nil || len(here) == 0 || len(stores) == 0 {
		t.Fatal(files, err, err2)
	}
	made := regexp.MustCompile(`\bScope\{[^}]|\bmatch\{[^}]|\.(all|email) = `)
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
	want := map[string]int{"scope.go": 2, "mongo/read.go": 1}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}

func TestScopeOfRoles(t *testing.T) {
	claims := func(verified bool, roles ...string) *access.Principal {
		return access.NewPrincipal(access.Claims{Email: "Ann@example.org", EmailVerified: verified, Roles: roles})
	}
	for name, c := range map[string]struct {
		who  *access.Principal
		want Scope
	}{
		"sales-write":              {claims(false, "sales-write"), Scope{all: true}},
		"executive":                {claims(true, "executive"), Scope{all: true}},
		"sales-read":               {claims(true, "sales-read"), Scope{email: "ann@example.org"}},
		"sales-read, unverified":   {claims(false, "sales-read"), Scope{}},
		"a manager without sales":  {claims(true, "manager", "employee", "hr-write", "finance-write"), Scope{}},
		"no role":                  {claims(true), Scope{}},
		"a role with another case": {claims(true, "Sales-Write"), Scope{}},
	} {
		if got := ScopeOf(c.who, c.who.Email()); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// buried is a store that keeps what it is asked to write.
type buried struct {
	Store
	*Tombstone
}

func (b buried) DeleteCustomer(_ context.Context, _ Scope, t Tombstone) error {
	*b.Tombstone = t
	return nil
}

// TestDeletionSaysWho: by the verified address, or else by who the person is at their issuer.
func TestDeletionSaysWho(t *testing.T) {
	for want, verified := range map[string]bool{"carol@tamshai.local": true, "https://other.example|u-1": false} {
		store := buried{Tombstone: new(Tombstone)}
		who := access.NewPrincipal(access.Claims{Issuer: "https://other.example", Subject: "u-1", Username: "eve@tamshai.local", Email: "carol@tamshai.local", EmailVerified: verified, Roles: []string{"sales-write"}})
		if _, err := New(store, nil).deleteCustomer(access.With(t.Context(), who), deleteCustomer{}, customerPrecondition{}); err != nil || store.By != want {
			t.Errorf("deleted by %q, %v, want %q", store.By, err, want)
		}
	}
}
