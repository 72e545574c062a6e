package english

import (
	"strings"
	"testing"
)

func TestRemarksLoseTheirLabelAndTheirQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"resolution: the cable was loose":     "the cable was loose",
		"resolution replaced the cable":       "replaced the cable",
		`resolution "replaced it"`:            "replaced it",
		`"replaced it" and told the customer`: "replaced it and told the customer",
		"“replaced it”":                       "replaced it",
		`a "loose" cable`:                     `a "loose" cable`,
		"resolutions were tried":              "resolutions were tried",
		"":                                    "",
	} {
		if got := Remark(text, "resolution"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := Remark(" : as it was", ""); got != " : as it was" {
		t.Errorf("without a label: %q", got)
	}
}

func TestAffirms(t *testing.T) {
	for text, want := range map[string]bool{
		"it is a duplicate of another":                true,
		"both were duplicates":                        true,
		"it is not a duplicate":                       false,
		"it isn't really a duplicate":                 false,
		"no. It had been a real duplicate":            true,
		"It does not seem to be a duplicate":          false,
		"nobody could not say, but it is a duplicate": true,
		"the cable was loose":                         false,
		"":                                            false,
	} {
		if got := Affirms(text, []string{"duplicate"}); got != want {
			t.Errorf("%q affirms it: %v", text, got)
		}
	}
	if !Affirms("We won't fix it", strings.Fields("won t fix")) || Affirms("fix it", strings.Fields("won t fix")) || Affirms("anything", nil) {
		t.Error("several words are one behind the other, and no words are none")
	}
}
