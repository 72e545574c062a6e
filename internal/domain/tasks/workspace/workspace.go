// Package workspace decides which folders a person may open as workspaces, and
// which one is meant by a path, a project's name, or nothing at all. It reads the
// file system to resolve links, and opens no database. Start with [Places.Find].
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/record"
)

// Shared is a workspace of several people.
type Shared struct {
	Path   string   // absolute
	Name   string   // as people call it; empty: the folder's
	People []string // user names of those who may open it
	Roles  []string // anyone with one of them may, too
}

// Places are the workspaces that a server serves.
type Places struct {
	Roots    []string // folders that all workspaces are in; empty: anywhere
	Shared   []Shared
	Personal string // the folder of the personal workspaces; empty: there are none
	Issuer   string // whose user names count; empty: any issuer's
	// Local is the one root of a server without sign-in: every folder in it is a
	// workspace of its only person. Empty: people sign in.
	Local string
}

// Place is a workspace that a person may open.
type Place struct {
	Path string // real: without links
	Name string // as configured
}

// Key names the database of a workspace.
func (p Place) Key() string {
	sum := sha256.Sum256([]byte(p.Path))
	return "project_" + hex.EncodeToString(sum[:8])
}

// PersonalName is what a person calls their own workspace.
const PersonalName = "Personal"

// Of lists the workspaces that a person may open, their default one first: a shared one
// that names them, else their personal one.
func (p Places) Of(who *access.Principal) (all []Place) {
	if p.Local != "" {
		return []Place{{Path: p.Local, Name: filepath.Base(p.Local)}}
	}
	var named, others []Place
	for _, s := range p.Shared {
		real, err := filepath.EvalSymlinks(s.Path)
		switch place := (Place{Path: real, Name: nameOf(s)}); {
		case err != nil || !p.inRoots(real):
		case p.names(s, who):
			named = append(named, place)
		case hasRole(s, who):
			others = append(others, place)
		}
	}
	if own, ok := p.personal(who); ok {
		others = append([]Place{own}, others...)
	}
	return append(named, others...)
}

func nameOf(s Shared) string {
	if s.Name != "" {
		return s.Name
	}
	return filepath.Base(s.Path)
}

// hasRole reports whether a workspace is open to a role of the person.
func hasRole(s Shared, who *access.Principal) bool {
	return slices.ContainsFunc(s.Roles, func(name string) bool { return who.HasAny(access.Role(name)) })
}

// names reports whether a workspace's people have the person's user name, where it
// counts.
func (p Places) names(s Shared, who *access.Principal) bool {
	return p.counts(who) && slices.Contains(s.People, who.Username())
}

// counts reports whether a user name says who the person is: it is of the issuer whose
// names count.
func (p Places) counts(who *access.Principal) bool {
	return who.Username() != "" && (p.Issuer == "" || who.Owner().Issuer == p.Issuer)
}

// Signature is how a workspace records who made something: by a user name that counts,
// as people know each other there, and else as any row does.
func (p Places) Signature(who *access.Principal) string {
	if p.counts(who) {
		return who.Username()
	}
	return who.Signature()
}

var plainUser = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,63}$`)

// digested begins the folders of people whose user name does not count. No user name
// is taken for one of them, in any case of its letters.
const digested = "person_"

func plain(username string) bool {
	return plainUser.MatchString(username) && !strings.HasPrefix(strings.ToLower(username), digested)
}

// personal is a person's own workspace. Its folder is made here. Two people never
// share one: a name counts only from the issuer whose names count, and any other
// person's folder has the digest of who they are.
func (p Places) personal(who *access.Principal) (Place, bool) {
	if p.Personal == "" {
		return Place{}, false
	}
	folder := who.Username()
	if p.Issuer == "" || who.Owner().Issuer != p.Issuer || !plain(folder) {
		sum := sha256.Sum256([]byte(who.Owner().String()))
		folder = digested + hex.EncodeToString(sum[:8])
	}
	return p.folder(folder)
}

// folder makes a folder of the personal workspaces.
func (p Places) folder(name string) (Place, bool) {
	path := filepath.Join(p.Personal, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Place{}, false
	}
	real, err := filepath.EvalSymlinks(path)
	return Place{Path: real, Name: PersonalName}, err == nil
}

// PersonalOf is the personal workspace of a user name that counts. It is for filling
// stores.
func (p Places) PersonalOf(username string) (Place, bool) {
	if p.Personal == "" || p.Issuer == "" || !plain(username) {
		return Place{}, false
	}
	return p.folder(username)
}

// Find returns the workspace that a text means: the name of a project, a path, or
// the person's default for an empty text. names are those that people gave to
// workspaces, by their paths; they count beside the configured ones. What a person
// may not open is answered like what does not exist: WORKSPACE_INVALID.
func (p Places) Find(who *access.Principal, text string, names map[string]string) (Place, error) {
	if text == "" {
		return p.byDefault(who)
	}
	if p.Local != "" && filepath.IsAbs(text) {
		return p.local(text)
	}
	own := p.Of(who)
	if !filepath.IsAbs(text) {
		return named(own, text, names)
	}
	real, err := filepath.EvalSymlinks(text)
	for _, place := range own {
		if err == nil && place.Path == real {
			return place, nil
		}
	}
	if !p.inRoots(filepath.Clean(text)) { // as it is written: where a link leads tells that it is there
		return Place{}, record.Workspace(text, "it is outside the folders that this server may serve")
	}
	return Place{}, record.Workspace(text, "you have no workspace there")
}

func (p Places) byDefault(who *access.Principal) (Place, error) {
	own := p.Of(who)
	if len(own) == 0 {
		return Place{}, record.Workspace("", "you have no workspace")
	}
	return own[0], nil
}

// named finds a project by its name, whatever the case of its letters.
func named(own []Place, text string, names map[string]string) (Place, error) {
	var found []Place
	for _, place := range own {
		if strings.EqualFold(place.Name, text) || strings.EqualFold(names[place.Path], text) {
			found = append(found, place)
		}
	}
	switch len(found) {
	case 0:
		return Place{}, record.Workspace(text, "it is neither an absolute path nor the name of a project of yours")
	case 1:
		return found[0], nil
	}
	return Place{}, record.Workspace(text, "several of your projects have this name; use the path of one")
}

// local finds a folder of a local server.
func (p Places) local(text string) (Place, error) {
	real, err := filepath.EvalSymlinks(text)
	if err != nil {
		return Place{}, record.Workspace(text, "there is no such folder")
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return Place{}, record.Workspace(text, "it is no folder")
	}
	if !Within(real, p.Local) {
		return Place{}, record.Workspace(text, "it is outside the folders that this server may serve")
	}
	return Place{Path: real, Name: filepath.Base(real)}, nil
}

// inRoots reports whether a path is in one of the roots.
func (p Places) inRoots(path string) bool {
	if len(p.Roots) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Roots, func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		return Within(path, root) || err == nil && Within(path, real)
	})
}

// Within reports whether a path is a folder or something in it. A relative path begins
// in the folder, and can lead out of it.
func Within(path, folder string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}
