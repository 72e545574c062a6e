package workspace_test

import (
	"path/filepath"
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
