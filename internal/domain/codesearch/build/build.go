// Package build is `countersign index`: it updates the indexes of some repositories,
// once or as long as it watches them, and shows how far it is. It knows no
// configuration file and no server. Start with Run.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/fault"
)

// Repository is a folder to index and its name.
type Repository struct{ Name, Path string }

// Store is a place for indexes that is no folder.
type Store interface {
	// Update brings the index of a source up to date.
	Update(ctx context.Context, src index.Source, o index.Options) (index.Report, error)
}

// Beside returns the folder of the index of one folder, such as one inside of it.
type Beside func(folder string) (string, error)

// Options of a run. Folder, Beside or Store is required.
type Options struct {
	Known      []Repository  // the configured ones
	Folders    []string      // to index; none: all known ones
	Folder     string        // of the indexes
	Beside     Beside        // finds the folder of each index where Folder is empty; nil: it must not be
	Store      Store         // where they are instead; nil: in Folder
	Embeddings embed.Service // none: no vectors are made
	Watch      bool          // go on, and update what changes, until the context ends
	Out        io.Writer     // one line for each repository
	Err        io.Writer     // progress, when it is a terminal
}

// watchPause is how long a watch waits between two looks at the folders.
const watchPause = 2 * time.Second

// Run updates the indexes. One that fails does not keep the others from being
// updated.
func Run(ctx context.Context, o Options) error {
	all, err := o.chosen()
	if err != nil {
		return err
	}
	known := make([]failures, len(all))
	for first := true; ; first = false {
		if err := o.update(ctx, all, known, first); !o.Watch {
			return err
		}
		pause := time.NewTimer(watchPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
	}
}

// chosen lists the repositories to index. A folder that is not known is named by
// its own name.
func (o *Options) chosen() ([]Repository, error) {
	switch {
	case len(o.Folders) == 0 && len(o.Known) == 0:
		return nil, errors.New("name at least one folder, or configure codesearch.repositories")
	case o.Folder == "" && o.Beside == nil && o.Store == nil:
		return nil, errors.New("codesearch.index is not configured: name a folder for the indexes with --index")
	case len(o.Folders) == 0:
		return o.Known, nil
	}
	var all []Repository
	for _, given := range o.Folders {
		path, err := filepath.Abs(given)
		if err != nil {
			return nil, err
		}
		one := Repository{filepath.Base(path), path}
		if i := slices.IndexFunc(o.Known, func(r Repository) bool { return filepath.Clean(r.Path) == path }); i >= 0 {
			one = o.Known[i]
		}
		if err := o.distinct(all, one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// distinct returns an error where the index of a folder would replace that of another one: of one before it,
// or of a configured one, who may see which would see this one, too.
func (o *Options) distinct(before []Repository, one Repository) error {
	other := func(r Repository) bool { return r.Name == one.Name && r.Path != one.Path }
	switch {
	case !o.together():
	case slices.ContainsFunc(before, other):
		return fmt.Errorf("two of the folders are called %s, and one index would replace the other: give them names in codesearch.repositories", one.Name)
	case slices.ContainsFunc(o.Known, other):
		return fmt.Errorf("%s is called as another folder is in codesearch.repositories, %s, whose index it would replace: give it a name of its own there", one.Path, one.Name)
	}
	return nil
}

// together reports whether all indexes are in one place.
func (o *Options) together() bool { return o.Folder != "" || o.Store != nil }

// failures are those of a repository: one without embeddings is indexed all the same.
type failures struct{ index, embeddings failing }

// failing is what a watch knows of something that failed: it is tried again after a pause, and
// printed when it fails otherwise.
type failing struct {
	last  string
	until time.Time
}

func (f *failing) paused() bool { return time.Now().Before(f.until) }

// ended notes how a try ended. It returns what is to be printed: nothing after a success, or
// the same failure.
func (f *failing) ended(err error) string {
	if err == nil {
		*f = failing{}
		return ""
	}
	before := f.last
	f.last, f.until = fault.Sentence(err), time.Now().Add(embed.Pause)
	if f.last == before {
		return ""
	}
	return f.last
}

// update updates each index. Later rounds of a watch print only failures that are new.
func (o *Options) update(ctx context.Context, all []Repository, known []failures, first bool) (failed error) {
	for i, r := range all {
		if known[i].index.paused() {
			continue
		}
		bar := newBar(o.Err, r.Name, first)
		report, err := o.index(ctx, o.source(r), index.Options{Progress: bar.show, Settled: !first})
		bar.end()
		if err == nil && o.Embeddings.On() && o.Store == nil && !known[i].embeddings.paused() {
			o.embed(ctx, r, &known[i].embeddings, first)
		}
		if ctx.Err() != nil {
			return errStopped
		}
		if said := known[i].index.ended(err); said != "" {
			fmt.Fprintf(o.Out, "%s\tfailed: %s\n", r.Name, said)
		}
		switch {
		case err != nil:
			failed = errors.New("not every repository was indexed")
		case first:
			fmt.Fprintf(o.Out, "%s\t%d files, %d lines; %d read, %d as before, %d skipped; %.1f s\n", r.Name, report.Files, report.Lines, report.Read, report.Reused, report.Skipped, report.Took.Seconds())
		}
	}
	return failed
}

// errStopped is the error of a run that a signal ended.
var errStopped = errors.New("stopped: repositories that were not finished keep the index that they had")

// source is what is indexed of a repository. A configured one inside of it is not: others may see that.
func (o *Options) source(r Repository) index.Source {
	s := index.Source{Name: r.Name, Root: r.Path}
	for _, other := range o.Known {
		if inside, err := filepath.Rel(r.Path, other.Path); err == nil && inside != "." && filepath.IsLocal(inside) {
			s.Without = append(s.Without, filepath.ToSlash(inside))
		}
	}
	return s
}

// index updates one index.
func (o *Options) index(ctx context.Context, src index.Source, options index.Options) (index.Report, error) {
	if o.Store != nil {
		return o.Store.Update(ctx, src, options)
	}
	file, err := o.file(src.Name, src.Root)
	if err != nil {
		return index.Report{}, err
	}
	return index.Update(ctx, file, src, options)
}

// file is the file of a folder's index.
func (o *Options) file(name, path string) (string, error) {
	folder := o.Folder
	if folder == "" {
		var err error
		if folder, err = o.Beside(path); err != nil {
			return "", err
		}
	}
	return index.FileOf(folder, name), nil
}

// embed makes the vectors of an index. A service that fails makes nothing fail:
// searches go by words until a later run.
func (o *Options) embed(ctx context.Context, r Repository, known *failing, first bool) {
	file, err := o.file(r.Name, r.Path)
	if err != nil {
		return // the index was not made either
	}
	bar := newBar(o.Err, r.Name, first)
	report, err := embed.Update(ctx, o.Embeddings, file, bar.embedded)
	bar.end()
	if ctx.Err() != nil {
		return
	}
	if said := known.ended(err); said != "" {
		fmt.Fprintf(o.Out, "%s\tnot all of it has embeddings: %s\n", r.Name, said)
	}
	if err == nil && (first || report.Made > 0) {
		fmt.Fprintf(o.Out, "%s\t%d chunks: %d embeddings made, %d as before\n", r.Name, report.Chunks, report.Made, report.Kept)
	}
}
