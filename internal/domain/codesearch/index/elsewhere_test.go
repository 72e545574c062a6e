package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch/linguist"
)

// put writes a file that was changed long ago.
func put(t testing.TB, root, name, text string) {
	t.Helper()
	file, old := filepath.Join(root, name), time.Now().Add(-time.Hour)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
}

// sample is a folder of a few files.
func sample(t testing.TB) (root string) {
	root = t.TempDir()
	put(t, root, "seal/cursor.go", "package seal\n\n// Seal seals a cursor.\nfunc (b *Box) Seal(cursor string) string { return b.aead(cursor) }\n\ntype Box struct{ key []byte }\n")
	put(t, root, "README.md", "# Sealing\n\nHow cursors are sealed.\n\n"+strings.Repeat("Words about tokens, and numbers such as 42.\n\n", 80))
	put(t, root, "web/page.ts", "export class Page { open(cursor: string) { return fetch(cursor) } }\n")
	put(t, root, "empty.txt", "")
	return root
}

// stored is an entry as another store keeps it.
type stored struct{ about, analysis, text []byte }

func store(t testing.TB, e *Entry) (s stored) {
	t.Helper()
	var err error
	if s.about, err = json.Marshal(e); err != nil {
		t.Fatal(err)
	}
	s.analysis, s.text = e.Pack()
	return s
}

func (s stored) read() (e Entry, err error) {
	var f File
	if err := json.Unmarshal(s.about, &f); err != nil {
		return Entry{}, err
	}
	return Unpack(f, s.analysis, s.text)
}

// TestIndexFromElsewhereIsTheSame: every byte but that of the description.
func TestIndexFromElsewhereIsTheSame(t *testing.T) {
	root, file := sample(t), filepath.Join(t.TempDir(), "x.csx")
	source := Source{Name: "x", Root: root}
	made, err := Update(t.Context(), file, source, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	scanned, entries, err := Scan(t.Context(), source, Before{}, Options{Now: func() time.Time { return made.Indexed }})
	if err != nil || !reflect.DeepEqual(scanned.Meta, made.Meta) {
		t.Fatalf("%v: %+v, not %+v", err, scanned.Meta, made.Meta)
	}
	for i := range entries {
		if entries[i], err = store(t, &entries[i]).read(); err != nil {
			t.Fatal(err)
		}
	}
	got := Memory(scanned.Meta, entries)
	for i := sectionFiles; i < sections; i++ {
		if string(got.parts[i]) != string(want.parts[i]) {
			t.Errorf("section %d differs", i)
		}
	}
	if !reflect.DeepEqual(got.Lengths, want.Lengths) || got.Average != want.Average || !reflect.DeepEqual(got.FileLengths, want.FileLengths) {
		t.Error("the lengths differ")
	}
	some := Memory(scanned.Meta, entries[2:3])
	if first, _ := want.Files[2].Chunks(); some.Lengths[0] != want.Lengths[first] || some.Average != want.Average {
		t.Errorf("alone a chunk has the length %v of %v, not %v of %v", some.Lengths[0], some.Average, want.Lengths[first], want.Average)
	}
}

// TestPartialIndexHasWhatIsWanted: the postings of the words and names that were asked
// for, in files and chunks as in the whole, and no others.
func TestPartialIndexHasWhatIsWanted(t *testing.T) {
	scanned, entries, err := Scan(t.Context(), Source{Name: "x", Root: sample(t)}, Before{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := Memory(scanned.Meta, entries)
	var packed []Packed
	words := Dictionary{}
	for i := range entries {
		var f File
		s := store(t, &entries[i])
		if err := json.Unmarshal(s.about, &f); err != nil {
			t.Fatal(err)
		}
		packed = append(packed, Packed{f, s.analysis})
		words.Add(&entries[i])
	}
	part, err := Partial(scanned.Meta, packed, []string{"cursor", "seal"}, []string{"seal"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(part.parts[sectionTexts]); got != "/cursor/seal=sealcursorseal" {
		t.Errorf("terms %q", got)
	}
	for number := range part.terms.Len() {
		in, _ := whole.find(part.TermText(number))
		if string(part.terms.List(number)) != string(whole.terms.List(in)) || part.Frequency(number) != whole.Frequency(in) {
			t.Errorf("%s differs", part.TermText(number))
		}
	}
	if string(part.parts[sectionChunks]) != string(whole.parts[sectionChunks]) || string(part.parts[sectionDefined]) != string(whole.parts[sectionDefined]) {
		t.Error("chunks differ")
	}
	for i := range part.Files {
		if err := part.SetText(i, whole.packed(&whole.Files[i])); err != nil {
			t.Fatal(err)
		}
		got, err := part.Text(&part.Files[i])
		if want, _ := whole.Text(&whole.Files[i]); err != nil || string(got) != string(want) {
			t.Errorf("%s: %q, %v", part.Files[i].Path, got, err)
		}
	}
	if part.SetText(0, whole.packed(&whole.Files[2])) == nil {
		t.Error("another file's text was taken")
	}
	counted, err := Words(words.Pack())
	if err != nil {
		t.Fatal(err)
	}
	for number := range counted.terms.Len() {
		if in, ok := whole.Word(counted.TermText(number)); !ok || counted.Frequency(number) != whole.Frequency(in) {
			t.Errorf("%s is counted %d times", counted.TermText(number), counted.Frequency(number))
		}
	}
	for _, p := range packed {
		if err := words.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	if counted.terms.Len() < 20 || len(words) > 0 {
		t.Errorf("%d words, and %d are left without files", counted.terms.Len(), len(words))
	}
}

// FuzzUnpackDictionary: no bytes of a store make it fail otherwise than by an error.
func FuzzUnpackDictionary(f *testing.F) {
	f.Add(Dictionary{"cursor": 3, "seal": 1}.Pack())
	f.Fuzz(func(t *testing.T, packed []byte) {
		words, err := UnpackDictionary(packed)
		ix, other := Words(packed)
		if (err == nil) != (other == nil) {
			t.Fatalf("%v, and %v", err, other)
		}
		if err == nil && len(words) > ix.terms.Len() {
			t.Errorf("%d words of %d", len(words), ix.terms.Len())
		}
	})
}

// TestScanTakesWhatIsTheSame: a file that was not touched is kept, a renamed one is
// taken without being analysed, a changed one is read.
func TestScanTakesWhatIsTheSame(t *testing.T) {
	root := sample(t)
	source := Source{Name: "x", Root: root}
	first, entries, err := Scan(t.Context(), source, Before{}, Options{})
	if err != nil || first.Read != 4 {
		t.Fatalf("%d files were read: %v", first.Read, err)
	}
	before, kept := Before{Meta: first.Meta}, map[string]stored{}
	for i := range entries {
		s := store(t, &entries[i])
		kept[entries[i].Path] = s
		var f File
		if err := json.Unmarshal(s.about, &f); err != nil {
			t.Fatal(err)
		}
		before.Files = append(before.Files, f)
	}
	taken := []string{}
	before.Take = func(f File) (Entry, error) {
		taken = append(taken, f.Path)
		return kept[f.Path].read()
	}
	if err := os.Rename(filepath.Join(root, "web/page.ts"), filepath.Join(root, "web/page_test.ts")); err != nil {
		t.Fatal(err)
	}
	put(t, root, "empty.txt", "No longer.\n")
	report, entries, err := Scan(t.Context(), source, before, Options{Workers: 1})
	if err != nil || report.Read != 1 || report.Reused != 3 || report.Files != 4 || report.Lines != first.Lines+1 {
		t.Fatalf("%+v, %v", report, err)
	}
	said := []string{}
	for _, e := range entries {
		said = append(said, fmt.Sprint(e.Path, " ", e.Kept, " ", e.Flags&linguist.Test != 0))
	}
	want := []string{"README.md true false", "empty.txt false false", "seal/cursor.go true false", "web/page_test.ts false true"}
	if !reflect.DeepEqual(said, want) || !reflect.DeepEqual(taken, []string{"web/page.ts"}) {
		t.Errorf("%v, not %v; taken %v", said, want, taken)
	}
	before.Take = func(File) (Entry, error) { return Entry{}, errors.New("the store is away") }
	if report, _, err = Scan(t.Context(), source, before, Options{}); err != nil || report.Read != 2 {
		t.Errorf("without the store: %+v, %v", report, err)
	}
}

// TestEntryOfAnotherTextIsRefused: its chunks would lie beyond the text.
func TestEntryOfAnotherTextIsRefused(t *testing.T) {
	_, entries, err := Scan(t.Context(), Source{Name: "x", Root: sample(t)}, Before{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := store(t, &entries[0]), store(t, &entries[2])
	for _, mixed := range []stored{{a.about, a.analysis, b.text}, {b.about, a.analysis, b.text}, {a.about, a.analysis[:8], a.text}} {
		if _, err := mixed.read(); err == nil {
			t.Errorf("an entry with another's parts was read: %s", mixed.about)
		}
	}
}

// FuzzUnpack: no bytes of a store make it fail otherwise than by an error, and what
// it reads can be searched.
func FuzzUnpack(f *testing.F) {
	_, entries, err := Scan(f.Context(), Source{Name: "x", Root: sample(f)}, Before{}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range entries {
		s := store(f, &entries[i])
		f.Add(s.about, s.analysis, s.text)
	}
	f.Fuzz(func(t *testing.T, about, analysis, text []byte) {
		e, err := stored{about, analysis, text}.read()
		if err != nil {
			return
		}
		ix := Memory(Meta{Files: 1, Chunks: 1, Words: 1}, []Entry{e})
		source, err := ix.Text(&ix.Files[0])
		for i, c := range ix.Chunks {
			ix.Definitions(i)
			if err == nil {
				_ = source[c.Start:c.End]
			}
		}
		for term := range ix.terms.Len() {
			for p := ix.Postings(term); p.Next(); {
			}
		}
	})
}

// Memory is an index of some of a repository's files. Its lengths are in parts of
// the averages of the whole repository, which meta describes.
func Memory(meta Meta, entries []Entry) *Index {
	m, err := merge(context.Background(), meta, entries)
	if err != nil {
		panic(err)
	}
	return m.memory(len(entries))
}

// TestFilesFromElsewhereHaveASize: what a store returns is no longer than what is indexed.
func TestFilesFromElsewhereHaveASize(t *testing.T) {
	for size, want := range map[int]bool{0: true, maxFileSize: true, maxFileSize + 1: false, -1: false} {
		text := fmt.Sprintf(`{"path":"a.go","size":%d,"hash":"%s","blob":"%s"}`, size, strings.Repeat("0", 2*hashSize), strings.Repeat("0", 40))
		var f File
		if err := json.Unmarshal([]byte(text), &f); err == nil != want || want && f.Size != size {
			t.Errorf("%d bytes: %d, %v", size, f.Size, err)
		}
	}
}
