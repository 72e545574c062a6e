package llm

import "testing"

func TestUnknownProviderIsRefused(t *testing.T) {
	if m, err := New(Options{}); err != nil || m.Name() != Rehearsal {
		t.Errorf("got %v, %v", m, err)
	}
	if _, err := New(Options{Provider: "oracle"}); err == nil {
		t.Error("an unknown provider was accepted")
	}
}
