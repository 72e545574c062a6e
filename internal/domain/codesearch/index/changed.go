package index

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/checkout"
)

// Modified reports whether a file is not known to be as in the commit: it was changed
// since, or is not in it.
func (m *Meta) Modified(file string) bool {
	if m.Commit == "" {
		return false
	}
	if _, found := slices.BinarySearch(m.Changed, file); found || m.Unproven {
		return true
	}
	for i := range len(file) {
		if file[i] == '/' {
			if _, found := slices.BinarySearch(m.Changed, file[:i+1]); found {
				return true
			}
		}
	}
	return false
}

// maxChanged is how many names Changed has at most.
const maxChanged = 2000

// compare notes which files are not as in the commit that is checked out. A folder that
// is not in the commit of the repository around it is a part of none.
func (m *Meta) compare(ctx context.Context, c checkout.State, entries []Entry) {
	m.Commit, m.Remote, m.Within = c.Commit, c.Remote, strings.Join(c.Within, "/")
	if m.Commit == "" {
		return
	}
	texts := make([]checkout.Text, len(entries))
	for i := range entries {
		texts[i] = checkout.Text{Path: entries[i].Path, Name: entries[i].blob}
	}
	same, err := c.Has(ctx, texts)
	if errors.Is(err, checkout.ErrNoFolder) {
		m.Commit, m.Remote, m.Within = "", "", ""
		return
	}
	m.Changed = different(entries, same)
	if m.Unproven = err != nil || len(m.Changed) > maxChanged; m.Unproven {
		m.Changed = nil
	}
}

// different names the files that are not the same; where all of a folder are not, the
// folder alone, with a slash after its name.
func different(entries []Entry, same []bool) (names []string) {
	proven := map[string]bool{} // folders with a file that is the same
	for i := range entries {
		for at, isSame := entries[i].Path, same[i]; isSame && at != "."; {
			at = path.Dir(at)
			proven[at] = true
		}
	}
	for i := range entries {
		if same[i] {
			continue
		}
		name := entries[i].Path
		for at := path.Dir(name); at != "." && !proven[at]; at = path.Dir(at) {
			name = at + "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
