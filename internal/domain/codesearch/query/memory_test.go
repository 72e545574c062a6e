package query

import (
	"fmt"
	"go/build"
	"path/filepath"
	"sync"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

// TestSearchesAtATime: searches that run at a time, in indexes of other sizes, do not find each other's words in the
// memory that they use again.
func TestSearchesAtATime(t *testing.T) {
	small := indexed(t, map[string]string{"a.go": "package a\n\nfunc seal() {\n\tcursor(sealed)\n" + filler(8) + "}\n"})
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("token/f%d.go", i)] = fmt.Sprintf("package p\n\n// f%d may retry.\nfunc f%d() {\n\tlock(token, page)\n\tseal(cursor)\n%s}\n", i, i, filler(i%20))
	}
	shards := []Shard{indexed(t, files), small}
	requests := []Request{{Text: "how is a cursor sealed"}, {Text: "f7"}, {Text: "retry lock", Explain: true}, {Text: "token page", Path: "token"}}
	asked := func(i int) string {
		r := requests[i%len(requests)]
		r.Limit = 20
		return fmt.Sprintf("%+v", Search(shards[i%3/2:], r))
	}
	var want []string
	for i := range 3 * len(requests) {
		want = append(want, asked(i))
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 60 {
				if at := (7*i + worker) % len(want); asked(at) != want[at] {
					t.Errorf("the answer to %+v is another one", requests[at%len(requests)])
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkSearch asks the Go standard library. The floor is plain BM25: the words of the query as they are.
func BenchmarkSearch(b *testing.B) {
	file := filepath.Join(b.TempDir(), "go.csx")
	if _, err := index.Update(b.Context(), file, index.Source{Name: "go", Root: filepath.Join(build.Default.GOROOT, "src")}, index.Options{}); err != nil {
		b.Fatal(err)
	}
	ix, err := index.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	for _, of := range []struct {
		name    string
		without Signal
	}{{"plain BM25", All}, {"all signals", 0}} {
		for _, text := range []string{"ServeMux.Handle", "profiling support over http", "split a string at a separator", "how does a timer fire after a duration"} {
			b.Run(of.name+"/"+text, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if len(Search([]Shard{{Index: ix}}, Request{Text: text, Limit: 10, Without: of.without})) == 0 {
						b.Fatal("nothing is found")
					}
				}
			})
		}
	}
}
