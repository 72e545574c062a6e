package query

import (
	"strings"
	"testing"
)

// TestTopics: a query that names a matter is not one that asks for a place.
func TestTopics(t *testing.T) {
	for text, want := range map[string]bool{
		"garbage collection":                         true,
		"hash functions":                             true,
		"request routing":                            true,
		"how does the scheduler work":                true,
		"how is the retry logic implemented":         true,
		"how are cursors sealed":                     false,
		"where do we verify tokens":                  false,
		"Parse a configuration file":                 false,
		"hash the password of a user":                false,
		"which rows may a person see after a reload": false,
	} {
		if got := parse(text, 0).topic; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestPlacesOfOneFile: for a question the second good place of a file comes before a
// weaker one elsewhere; for a matter the other file does.
func TestPlacesOfOneFile(t *testing.T) {
	place := func(name, body string) string {
		return "func " + name + "() {\n\t" + body + "\n" + filler(12) + "}\n\n"
	}
	shard := indexed(t, map[string]string{
		"a.go": "package p\n\n" + place("alpha", "cursor(sealed); cursor(sealed)") + place("gap", "") + place("beta", "cursor(sealed); sealed()"),
		"b.go": "package p\n\n" + place("gamma", "cursor(sealed)"),
	})
	order := func(text string) string {
		var all []string
		for _, hit := range found(shard, Request{Text: text, Without: Coherence | Neighbours}) {
			all = append(all, hit[:1])
		}
		return strings.Join(all, "")
	}
	if got := order("how are cursors sealed"); got != "aab" {
		t.Errorf("question: %s", got)
	}
	if got := order("sealed cursors"); got != "aba" {
		t.Errorf("matter: %s", got)
	}
}

// TestAnswersAreNotAllOfOneFile: that a file has more good places raises the best of them more
// than the others, except where a name is sought.
func TestAnswersAreNotAllOfOneFile(t *testing.T) {
	place := func(name, body string) string {
		return "func " + name + "() {\n\t" + body + "\n" + filler(12) + "}\n\n"
	}
	shard := indexed(t, map[string]string{"a.go": "package p\n\n" + place("alpha", "cursor(sealed); cursor(sealed)") + place("beta", "cursor(sealed)")})
	raised := func(text string) (values []float64) {
		for _, h := range Search([]Shard{shard}, Request{Text: text, Limit: 10, Explain: true, Without: Neighbours}) {
			for _, why := range h.Why {
				if why.Detail == "other places in the file" {
					values = append(values, why.Value)
				}
			}
		}
		return values
	}
	if got := raised("how is a cursor sealed"); len(got) != 2 || got[0] < 1.9*got[1] {
		t.Errorf("a question: %v", got)
	}
	if got := raised("cursor"); len(got) != 2 || got[0] != got[1] {
		t.Errorf("a name: %v", got)
	}
}

// TestLightWords: a rare word that carries little does not outweigh what is sought.
func TestLightWords(t *testing.T) {
	body := func(text string) string { return "package p\n\nfunc x() {\n\t" + text + "\n" + filler(8) + "}\n" }
	files := map[string]string{"a.go": body("whether(cursor)"), "b.go": body("seal(cursor)"), "c.go": body("seal(token)"), "d.go": body("cursor(token)"), "e.go": body("cursor(token)")}
	got := found(indexed(t, files), Request{Text: "whether we seal a cursor"})
	if len(got) == 0 || !strings.HasPrefix(got[0], "b.go") {
		t.Errorf("%v", got)
	}
}

// TestPlacesSayOftenWhatTheyDo: how often a chunk has a word counts for more when a
// place is asked for than when a matter is named.
func TestPlacesSayOftenWhatTheyDo(t *testing.T) {
	body := func(text string) string { return "package p\n\nfunc x() {\n\t" + text + "\n" + filler(8) + "}\n" }
	shard := indexed(t, map[string]string{"a.go": body(strings.Repeat("sealed(); ", 5)), "b.go": body("sealed()"), "c.go": body("")})
	lead := func(text string) float64 {
		hits := Search([]Shard{shard}, Request{Text: text, Limit: 10})
		if len(hits) != 2 {
			t.Fatalf("%s: %d hits", text, len(hits))
		}
		return hits[0].Score / hits[1].Score
	}
	if place, matter := lead("where is sealed"), lead("sealed"); place <= matter {
		t.Errorf("the lead of five over one is %.3f for a place, %.3f for a matter", place, matter)
	}
}
