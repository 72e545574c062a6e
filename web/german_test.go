package web_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGatewayAddsInGerman: what the gateway says of an answer is in German by the kind of
// its note, before its own sentence, and a sentence that is always the same is in German alone.
func TestGatewayAddsInGerman(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	stopped := "The answer stops here because it reached the model's maximum length. Please ask for a smaller part of it."
	g.on("POST /api/query", turn(
		object{"type": "text", "text": "It is done, for $7."},
		object{"type": "note", "kind": "unproven", "text": "Nothing was changed: the change that this answer speaks of has not been made."},
		object{"type": "note", "kind": "later kind", "text": "A kind that the page does not know."},
		object{"type": "text", "text": "\n\n" + stopped, "source": "gateway"}))
	p.Open(g.URL + "/icon.svg")
	eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
	p.Open(g.URL)
	p.ask("Do it")
	p.Sees("[data-note=unproven]", "Es wurde nichts geändert: Kein Werkzeug hat die Änderung gemeldet, von der die Antwort spricht. Nothing was changed:")
	p.Sees("[data-note='later kind']", "A kind that the page does not know.")
	p.Sees("[data-text=gateway].prose", "Die Antwort endet hier, weil das Modell keine längere schreibt.")
	if got := eval[string](p, `document.querySelector("[data-text=gateway].prose").textContent`); strings.Contains(got, "The answer") {
		t.Errorf("the gateway's sentence is there in English too: %q", got)
	}
}

// TestGermanWordsAreOfWhatIsSaid: each kind of note, each sentence and each code that the page
// has German words for is in the sources, so that a change of one side is noticed.
func TestGermanWordsAreOfWhatIsSaid(t *testing.T) {
	words := read(t, "de-tools.js")
	said := sources(t)
	at := strings.Index(words, "const refusals")
	if at < 0 {
		t.Fatal("de-tools.js has no refusals")
	}
	lines := regexp.MustCompile(`(?m)^  (.+?) = `).FindAllStringSubmatch(words[at:], -1)
	if len(lines) < 60 {
		t.Errorf("found %d entries, want at least 60", len(lines))
	}
	for _, one := range lines {
		what := strings.Replace(strings.TrimPrefix(one[1], "note."), " 12 ", " %d ", 1)
		if !strings.Contains(said, `"`+what+`"`) {
			t.Errorf("nothing says %q", one[1])
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources are all sources of this program but its tests.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		all.WriteString(read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
