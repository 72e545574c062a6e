package query

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

// indexed makes an index of files.
func indexed(t *testing.T, files map[string]string) Shard {
	t.Helper()
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return Shard{Repository: "x", Index: ix}
}

// found lists the hits as file:first-last.
func found(shard Shard, r Request) (all []string) {
	r.Limit = max(r.Limit, 10)
	for _, h := range Search([]Shard{shard}, r) {
		first, last := shard.Chunks[h.Chunk], shard.Chunks[h.Last]
		all = append(all, fmt.Sprintf("%s:%d-%d", shard.Files[first.File].Path, first.Line, last.Last))
	}
	return all
}

// filler is Go code of other words, so that files have an ordinary length.
func filler(n int) string {
	return strings.Repeat("\tprepare(lorem, ipsum, dolor)\n", n)
}

// TestSignals: each signal puts the right place first, and without it another is.
func TestSignals(t *testing.T) {
	verify := "package auth\n\n// verifyToken verifies the signature of a token.\nfunc verifyToken(token string) error {\n" + filler(8) + "}\n"
	for _, c := range []struct {
		name   string
		signal Signal
		query  string
		files  map[string]string
		want   string
	}{
		{"definitions", Definitions, "sealCursor", map[string]string{
			"b.go":   "package p\n\nfunc sealCursor() {\n" + filler(12) + "}\n",
			"use.go": "package p\n\n// sealCursor sealCursor\nfunc page() {\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n\tsealCursor()\n}\n",
		}, "b.go"},
		{"paths", Paths, "where are cookies stored", map[string]string{
			"cookies/jar.go": "package p\n\nfunc keep() {\n\tstored()\n" + filler(8) + "}\n",
			"other/pot.go":   "package p\n\nfunc keep() {\n\tstored()\n\tstored()\n" + filler(6) + "}\n",
		}, "cookies/jar.go"},
		{"penalties", Penalties, "how are tokens verified", map[string]string{
			"verify.go":             "package p\n\nfunc check() {\n\ttoken.verified()\n" + filler(8) + "}\n",
			"checks/spec/verify.go": "package p\n\nfunc check() {\n\ttoken.verified()\n\ttoken.verified()\n\ttoken.verified()\n}\n",
		}, "verify.go"},
		{"fields", Fields, "signature of the token", map[string]string{
			"auth.go":  verify,
			"other.go": "package p\n\nfunc other() {\n\tsignature(token)\n\tsignature(token)\n" + filler(8) + "}\n",
		}, "auth.go"},
		{"coverage", Coverage, "retry backoff jitter", map[string]string{
			"all.go": "package p\n\nfunc one() {\n\tretry(backoff, jitter)\n" + filler(30) + "}\n",
			"one.go": "package p\n\n// jitter jitter\nfunc jitterJitter() {\n\tjitter(jitter, jitter)\n\tjitter(jitter, jitter)\n\tjitter(jitter, jitter)\n\tjitter(jitter, backoff)\n}\n",
		}, "all.go"},
		{"expansion", Expansion, "configuration", map[string]string{
			"login.go": "package p\n\nfunc login() {\n\tread(cfg)\n" + filler(8) + "}\n",
		}, "login.go"},
		{"phrases", Phrases, "the token of the login has expired", map[string]string{
			"message.go": "package p\n\nfunc check() {\n\tfail(\"the token of the login has expired\")\n" + filler(40) + "}\n",
			"login.go":   "package p\n\n// expired: the login has a token.\nfunc loginToken() {\n\tlogin(token, expired)\n\tlogin(token, expired)\n\tlogin(token, expired)\n}\n",
		}, "message.go"},
		{"kinds", Kinds, "Limit", map[string]string{
			"b.go":   "package p\n\nvar Limit = 5\n",
			"use.go": "package p\n\n// limit, limits: the limit of limits.\nfunc limitLimits() {\n\tLimit(Limit, Limit)\n\tLimit(Limit, Limit)\n\tLimit(limit, limit)\n}\n",
		}, "b.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["a/unrelated.go"] = "package a\n\nfunc unrelated() {\n" + filler(20) + "}\n"
			shard := indexed(t, c.files)
			first := func(without Signal) string {
				return strings.Split(append(found(shard, Request{Text: c.query, Without: without}), ":")[0], ":")[0]
			}
			if got := first(0); got != c.want {
				t.Errorf("first is %s, not %s", got, c.want)
			}
			if got := first(c.signal); got == c.want {
				t.Errorf("without the signal %s is first, too: this proves nothing", got)
			}
		})
	}
}

// TestNeighboursAreOnePlace: two halves of a place are one result; further chunks of
// a file do not crowd others out.
func TestNeighboursAreOnePlace(t *testing.T) {
	shard := indexed(t, map[string]string{
		"seal.go": "package p\n\n// seal seals a cursor.\nfunc seal() {\n" + filler(8) + "}\n\n// open opens a sealed cursor.\nfunc open() {\n" + filler(8) + "}\n",
		"page.go": "package p\n\nfunc page() {\n\tseal(cursor)\n" + filler(8) + "}\n",
	})
	got := found(shard, Request{Text: "how are cursors sealed"})
	if want := []string{"seal.go:1-25", "page.go:1-13"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := found(shard, Request{Text: "how are cursors sealed", Without: Neighbours}); len(got) != 3 {
		t.Errorf("without joining: %v", got)
	}
}

// TestPlacesNearEachOtherAreOne: a hit that is two chunks further is shown with a better one, with what is
// between them; one that is far away, or would make a place too long, is not. Where a name is sought, each is shown.
func TestPlacesNearEachOtherAreOne(t *testing.T) {
	place := func(name, body string) string {
		return "func " + name + "() {\n\t" + body + "\n" + filler(12) + "}\n\n"
	}
	file := func(between int) string {
		return "package p\n\n" + place("seal", "cursor(sealed); cursor(sealed)") + strings.Repeat(place("gap", ""), between) + place("open", "cursor(sealed)")
	}
	for between, want := range map[int]int{0: 1, 2: 1, 5: 2} {
		shard := indexed(t, map[string]string{"seal.go": file(between)})
		if got := found(shard, Request{Text: "how are cursors sealed"}); len(got) != want {
			t.Errorf("%d chunks between: %v", between, got)
		}
		if got := found(shard, Request{Text: "sealed"}); len(got) != min(2, between+1) {
			t.Errorf("%d chunks between, for a name: %v", between, got)
		}
	}
}

// TestNamesAreFoundAsWritten: capitals and what a name belongs to decide between
// definitions of the same name.
func TestNamesAreFoundAsWritten(t *testing.T) {
	shard := indexed(t, map[string]string{
		"a.go": "package p\n\n// writer writes.\nfunc (b *Buffer) Close() {\n" + filler(6) + "}\n",
		"b.go": "package p\n\nfunc close() {\n" + filler(6) + "}\n",
		"c.go": "package p\n\nfunc (f *File) Close() {\n" + filler(6) + "}\n",
		"d.go": "package p\n\nfunc Close() {\n" + filler(6) + "}\n",
	})
	for query, want := range map[string]string{"Close": "d.go", "close": "b.go", "File.Close": "c.go", "Buffer.Close": "a.go"} {
		if got := found(shard, Request{Text: query}); len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// TestBestOfManyAreKept: the selection of candidates agrees with sorting all.
func TestBestOfManyAreKept(t *testing.T) {
	for _, most := range []int{1, 2, 50, 999, 1000, 1001} {
		var all []scored
		best := greatest{most: most}
		for i := range uint32(5 * 1000) {
			s := scored{float32(i*2654435761>>22) / 8, match{chunkID: idOf(int(i/700), int(i*7919%5003))}} // many are equal
			all = append(all, s)
			if s.score >= best.least {
				best.offer(s.score, s.match)
			}
		}
		slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunkID, b.chunkID)) })
		var want []chunkID
		for _, s := range all[:most] {
			want = append(want, s.chunkID)
		}
		var got []chunkID
		for _, f := range best.take() {
			got = append(got, f.chunkID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("of %d: kept %v, not %v", most, got, want)
		}
	}
}

// TestSignsOfNamesAreSought: a definition with a sign that no word has is found by its name
// with it, and without.
func TestSignsOfNamesAreSought(t *testing.T) {
	shard := indexed(t, map[string]string{
		"a.ts": "export interface Zod {\n  a: ZodType;\n  b: ZodType;\n  c: ZodType;\n}\n",
		"b.ts": "export interface $ZodType {\n  a: string;\n}\n",
		"c.sh": "read-line() {\n  a\n}\n", "d.sh": "read line line\nread line\n# read-line\n",
	})
	for query, want := range map[string]string{"$ZodType": "b.ts:1-3", "ZodType": "b.ts:1-3", "core.$ZodType": "b.ts:1-3", "read-line": "c.sh:1-3"} {
		if got := found(shard, Request{Text: query}); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %q", query, got)
		}
		if p := parse(query, 0); !slices.ContainsFunc(p.names, func(n name) bool { _, ok := shard.Defined(n.whole); return ok }) {
			t.Errorf("%s: none of %+v is defined", query, p.names)
		}
	}
}
