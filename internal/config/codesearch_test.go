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
