package config

import (
	"strings"
	"testing"
)

// TestEmbeddingsNeedAddressAndModel: one without the other is a problem; neither is
// none. What an address may be is checked with all others.
func TestEmbeddingsNeedAddressAndModel(t *testing.T) {
	for _, c := range []struct {
		set  Embeddings
		good bool
	}{
		{Embeddings{}, true},
		{Embeddings{BaseURL: "http://127.0.0.1:11434/v1", Model: "small"}, true},
		{Embeddings{BaseURL: "http://127.0.0.1:11434/v1"}, false},
		{Embeddings{Model: "small"}, false},
		{Embeddings{APIKey: "secret"}, false},
	} {
		if problems := (&CodeSearch{Embeddings: c.set}).problems(); len(problems) == 0 != c.good {
			t.Errorf("%+v: %v", c.set, problems)
		}
	}
}

// TestIndexesAreInOnePlace: a folder or a store, which is the database of code search.
func TestIndexesAreInOnePlace(t *testing.T) {
	repository := []CodeRepository{{Path: "/srv/a", Name: "a"}}
	for _, c := range []struct {
		set  CodeSearch
		good bool
		url  string
	}{
		{CodeSearch{Repositories: repository, Index: "/var/code"}, true, "index:/var/code"},
		{CodeSearch{Repositories: repository, Store: "https://search.example.com:9200"}, true, "https://search.example.com:9200"},
		{CodeSearch{Repositories: repository}, false, ""},
		{CodeSearch{Index: "/var/code", Store: "https://search.example.com:9200"}, false, "https://search.example.com:9200"},
		{CodeSearch{Store: "https://search.example.com:9200", Embeddings: Embeddings{BaseURL: "http://127.0.0.1:11434/v1", Model: "small"}}, false, "https://search.example.com:9200"},
	} {
		var whole Config
		c.set.defaults(&whole)
		if problems := c.set.problems(); len(problems) == 0 != c.good || whole.Databases["codesearch"].URL != c.url {
			t.Errorf("%+v: %v, %q", c.set, problems, whole.Databases["codesearch"].URL)
		}
	}
}

// TestRepositoriesDiffer in name and folder: one folder under two names would be seen by those who may see either.
func TestRepositoriesDiffer(t *testing.T) {
	for _, c := range []struct {
		all  []CodeRepository
		good bool
	}{
		{[]CodeRepository{{Path: "/srv/a", Name: "a"}, {Path: "/srv/b", Name: "b"}, {Path: "/srv/b/c", Name: "c"}}, true},
		{[]CodeRepository{{Path: "/srv/a", Name: "a"}, {Path: "/srv/b", Name: "a"}}, false},
		{[]CodeRepository{{Path: "/srv/a", Name: "a"}, {Path: "/srv/b/../a/", Name: "b"}}, false},
	} {
		if problems := (&CodeSearch{Index: "/var/code", Repositories: c.all}).problems(); len(problems) == 0 != c.good {
			t.Errorf("%+v: %v", c.all, problems)
		}
	}
}

// TestLinksAreChecked: a form that would lead to the wrong lines, or nowhere, is a problem that says what is wrong.
func TestLinksAreChecked(t *testing.T) {
	const gitlab = "https://git.example.com/{group}/{name}/-/blob/{commit}/{path}#L{first}-{last}"
	for _, c := range []struct {
		host, form string
		want       []string
	}{
		{"git.example.com", gitlab, nil},
		{"git.example.com", "https://git.example.com:8443/{path}?at={commit}&line={first}", nil},
		{"Git.example.com", gitlab, []string{"codesearch.links.Git.example.com: write the host"}},
		{"git.example.com:7999", gitlab, []string{"write the host"}},
		{"git.example.com", "http://git.example.com/{commit}/{path}#{first}", []string{"must begin with https://"}},
		{"git.example.com", "https://{group}.example.com/{commit}/{path}#{first}", []string{"must begin with https://"}},
		{"git.example.com", gitlab + "{branch}", []string{`has "{branch}": there are {group}`}},
		{"git.example.com", gitlab + "{first", []string{`has "{first"`}},
		{"git.example.com", "", []string{"must begin with https://", "has no {commit}", "has no {first}", "has no {path}"}},
	} {
		problems := (&CodeSearch{Links: map[string]string{c.host: c.form}}).problems()
		if len(problems) != len(c.want) {
			t.Errorf("%s: %s: %q", c.host, c.form, problems)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(problems[i], want) {
				t.Errorf("%s: %s: %q, not %q", c.host, c.form, problems[i], want)
			}
		}
	}
}
