package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/workspace"
)

// TestAUserNameIsNoOtherPersonsFolder: the folder of a person of another issuer can be
// computed by all, and is of no user name that a person could choose.
func TestAUserNameIsNoOtherPersonsFolder(t *testing.T) {
	p := workspace.Places{Personal: t.TempDir(), Issuer: "https://ours.example"}
	find := func(issuer, subject, username string) string {
		place, err := p.Find(access.NewPrincipal(access.Claims{Issuer: issuer, Subject: subject, Username: username}), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return place.Path
	}
	theirs := find("https://other.example", "sub-nina", "nina")
	for _, name := range []string{filepath.Base(theirs), "PERSON_" + filepath.Base(theirs)[len("person_"):]} {
		if got := find("https://ours.example", "sub-eve", name); filepath.Base(got) == name {
			t.Errorf("the user name %s opens a folder that a person of another issuer has", name)
		}
	}
	if got := find("https://ours.example", "sub-nina", "nina"); filepath.Base(got) != "nina" || got == theirs {
		t.Errorf("nina's own: got %s", got)
	}
}

// TestAUserNameIsNoRole: who signs in under the name of a role opens nothing with it,
// and neither does a role of someone's name.
func TestAUserNameIsNoRole(t *testing.T) {
	p := workspace.Places{Issuer: "https://ours.example", Shared: []workspace.Shared{
		{Path: t.TempDir(), Name: "board", Roles: []string{"executive"}}, {Path: t.TempDir(), Name: "platform", People: []string{"nina"}},
	}}
	for name, c := range map[string]struct {
		username string
		roles    []string
		opens    []string
	}{
		"an executive":               {"eve", []string{"employee", "executive"}, []string{"board"}},
		"the user name of a role":    {"executive", []string{"employee"}, nil},
		"nina":                       {"nina", []string{"employee"}, []string{"platform"}},
		"a role of her name":         {"eve", []string{"employee", "nina"}, nil},
		"a part of the role's name":  {"eve", []string{"exec"}, nil},
		"another case of the role":   {"eve", []string{"Executive"}, nil},
		"another case of the person": {"Nina", nil, nil},
	} {
		who := access.NewPrincipal(access.Claims{Issuer: p.Issuer, Subject: "sub", Username: c.username, Roles: c.roles})
		var opened []string
		for _, place := range p.Of(who) {
			opened = append(opened, place.Name)
		}
		if !slices.Equal(opened, c.opens) {
			t.Errorf("%s opens %v, want %v", name, opened, c.opens)
		}
	}
}

// TestLinksAreResolved: a path is the folder that it leads to, for what a person may
// open, which the roots bound, and for what a local server may serve.
func TestLinksAreResolved(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	served, outside := filepath.Join(root, "served"), filepath.Join(root, "outside")
	inside, shared, local := filepath.Join(served, "inside"), workspace.Places{Shared: []workspace.Shared{{Path: outside, Name: "team", People: []string{"nina"}}}}, workspace.Places{Local: served}
	for _, folder := range []string{inside, outside} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"in": inside, "out": outside} {
		if err := os.Symlink(target, filepath.Join(served, link)); err != nil {
			t.Fatal(err)
		}
	}
	rooted := shared
	rooted.Roots = []string{served}
	who := access.NewPrincipal(access.Claims{Subject: "sub", Username: "nina"})
	for _, c := range []struct {
		places     workspace.Places
		text, want string // want is empty for what is refused
	}{
		{shared, filepath.Join(served, "out"), outside},
		{shared, filepath.Join(served, "in"), ""},
		{rooted, filepath.Join(served, "out"), ""},
		{rooted, "team", ""},
		{local, filepath.Join(served, "in"), inside},
		{local, filepath.Join(served, "out"), ""},
		{local, inside, inside},
		{local, outside, ""},
		{local, root, ""},
	} {
		place, err := c.places.Find(who, c.text, nil)
		if place.Path != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.text, place.Path, err, c.want)
		}
	}
}

// TestNameOfSeveralProjects: a name that several of a person's projects have means none
// of them, whatever the case of its letters; a person who may open one finds it.
func TestNameOfSeveralProjects(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	p := workspace.Places{Shared: []workspace.Shared{{Path: one, Name: "Site", People: []string{"nina", "dan"}}, {Path: other, Name: "site", People: []string{"nina"}}}}
	find := func(who, text string, names map[string]string) (workspace.Place, error) {
		return p.Find(access.NewPrincipal(access.Claims{Subject: who, Username: who}), text, names)
	}
	if place, err := find("nina", "SITE", nil); err == nil || !strings.Contains(err.Error(), "several of your projects") {
		t.Errorf("got %+v, %v", place, err)
	}
	real, err := filepath.EvalSymlinks(one)
	if err != nil {
		t.Fatal(err)
	}
	for who, names := range map[string]map[string]string{"dan": nil, "nina": {real: "Front"}} {
		text := map[string]string{"dan": "SITE", "nina": "front"}[who]
		if place, err := find(who, text, names); err != nil || place.Path != real {
			t.Errorf("%s: got %+v, %v", who, place, err)
		}
	}
}

// TestPathsWithinAFolder: the folder itself and what is below it, however it is written.
func TestPathsWithinAFolder(t *testing.T) {
	for path, want := range map[string]bool{
		"/w": true, "/w/": true, "/w/a.go": true, "/w/..a": true, "/w/a/../b": true, "/w/../w/a": true,
		"/": false, "/wx": false, "/w/..": false, "/w/../x": false, "/w/a/../../x": false,
		"": true, ".": true, "a.go": true, "..a": true, "a/../b": true, "../w/a": true,
		"..": false, "../x": false, "a/../../x": false, "../../etc/passwd": false,
	} {
		if got := workspace.Within(path, "/w"); got != want {
			t.Errorf("%q: got %v, want %v", path, got, want)
		}
	}
}
