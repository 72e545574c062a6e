package codesearch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/testkit/domaintest"
)

// vectors is a service of embeddings whose vectors say nothing, and are the same for the
// same text. stop ends it.
func vectors(t *testing.T) (service embed.Service, stop func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		var data []map[string]any
		for i, text := range asked.Input {
			v := make([]float32, 8)
			for at, c := range []byte(text) {
				v[int(c)%len(v)] += float32(at%7) - 2
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return embed.Service{BaseURL: s.URL + "/v1", Model: "small"}, s.Close
}

// TestOtherRankingOfTheNextPageIsSaid: places may be missing or repeated where embeddings took part
// in one page alone.
func TestOtherRankingOfTheNextPageIsSaid(t *testing.T) {
	service, stop := vectors(t)
	o := two(t)
	o.Embeddings = service
	s, d := served(t, o)
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	const warning = "places may be missing or repeated"
	_, e := d.search(`{"query":"seal a cursor","limit":1}`)
	next := `{"query":"seal a cursor","limit":1,"cursor":"` + e.Metadata.NextCursor + `"}`
	if _, e := d.search("%s", next); strings.Contains(e.Metadata.Hint, warning) || strings.Contains(e.Metadata.Hint, "Only the best places are ranked") {
		t.Errorf("the ranking is the same: %q", e.Metadata.Hint)
	}
	stop()
	if _, e := d.search("%s", next); !strings.Contains(e.Metadata.Hint, embed.NoteDown) || !strings.Contains(e.Metadata.Hint, warning) {
		t.Errorf("the ranking is another one: %q", e.Metadata.Hint)
	}
}

// TestPagesHaveEachPlaceOnce: for every limit the pages after each other are the same list
// of places, with the same number in all, by words and with embeddings.
func TestPagesHaveEachPlaceOnce(t *testing.T) {
	service, _ := vectors(t)
	for name, service := range map[string]embed.Service{"words": {}, "embeddings": service} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			o := codesearch.Options{Folder: t.TempDir(), Embeddings: service, Now: func() time.Time { now = now.Add(time.Hour); return now }}
			o.Repositories = []codesearch.Repository{{Name: "domain", Path: ".."}, {Name: "tool", Path: "../../tool"}} // indexed one after the other
			s := codesearch.New(o)
			t.Cleanup(func() { _ = s.Close() })
			if err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			d := harness{t, domaintest.Open(t, "codesearch", s)}
			for text, least := range map[string]int{"verify tokens": 60, "where is a page of rows cut": query.MaxHits, "Runner.Call": 30, "err": 60} {
				want := d.pages(text, 20)
				if len(want) < least {
					t.Errorf("%q has %d places, and that proves little", text, len(want))
				}
				for _, limit := range []int{5, 7, 13} {
					if got := d.pages(text, limit); !slices.Equal(got, want) {
						t.Errorf("%q by %d: %d places, by 20: %d; they differ", text, limit, len(got), len(want))
					}
				}
			}
		})
	}
}

// TestEndOfTheRankingIsSaid where more matches than has a place, of places and of chunks, and not elsewhere.
func TestEndOfTheRankingIsSaid(t *testing.T) {
	root := t.TempDir()
	for i := range 450 {
		word := "wombat"
		if i < 250 {
			word += " platypus"
		}
		if i < 3 {
			word += " quokka"
		}
		write(t, root, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package f\n\n// F%d is a %s.\nfunc F%d() {\n}\n", i, word, i))
	}
	var long strings.Builder // 450 chunks, several of which make a place
	for i := range 450 {
		fmt.Fprintf(&long, "// N%d is a numbat.\nfunc N%d() {\n%s}\n\n", i, i, strings.Repeat("\tcall()\n", 18))
	}
	write(t, root, "long.go", "package f\n\n"+long.String())
	o := codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "app", Path: root}}}
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for text, ends := range map[string]bool{"is a wombat here": true, "is a platypus here": true, "is a numbat here": true, "is a quokka here": false} {
		said, cursor := false, ""
		for {
			_, e := d.search(`{"query":%q,"limit":20,"max_tokens":20000%s}`, text, cursor)
			if said = strings.Contains(e.Metadata.Hint, "Only the best places are ranked"); e.Metadata.NextCursor == "" {
				break
			}
			cursor = `,"cursor":"` + e.Metadata.NextCursor + `"`
		}
		if said != ends {
			t.Errorf("%q: the end is said: %t", text, said)
		}
	}
}

// pages returns the places of all pages with their scores, which do not rise.
func (d harness) pages(text string, limit int) (all []string) {
	d.Helper()
	seen, score, cursor := map[string]bool{}, 1.0, ""
	for {
		rows, e := d.search(`{"query":%q,"limit":%d,"max_tokens":20000%s}`, text, limit, cursor)
		for _, r := range rows {
			if seen[r.URI] || r.Score > score {
				d.Errorf("%q by %d: place %d, %s %v after %v, seen %t", text, limit, len(all)+1, r.URI, r.Score, score, seen[r.URI])
			}
			seen[r.URI], score = true, r.Score
			all = append(all, fmt.Sprint(r.URI, " ", r.Score))
		}
		if strings.Contains(e.Metadata.Hint, "has changed") || strings.Contains(e.Metadata.Hint, "embeddings") {
			d.Errorf("%q by %d: %s", text, limit, e.Metadata.Hint)
		}
		last := e.Metadata.NextCursor == ""
		if ends := strings.Contains(e.Metadata.Hint, "Only the best places are ranked"); ends && !last || !ends && len(all) == query.MaxHits {
			d.Errorf("%q by %d, after %d places, last page: %t: %q", text, limit, len(all), last, e.Metadata.Hint)
		}
		if last {
			if e.Metadata.TotalCount != fmt.Sprint(len(all)) {
				d.Errorf("%q by %d: %d places, said to be %s", text, limit, len(all), e.Metadata.TotalCount)
			}
			return all
		}
		cursor = `,"cursor":"` + e.Metadata.NextCursor + `"`
	}
}
