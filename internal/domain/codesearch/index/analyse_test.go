package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/intern"
	"countersign.dev/internal/domain/codesearch/words"
)

// TestPayloadsSayWhereTermsAre: in the comment of a declaration, in its name, in that of its
// type, and how often in all, however many words a chunk has.
func TestPayloadsSayWhereTermsAre(t *testing.T) {
	var filler strings.Builder
	for i := range 3 * intern.Batch {
		fmt.Fprintf(&filler, "\tq%c%cz", 'a'+i/26, 'a'+i%26)
		if i%6 == 0 { // too many lines to be joined with the head of the file
			filler.WriteByte('\n')
		}
	}
	src := "package p\n\n// verify reads a token once.\nfunc (c *Cursor) Verify(token string) {\n\t// token" + "\n" + filler.String() + "\n\tseal(token, sealed)\n}\n"
	a := new(analyser)
	e := a.file(File{Path: "p.go", Language: "Go"}, []byte(src))
	got := map[string]Payload{}
	for _, p := range e.posts {
		got[string(a.text(p.term))] |= p.payload
	}
	for term, want := range map[string]Payload{
		"verifi": InDoc | InName | 2, "onc": InDoc | 1, "token": InDoc | 4, "cursor": InOwner | 1, "seal": 2, "string": 1, "qaaz": 1, "qhjz": 1,
	} {
		if got[term] != want {
			t.Errorf("%s: %#x, not %#x", term, got[term], want)
		}
	}
	if words := 3*intern.Batch + len(strings.Fields("verify reads a token once func c Cursor Verify token string token seal token sealed")); len(e.pieces) != 2 || int(e.pieces[1].Words) != words {
		t.Errorf("%d chunks, of which one has %d words, want %d; terms %q", len(e.pieces), e.pieces[1].Words, words, slices.Sorted(maps.Keys(got)))
	}
}

// TestTermsAreThoseOfQueries: the analyser, which keeps the stems of parts, has the terms of
// a word that a query has for it.
func TestTermsAreThoseOfQueries(t *testing.T) {
	a := new(analyser)
	for range 2 { // at first, and again
		for _, word := range []string{"parseHTTPRequest2", "verify_tokens", "parse", "requests", "0x80070005L", "0xff", "1_000", "_1_0", "x", "86400", "sha256", "\u00dcberpr\u00fcfung", strings.Repeat("ab", 40)} {
			a.mark(word, InName)
			var got []string
			for _, term := range a.touched {
				got = append(got, string(a.text(term)))
				a.payloads[term] = 0
			}
			a.touched = a.touched[:0]
			if want := words.Terms(word); !slices.Equal(got, want) {
				t.Errorf("%s: %q, not %q", word, got, want)
			}
		}
	}
}
