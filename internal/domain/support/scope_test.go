package support

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
	want := map[string]int{"scope.go": 1, "elastic/filter.go": 1, "query.go": 1}
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

// TestRowsOfAScope: which rows a scope holds, and which of them a status has.
func TestRowsOfAScope(t *testing.T) {
	for scope, want := range map[Scope][2]Rows{
		{}:                          {NoRows, NoRows},
		{drafts: true}:              {NoRows, NoRows},
		{staff: true}:               {AllRows, PublishedRows},
		{staff: true, drafts: true}: {AllRows, AllRows},
	} {
		if got := [2]Rows{scope.Tickets(), scope.Articles()}; got != want {
			t.Errorf("%+v: got tickets and articles %v, want %v", scope, got, want)
		}
	}
	for rows, want := range map[Rows][]string{NoRows: nil, PublishedRows: {"published"}, AllRows: {"draft", "published", "archived", ""}} {
		var got []string
		for _, status := range []string{"draft", "published", "archived", ""} {
			if rows.Hold(status) {
				got = append(got, status)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("rows %d: hold %q, want %q", rows, got, want)
		}
	}
}

// closed is a store that keeps what it is asked to write.
type closed struct {
	Store
	*Closing
}

func (c closed) CloseTicket(_ context.Context, _ Scope, change Closing) error {
	*c.Closing = change
	return nil
}

// TestClosingIsOfItsCaller: the ticket says who closed it, and whether the customer was notified only
// when the request does.
func TestClosingIsOfItsCaller(t *testing.T) {
	yes, no := true, false
	for _, notified := range []*bool{nil, &yes, &no} {
		store := closed{Closing: new(Closing)}
		dan := access.NewPrincipal(access.Claims{Email: "dan@tamshai.local", EmailVerified: true, Roles: []string{"support-write"}})
		in := closeTicket{TicketID: "TICK-004", Resolution: "Replaced the cable.", ResolutionType: "solved", CustomerNotified: notified}
		answer, err := New(store, nil).closeTicket(access.With(t.Context(), dan), in, ticketPrecondition{Version{Number: 7}, Ticket{ID: "TICK-004"}})
		if got := *store.Closing; err != nil || got.By != "dan@tamshai.local" || got.CustomerNotified != notified || answer.CustomerNotified != notified || got.Version.Number != 7 {
			t.Errorf("got %+v, %+v, %v, want it closed by dan, notified %v", got, answer, err, notified)
		}
	}
}

// TestClosingOfAnUnprovenAddressSaysWho: without a verified address a person is who they
// are at their issuer.
func TestClosingOfAnUnprovenAddressSaysWho(t *testing.T) {
	store := closed{Closing: new(Closing)}
	who := access.NewPrincipal(access.Claims{Issuer: "https://other.example", Subject: "u-1", Username: "dan@tamshai.local", Email: "dan@tamshai.local", Roles: []string{"support-write"}})
	in := closeTicket{TicketID: "TICK-004", Resolution: "Replaced the cable.", ResolutionType: "solved"}
	if _, err := New(store, nil).closeTicket(access.With(t.Context(), who), in, ticketPrecondition{}); err != nil || store.By != "https://other.example|u-1" {
		t.Errorf("closed by %q, %v", store.By, err)
	}
}
