package index

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// commit is what git says of a folder; both are empty outside of git.
type commit struct{ id, remote string }

var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// commitOf reads the commit that is checked out, and the page of the repository.
// It reads git's files itself, because a server may have no git.
func commitOf(root string) (c commit) {
	git := filepath.Join(root, ".git")
	if text, err := readRegular(os.OpenFile, git); err == nil { // a worktree: gitdir: PATH
		git = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
		if !filepath.IsAbs(git) {
			git = filepath.Join(root, git)
		}
	}
	common := git
	if text, err := readRegular(os.OpenFile, filepath.Join(git, "commondir")); err == nil {
		common = strings.TrimSpace(string(text))
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
	}
	head, err := readRegular(os.OpenFile, filepath.Join(git, "HEAD"))
	if err != nil {
		return c
	}
	c.id = strings.TrimSpace(string(head))
	if ref, ok := strings.CutPrefix(c.id, "ref: "); ok {
		c.id = refOf(git, common, ref)
	}
	if !commitID.MatchString(c.id) {
		c.id = ""
	}
	c.remote = remoteOf(filepath.Join(common, "config"))
	return c
}

// refOf reads a branch: a file of its own, or a line of packed-refs.
func refOf(git, common, ref string) string {
	if !filepath.IsLocal(ref) {
		return ""
	}
	for _, folder := range []string{git, common} {
		if text, err := readRegular(os.OpenFile, filepath.Join(folder, ref)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	packed, err := readRegular(os.OpenFile, filepath.Join(common, "packed-refs"))
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

var github = regexp.MustCompile(`^(?:https://(?:[^@/]*@)?|git@|ssh://git@)github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$`)

// remoteOf returns the page of the remote "origin" when it is on GitHub. An
// address's user and password are left out.
func remoteOf(config string) string {
	text, err := readRegular(os.OpenFile, config)
	if err != nil {
		return ""
	}
	origin := false
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			origin = line == `[remote "origin"]`
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if origin && strings.TrimSpace(key) == "url" {
			if m := github.FindStringSubmatch(strings.TrimSpace(value)); m != nil {
				return "https://github.com/" + m[1]
			}
		}
	}
	return ""
}
