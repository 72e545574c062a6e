package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// defaults hands the section to the store of the task server.
func (t *Tasks) defaults(c *Config) {
	t.Issuer = c.Issuer.URL
	if db, configured := c.Databases["tasks"]; configured {
		db.Tasks = t
		c.Databases["tasks"] = db
	}
}

// problems finds paths that are not absolute, and workspaces without people.
func (t *Tasks) problems(line string) (problems []string) {
	absolute := func(key, path string) {
		if !filepath.IsAbs(path) {
			problems = append(problems, fmt.Sprintf("%s%s must be an absolute path", line, key))
		}
	}
	for i, root := range t.Roots {
		absolute(fmt.Sprintf("tasks.roots[%d]", i), root)
	}
	for i, w := range t.Workspaces {
		key := fmt.Sprintf("tasks.workspaces[%d]", i)
		absolute(key+".path", w.Path)
		if len(w.People)+len(w.Roles) == 0 {
			problems = append(problems, fmt.Sprintf("%s%s is open to no one: list user names under people, or roles under roles", line, key))
		}
		if !t.rooted(w.Path) {
			problems = append(problems, fmt.Sprintf("%s%s.path is in none of tasks.roots", line, key))
		}
	}
	if t.Personal != "" {
		absolute("tasks.personal", t.Personal)
		if !t.rooted(t.Personal) {
			problems = append(problems, line+"tasks.personal is in none of tasks.roots")
		}
	}
	return problems
}

// RolesAmongPeople finds workspaces whose people have the name of a role, which one list
// of both once meant: now it would be someone's user name.
func (t *Tasks) RolesAmongPeople(isRole func(string) bool) (problems []string) {
	for i, w := range t.Workspaces {
		for _, name := range w.People {
			if isRole(name) {
				problems = append(problems, fmt.Sprintf("tasks.workspaces[%d].people has the role %s: list it under tasks.workspaces[%d].roles; people are user names", i, name, i))
			}
		}
	}
	return problems
}

// rooted reports whether a path is in one of the roots, as far as that can be decided
// without following links: the server follows them.
func (t *Tasks) rooted(path string) bool {
	for _, root := range t.Roots {
		if inside, err := filepath.Rel(root, path); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
			return true
		}
	}
	return len(t.Roots) == 0
}
