// Package checkout reads what git says of a folder: the commit that is checked out, the
// page of the repository, and which texts are in that commit. It reads git's files
// itself, because a server may have no git, and with bounds, because a repository may
// mean harm. Start with [At].
package checkout

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// State is what git says of a folder: nothing outside of git.
type State struct {
	Commit string   // its id in hex digits; empty: there is none
	Remote string   // https://HOST/GROUP/NAME of the remote "origin", without user, password and port; empty: it has no such address
	Within []string // the folder's path in the repository

	objects string // the repository's folder of them
}

var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// IsRepository reports whether a folder is the root of a git repository or of a
// worktree of one.
func IsRepository(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, ".git"))
	return err == nil
}

// Repository finds the repository that a folder is, or is a part of, and its path in
// that.
func Repository(folder string) (top string, within []string, ok bool) {
	top, err := filepath.Abs(folder)
	if err != nil {
		return "", nil, false
	}
	for ; !IsRepository(top); top = filepath.Dir(top) {
		if top == filepath.Dir(top) {
			return "", nil, false
		}
		within = slices.Insert(within, 0, filepath.Base(top))
	}
	return top, within, true
}

// At reads what git says of a folder.
func At(folder string) (c State) {
	root, within, ok := Repository(folder)
	if !ok {
		return c
	}
	git, common, ok := folders(root)
	if !ok {
		return c
	}
	head, err := read(filepath.Join(git, "HEAD"))
	if err != nil {
		return c
	}
	c.Commit = strings.TrimSpace(string(head))
	if ref, ok := strings.CutPrefix(c.Commit, "ref: "); ok {
		c.Commit = refOf(git, common, ref)
	}
	if !commitID.MatchString(c.Commit) {
		c.Commit = ""
	}
	c.Remote, c.Within, c.objects = remoteOf(filepath.Join(common, "config")), within, filepath.Join(common, "objects")
	return c
}

// folders finds git's own folder of a repository or a worktree, and the one that all
// worktrees of a repository have in common. ok is false where there is none, or one that does not
// name this root: anyone who can write a file .git could name another repository's in it.
func folders(root string) (git, common string, ok bool) {
	git = filepath.Join(root, ".git")
	text, err := read(git)
	if err != nil {
		return git, git, true // a folder
	}
	git = absolute(strings.TrimPrefix(string(text), "gitdir:"), root)
	switch {
	case submoduleOf(git, root):
		return git, git, true
	case sameFile(pathIn(filepath.Join(git, "gitdir"), git), filepath.Join(root, ".git")):
		common = pathIn(filepath.Join(git, "commondir"), git)
		return git, common, sameFile(filepath.Join(common, "worktrees"), filepath.Dir(git))
	}
	return "", "", false
}

// submoduleOf reports whether git's folder is of the submodule at a root.
func submoduleOf(git, root string) bool {
	return slices.ContainsFunc(settings(filepath.Join(git, "config"), "[core]", "worktree"), func(path string) bool { return sameFile(absolute(path, git), root) })
}

// pathIn is the path that one of git's files has, from a folder; empty: there is none.
func pathIn(file, folder string) string {
	text, err := read(file)
	if err != nil {
		return ""
	}
	return absolute(string(text), folder)
}

// absolute is a path in one of git's files, which may be relative to a folder.
func absolute(text, folder string) string {
	if text = strings.TrimSpace(text); filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(folder, text)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Excludes reads the patterns of files that a repository ignores beside those of its
// .gitignore files, and whether all of them are for any case of letters. It is for the root
// of the repository, or of a worktree of one.
func Excludes(root string) (patterns []byte, anyCase bool) {
	_, common, ok := folders(root)
	if !ok {
		return nil, false
	}
	patterns, _ = read(filepath.Join(common, "info", "exclude")) // it excludes nothing then
	for _, value := range settings(filepath.Join(common, "config"), "[core]", "ignorecase") {
		anyCase = slices.Contains([]string{"true", "yes", "on", "1", ""}, strings.ToLower(value))
	}
	return patterns, anyCase
}

// refOf reads a branch: a file of its own, or a line of packed-refs.
func refOf(git, common, ref string) string {
	if !filepath.IsLocal(ref) {
		return ""
	}
	for _, folder := range []string{git, common} {
		if text, err := read(filepath.Join(folder, ref)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	packed, err := read(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return id
		}
	}
	return ""
}

// remotes are the forms of a remote's address: a URL, and ssh's short form.
var remotes = []*regexp.Regexp{
	regexp.MustCompile(`^(?:https?|ssh|git)://(?:[^/]*@)?([\w.-]+)(?::\d+)?/((?:[\w.~%-]+/)+[\w.~%-]+?)(?:\.git)?/?$`),
	regexp.MustCompile(`^(?:[^/:]*@)?([\w.-]+):/?((?:[\w.~%-]+/)+[\w.~%-]+?)(?:\.git)?/?$`),
}

// remoteOf returns the address of the remote "origin" in one form.
func remoteOf(config string) string {
	for _, value := range settings(config, `[remote "origin"]`, "url") {
		for _, form := range remotes {
			if m := form.FindStringSubmatch(value); m != nil {
				return "https://" + strings.ToLower(m[1]) + "/" + m[2]
			}
		}
	}
	return ""
}

// settings are the values of a key in a section of a configuration, as git writes them: one
// in a line of its own below the section's name.
func settings(config, section, key string) (values []string) {
	text, _ := read(config) // it says nothing then
	within := false
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			within = strings.EqualFold(line, section)
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		name, value, _ := strings.Cut(line, "=")
		if within && strings.EqualFold(strings.TrimSpace(name), key) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}
