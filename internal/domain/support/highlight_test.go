package support

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestExcerptsShowWhatWasFound(t *testing.T) {
	long := strings.Repeat("nothing here to see ", 20)
	for name, c := range map[string]struct {
		query string
		texts []string
		want  []string
	}{
		"a word, in any case":   {"LOGIN", []string{"Login refused", "no such word"}, []string{"**Login** refused"}},
		"an accent":             {"jose", []string{"called José or Zoë"}, []string{"called **José** or Zoë"}},
		"a phrase":              {`"session expired"`, []string{"says: session expired. A session."}, []string{"says: **session expired**. A session."}},
		"a beginning":           {"pass*", []string{"password, passage, compass"}, []string{"**password**, **passage**, compass"}},
		"phrase over word":      {`session "session expired"`, []string{"session expired session"}, []string{"**session expired** **session**"}},
		"not what is excluded":  {"a -b", []string{"a b"}, []string{"**a** b"}},
		"everything":            {"*", []string{"a b"}, nil},
		"the middle of a text":  {"login", []string{long + "the login of " + long}, []string{"…nothing here to see nothing here to see nothing here to see the **login** of nothing here to see nothing here to see nothing here to see nothing here to see nothing here to see …"}},
		"three at most":         {"x", []string{"x", "x", "x", "x"}, []string{"**x**", "**x**", "**x**"}},
		"a word without spaces": {"end", []string{strings.Repeat("東", 100) + " end"}, nil},
	} {
		got := ParseQuery(c.query).highlight(c.texts...)
		if name == "a word without spaces" {
			if len(got) != 1 || !strings.HasSuffix(got[0], "**end**") || !utf8.ValidString(got[0]) {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzHighlight: any text can be marked, and taking the marks off an unbroken
// one gives the text back.
func FuzzHighlight(f *testing.F) {
	f.Add("a*", "a ab abc")
	f.Add(`"a b"`, strings.Repeat("a b ", 100))
	f.Add("x", strings.Repeat("y", 500)+"\xffx")
	f.Fuzz(func(t *testing.T, query, text string) {
		for _, e := range ParseQuery(query).highlight(text) {
			if plain := strings.ReplaceAll(e, "**", ""); !strings.Contains(e, "**") ||
				!strings.Contains(strings.ReplaceAll(text, "**", ""), strings.TrimSuffix(strings.TrimPrefix(plain, "…"), "…")) && !strings.ContainsAny(text, "*…") {
				t.Fatalf("%q in %q: %q", query, text, e)
			}
		}
	})
}
