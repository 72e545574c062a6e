package english

import (
	"slices"
	"strings"
	"testing"
)

func TestFormsOfAWordMeet(t *testing.T) {
	for _, group := range []string{"salary salaries", "manage managing managed manages", "review reviews reviewing reviewed", "hire hired hires hiring", "direct directly", "box boxes", "employee employees", "engineer engineers engineering"} {
		words := strings.Fields(group)
		for _, w := range words {
			if Stem(w) != Stem(words[0]) {
				t.Errorf("%q has stem %q, %q has %q", w, Stem(w), words[0], Stem(words[0]))
			}
		}
	}
	for word, other := range map[string]string{"engineering": "engine", "important": "imports", "business": "busy"} {
		if Stem(word) == Stem(other) {
			t.Errorf("%s is taken for a form of %s", word, other)
		}
	}
}

func TestNamesAreCutIntoWords(t *testing.T) {
	for name, want := range map[string]string{"employee_id": "employee id", "bookTitle": "book title", "list_$": "list", "_": "", "Find a file's lines": "find a file s lines", "sha256Sum": "sha256sum", "naïveÉtude": "naïve étude", "HTTPServer": "httpserver", "a\xffB": "a b"} {
		if got := Words(name); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q", name, got)
		}
	}
	if LastWord("employee_id") != "id" || LastWord("$") != "" {
		t.Errorf("last words: %q, %q", LastWord("employee_id"), LastWord("$"))
	}
}

func TestPluralsLoseTheirEnding(t *testing.T) {
	for plural, want := range map[string]string{"entries": "entry", "boxes": "box", "classes": "class", "invoices": "invoice", "status": "status", "bus": "bus"} {
		if got := Singular(plural); got != want || Plural(plural) != (want != plural) {
			t.Errorf("%q: %q", plural, got)
		}
	}
}
