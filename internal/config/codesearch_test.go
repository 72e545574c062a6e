package config

import "testing"

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
