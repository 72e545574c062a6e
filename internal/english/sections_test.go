package english

import (
	"strings"
	"testing"
)

func TestSectionsHavePhrases(t *testing.T) {
	s := NewSections(map[string][]string{"polite": {"please", "would you please", "would you"}, "place": {"in"}, "idle": {"really"}, "self": {"me"}})
	if !s.Is("in", "polite", "place") || s.Is("in", "polite") || s.Is("in") || s.Is("would", "polite") || !s.Is("would you", "polite") {
		t.Error("a phrase is in its own sections only, and as a whole")
	}
	if !s.Stems["place"]["in"] || !s.Stems["polite"][Stem("please")] {
		t.Errorf("stems: %v", s.Stems)
	}
	for text, want := range map[string]int{"would you please sit": 3, "would you sit": 2, "would we": 0, "": 0, "please": 1} {
		if got := s.Phrase("polite", strings.Fields(text)); got != want {
			t.Errorf("%q begins with a phrase of %d words, want %d", text, got, want)
		}
	}
	for text, want := range map[string]bool{"would you please": true, "please really me": true, "really me": false, "please sit": false, "": false} {
		if s.Only("polite", strings.Fields(text)) != want {
			t.Errorf("%q is only polite: %v", text, !want)
		}
	}
	if s.Phrase("none", []string{"please"}) != 0 {
		t.Error("a section that there is not has no phrases")
	}
}
