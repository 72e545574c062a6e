package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"countersign.dev/internal/domain/codesearch/checkout"
	"countersign.dev/internal/domain/codesearch/linguist"
)

// Source is a folder to index.
type Source struct {
	Name string // of the repository, as people see it
	Root string // its folder

	Without []string // folders inside, by their paths with slashes, that are other sources'
}

// Options of an update. The zero value is good.
type Options struct {
	Workers  int            // how many files are read at once; 0: one for each processor
	Progress func(Progress) // is called after every file, from one goroutine at a time
	Now      func() time.Time
	Settled  bool // leave the index as it is when nothing changed, also its time
}

// Progress is how far an update is.
type Progress struct {
	Files, Total int
	Bytes        int64 // of the files so far
	TotalBytes   int64
}

// Report says what an update did.
type Report struct {
	Meta
	Read   int // files that were analysed
	Reused int // files that were taken from the index before

	Compared int // of the reused ones, those that were read, and that this index proves to be the same by their times
	Took     time.Duration
}

// Update brings the index file of a source up to date. Files whose text is the
// same are taken from the index before, wherever they are now. The new index
// replaces the old one in one step: readers, and a process that is killed
// at any point, has one of them whole. A file that cannot be read is skipped and
// counted.
func Update(ctx context.Context, file string, src Source, o Options) (Report, error) {
	began := time.Now()
	old, err := Open(file)
	if err == nil {
		defer old.Close()
	} // an index that cannot be opened is built anew
	before := reusableOf(old)
	r, entries, err := scan(ctx, src, before, o)
	if err != nil {
		return Report{}, err
	}
	if o.Settled && old != nil && r.Same(old.Meta) {
		r.Meta, r.Took = old.Meta, time.Since(began)
		return r, nil
	}
	before.fill(entries)
	err = write(ctx, file, r.Meta, entries)
	r.Took = time.Since(began)
	return r, err
}

// Same reports whether a scan found what was indexed before, and by files' times
// alone: those that had to be read are proven by their times in a newer index. One
// with a time in the future is not: it is read each time, and counts when it changed.
func (r *Report) Same(before Meta) bool {
	return r.Read+r.Compared == 0 && r.Root == before.Root && r.Commit == before.Commit && r.Remote == before.Remote && r.Skipped == before.Skipped && r.Files == before.Files &&
		r.Within == before.Within && r.Unproven == before.Unproven && slices.Equal(r.Changed, before.Changed)
}

// former is an index whose files a scan may take over.
type former interface {
	meta() Meta
	unchanged(f found, proof func(old *File) bool) (Entry, bool)
	same(f found, language string, src []byte) (Entry, bool)
}

// scan analyses what changed in a source.
func scan(ctx context.Context, src Source, old former, o Options) (Report, []Entry, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	root, err := os.OpenRoot(src.Root)
	if err != nil {
		return Report{}, nil, fmt.Errorf("%s cannot be indexed: %w", src.Root, plainPath(err))
	}
	defer root.Close()
	head := checkout.At(src.Root)
	w, err := walk(ctx, root, src.Without)
	if err != nil {
		return Report{}, nil, fmt.Errorf("%s cannot be indexed: %w", src.Root, err)
	}
	u := &update{root: root, head: head, moved: old.meta().Root != src.Root, now: o.Now().Truncate(time.Second), old: old, options: o, entries: make([]Entry, len(w.files)), files: w.files, skipped: w.skipped}
	if err := u.run(ctx); err != nil {
		return Report{}, nil, err
	}
	entries := slices.DeleteFunc(u.entries, func(e Entry) bool { return e.Path == "" })
	meta := Meta{Name: src.Name, Root: src.Root, Indexed: u.now.UTC(), Skipped: u.skipped}
	meta.total(entries)
	if before := old.meta(); u.read+u.compared == 0 && !u.moved && before.Files == meta.Files && before.Commit == head.Commit && before.Remote == head.Remote && !before.Unproven {
		meta.Commit, meta.Remote, meta.Within, meta.Changed = before.Commit, before.Remote, before.Within, before.Changed
	} else {
		meta.compare(ctx, head, entries)
	}
	if err := ctx.Err(); err != nil { // nothing was proven
		return Report{}, nil, err
	}
	return Report{Meta: meta, Read: u.read, Reused: u.reused, Compared: u.compared}, entries, nil
}

// update is one run. The mutex guards what the workers count.
type update struct {
	root    *os.Root
	head    checkout.State
	now     time.Time
	old     former
	moved   bool // the old index is of another folder, whose times prove nothing
	options Options
	files   []found
	entries []Entry // by file; without a path: skipped

	mu                    sync.Mutex
	progress              Progress
	read, reused, skipped int
	compared              int
}

func (u *update) run(ctx context.Context) error {
	u.progress.Total = len(u.files)
	for _, f := range u.files {
		u.progress.TotalBytes += f.size
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range u.options.Workers {
		workers.Go(func() {
			a := new(analyser)
			defer a.closeFolder()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(u.files) {
					return
				}
				u.one(a, i)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// one analyses or reuses one file.
func (u *update) one(a *analyser, i int) {
	f := u.files[i]
	e, reused, ok := u.entry(a, f)
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !ok:
		u.skipped++
	case reused:
		u.reused++
	default:
		u.read++
	}
	if ok {
		u.entries[i] = e
	}
	u.progress.Files++
	u.progress.Bytes += f.size
	if u.options.Progress != nil {
		u.options.Progress(u.progress)
	}
}

// entry returns the entry of a file. A file that makes the analysis panic is
// skipped like one that cannot be read.
func (u *update) entry(a *analyser, f found) (e Entry, reused, ok bool) {
	defer func() {
		if recover() != nil {
			clear(a.payloads)
			a.touched = a.touched[:0]
			ok = false
		}
	}()
	if e, ok := u.old.unchanged(f, func(*File) bool { return !u.moved && proves(u.old.meta().Indexed, f.latest()) }); ok {
		return e, true, true
	}
	src, ok := a.read(u.root, f)
	if !ok {
		return e, false, false
	}
	if !proves(u.now, f.latest()) { // nor would a new index: it is not worth one
		if e, ok := u.old.unchanged(f, func(old *File) bool { return old.hash == hashOf(src) }); ok {
			return e, true, true
		}
	}
	language := linguist.LanguageOf(f.path, src)
	if e, ok := u.old.same(f, language, src); ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.compared++
		return e, true, true
	}
	e = a.file(File{Path: f.path, Language: language, Flags: linguist.ContentFlags(f.path, language, src), Modified: f.modified, blob: u.head.Name(src)}, src)
	e.Flags |= linguist.PathFlags(f.path)
	return e, false, true
}

// FileOf is the file of a repository's index in a folder. Names that differ
// have files that differ.
func FileOf(folder, name string) string { return filepath.Join(folder, SafeName(name)+".csx") }

// SafeName writes a name so that files and other stores can be called by it. Names
// that differ stay different.
func SafeName(name string) string {
	safe := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' && i > 0:
			safe = append(safe, c)
		default: // capitals too: some file systems do not tell them apart
			const digits = "0123456789abcdef"
			safe = append(safe, '_', digits[c>>4], digits[c&15])
		}
	}
	return string(safe)
}
