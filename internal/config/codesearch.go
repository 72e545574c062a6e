package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// IndexScheme begins the address of a folder of indexes, as that of a database.
const IndexScheme = "index:"

func (e Embeddings) problems() (problems []string) {
	if e != (Embeddings{}) && (e.BaseURL == "" || e.Model == "") {
		problems = append(problems, "codesearch.embeddings needs base_url and model")
	}
	return problems
}

// defaults fill in names, and enter the indexes among the databases.
func (s *CodeSearch) defaults(c *Config) {
	for i := range s.Repositories {
		r := &s.Repositories[i]
		if r.Name == "" && r.Path != "" {
			r.Name = filepath.Base(filepath.Clean(r.Path))
		}
	}
	if s.Index == "" && s.Store == "" {
		return
	}
	if c.Databases == nil {
		c.Databases = map[string]Database{}
	}
	at := s.Store
	if at == "" {
		at = IndexScheme + s.Index
	}
	c.Databases["codesearch"] = Database{URL: at, Code: s}
}

func (s *CodeSearch) problems() (problems []string) {
	switch {
	case len(s.Repositories) > 0 && s.Index == "" && s.Store == "":
		problems = append(problems, "codesearch.index is required: the folder of the indexes")
	case s.Index != "" && s.Store != "":
		problems = append(problems, "codesearch has index and store: indexes are in one of them")
	case s.Store != "" && s.Embeddings != (Embeddings{}):
		problems = append(problems, "codesearch.embeddings needs codesearch.index: a store has no vectors")
	}
	problems = append(problems, s.Embeddings.problems()...)
	problems = append(problems, s.linkProblems()...)
	seen, folders := map[string]bool{}, map[string]bool{}
	for i, r := range s.Repositories {
		at := fmt.Sprintf("codesearch.repositories[%d]", i)
		switch {
		case r.Path == "":
			problems = append(problems, at+".path is required")
		case !filepath.IsAbs(r.Path):
			problems = append(problems, at+".path must be absolute")
		case seen[r.Name]:
			problems = append(problems, fmt.Sprintf("%s: there are two repositories %q: give one another name", at, r.Name))
		case folders[filepath.Clean(r.Path)]:
			problems = append(problems, fmt.Sprintf("%s: there are two repositories of the folder %s", at, r.Path))
		case strings.TrimSpace(r.Name) != r.Name || len(r.Name) > 100:
			problems = append(problems, at+".name must have no spaces around it, and 100 characters at most")
		}
		seen[r.Name], folders[filepath.Clean(r.Path)] = true, true
	}
	return problems
}

var (
	hostname  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	linkBegin = regexp.MustCompile(`^https://[^/{}?#]+/`)
	linkHole  = regexp.MustCompile(`\{[^{}]*\}?|\}`)
)

// linkHoles are what the form of a link may have, and whether it must.
var linkHoles = map[string]bool{"{group}": false, "{name}": false, "{commit}": true, "{path}": true, "{first}": true, "{last}": false}

// linkProblems checks the forms of links. One without a commit would show other lines after the next change.
func (s *CodeSearch) linkProblems() (problems []string) {
	for _, host := range slices.Sorted(maps.Keys(s.Links)) {
		form, at := s.Links[host], "codesearch.links."+host
		if !hostname.MatchString(host) {
			problems = append(problems, at+": write the host of the repository's remote in small letters, without a port, such as git.example.com")
		}
		if !linkBegin.MatchString(form) {
			problems = append(problems, at+" must begin with https:// and the name of a host")
		}
		found := linkHole.FindAllString(form, -1)
		for _, hole := range found {
			if _, known := linkHoles[hole]; !known {
				problems = append(problems, fmt.Sprintf("%s has %q: there are {group}, {name}, {commit}, {path}, {first} and {last}", at, hole))
			}
		}
		for _, hole := range slices.Sorted(maps.Keys(linkHoles)) {
			if linkHoles[hole] && !slices.Contains(found, hole) {
				problems = append(problems, at+" has no "+hole)
			}
		}
	}
	return problems
}

// weakened lists the repositories that need no token.
func (s *CodeSearch) weakened() (settings []string) {
	for _, r := range s.Repositories {
		if r.Anonymous {
			settings = append(settings, fmt.Sprintf("codesearch repository %q is anonymous: programs on this machine read it without a token", r.Name))
		}
		if r.Public {
			settings = append(settings, fmt.Sprintf("codesearch repository %q is public: pages of any origin read it without a token", r.Name))
		}
	}
	return settings
}
