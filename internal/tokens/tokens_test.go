package tokens

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/quick"
)

// corpus is what a model reads here, and more. Its tokens were counted by another
// implementation (github.com/pkoukk/tiktoken-go v0.1.8 with the o200k_base ranks
// that OpenAI publishes).
func corpus(t testing.TB) (texts []struct {
	Name   string
	Tokens int
	Text   string
}) {
	t.Helper()
	raw, err := os.ReadFile("testdata/corpus.json")
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestCountsAreThoseOfO200k(t *testing.T) {
	t.Parallel()
	var c Counter
	for _, text := range corpus(t) {
		for range 2 { // counted, and remembered
			if got := c.Count(text.Text); got < text.Tokens || got > text.Tokens+2*(len(text.Text)/maxPiece) { // what a seam adds
				t.Errorf("%s: got %d tokens, want %d", text.Name, got, text.Tokens)
			}
		}
	}
}

func TestTextHasNoMoreTokensThanBytes(t *testing.T) {
	t.Parallel()
	var c Counter
	bounded := func(text string) bool { n := c.Count(text); return n <= len(text) && (n > 0) == (text != "") }
	if err := quick.Check(bounded, nil); err != nil {
		t.Error(err)
	}
	for _, piece := range []string{"\xff\xfe", "\n ", "=", "\x00", "漢", "👩‍👩‍👧"} {
		if text := strings.Repeat(piece, maxPiece); !bounded(text) {
			t.Errorf("%q repeated has more tokens than bytes", piece)
		}
	}
}

func TestMemoryOfCountsIsBounded(t *testing.T) {
	t.Parallel()
	var c Counter
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range maxCached {
				c.Count(strings.Repeat("x", minCached+worker) + string(rune('a'+i%26)) + string(rune(0x4e00+i)))
			}
		})
	}
	all.Wait()
	if n := len(c.counts); n == 0 || n > maxCached {
		t.Errorf("remembers %d counts, want 1 to %d", n, maxCached)
	}
}

// What does a request cost whose messages are known, and one whose messages are
// new? Floor: hashing the same bytes as the memory of counts does. Loading is
// paid once a process.
func BenchmarkCount(b *testing.B) {
	var text strings.Builder
	for _, c := range corpus(b) {
		text.WriteString(c.Text)
	}
	all := text.String()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	vocabulary()
	runtime.GC()
	runtime.ReadMemStats(&after)
	vocabularyMB := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	var c Counter
	for name, run := range map[string]func(){
		"new":        func() { count(all) },
		"remembered": func() { c.Count(all) },
		"blanks":     func() { count(strings.Repeat("\n ", len(all)/2)) }, // the worst text that we know
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(all)))
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(vocabularyMB, "vocabulary-MB")
		})
	}
}
