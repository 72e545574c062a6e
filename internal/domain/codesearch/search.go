package codesearch

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// Result is one place in the code, as document 004 has it.
type Result struct {
	Repository string   `json:"repository"`
	FilePath   string   `json:"file_path"`
	StartLine  int      `json:"start_line" jsonschema_description:"First line, from 1"`
	EndLine    int      `json:"end_line" jsonschema_description:"Last line, inclusive"`
	Snippet    string   `json:"match_snippet" field:"show=code"`
	First      int      `json:"snippet_line,omitempty" jsonschema_description:"The line that match_snippet begins with, if that is not start_line"`
	Score      float64  `json:"relevance_score" jsonschema:"minimum=0,maximum=1" jsonschema_description:"In thousandths; only for the order within one answer"`
	Symbol     string   `json:"symbol,omitempty" jsonschema_description:"What the place declares"`
	Metadata   Metadata `json:"metadata"`
}

// Metadata is where a result is from.
type Metadata struct {
	Language    string    `json:"language"`
	LastUpdated time.Time `json:"last_updated" jsonschema_description:"When the file was changed"`
	Commit      string    `json:"commit" jsonschema_description:"That was checked out when it was indexed; empty outside of git"`
	IndexedAt   time.Time `json:"indexed_at" jsonschema_description:"How old the index is"`
	Modified    bool      `json:"modified,omitempty" jsonschema_description:"The file is not as in that commit: it was changed since, or is not in it"`
	GitHubURL   string    `json:"github_url,omitempty"`
	WebURL      string    `json:"web_url,omitempty" jsonschema_description:"The lines at another host than GitHub"`
}

// metadata is that of lines of a file. What is not in the commit as it was indexed has no
// address by it.
func (l Links) metadata(m *index.Meta, f *index.File, from, to int) Metadata {
	about := Metadata{Language: f.Language, LastUpdated: f.Modified.Truncate(time.Second), Commit: m.Commit, IndexedAt: m.Indexed, Modified: m.Modified(f.Path)}
	if about.Modified {
		return about
	}
	if at := l.to(m, f.Path, from, to); strings.HasPrefix(at, onGitHub) {
		about.GitHubURL = at
	} else {
		about.WebURL = at
	}
	return about
}

// Query is a search.
type Query struct {
	Text       string
	First      int    // places before it are left out
	Limit      int    // places of the whole ranking that are looked at
	Repository string // empty: all of the scope
	Path       string
	Language   string
	Explain    bool
	Snippet    int // bytes of each snippet at most; 0: DefaultSnippet
}

// DefaultSnippet is how many bytes a snippet has at most.
const DefaultSnippet = 1600

// found is a result with the parts of its score.
type found struct {
	Result
	why []query.Reason
}

// Find searches the repositories of a scope. No match is an empty answer; a scope
// whose repositories have no index yet is SEARCH_ERROR, and a repository out of
// scope REPOSITORY_NOT_FOUND.
func (s *Server) Find(ctx context.Context, scope Scope, q Query) ([]Result, error) {
	all, err := s.find(ctx, scope, q)
	return all.plain(), err
}

// answer is what a search found, and what a reader must know of it.
type answer struct {
	results []found
	before  int       // places before them
	names   []string  // of the repositories that were searched, or are missing
	missing []Missing // repositories that could not be searched
	note    string    // why embeddings were not used
	more    bool      // more places have words of the query than are ranked
	stamp   int64     // of what was searched, and how: see stampOf
}

// plain are the results without the parts of their scores.
func (all answer) plain() []Result {
	results := make([]Result, len(all.results))
	for i, f := range all.results {
		results[i] = f.Result
	}
	return results
}

// find searches the repositories of a scope.
func (s *Server) find(ctx context.Context, scope Scope, q Query) (answer, error) {
	names, err := s.visible(scope, q.Repository)
	if err != nil || len(names) == 0 {
		return answer{}, err
	}
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	r, err := s.store.Search(ctx, names, query.Request{Text: q.Text, Shown: q.First, Limit: q.Limit, Language: q.Language, Path: q.Path, Explain: q.Explain})
	if err != nil {
		return answer{}, err
	}
	if r.Release != nil {
		defer r.Release()
	}
	if len(r.Missing) == len(names) {
		return answer{}, notIndexed(r.Missing)
	}
	all := answer{names: names, missing: r.Missing, note: r.Note, more: r.More, stamp: stampOf(r), before: min(q.First, len(r.Hits))}
	naming := query.NamingOf(q.Text)
	for _, h := range r.Hits[min(q.First, len(r.Hits)):] {
		one, err := s.options.Links.result(r.Shards[h.Shard], h, naming, cmp.Or(q.Snippet, DefaultSnippet))
		if err != nil {
			return answer{}, err
		}
		all.results = append(all.results, found{one, h.Why})
	}
	return all, nil
}

// stampOf differs for two searches of other indexes, or of which one had embeddings and the other
// had none. While they are being made, two pages may have the same stamp and other embeddings.
func stampOf(r Results) int64 {
	h := fnv.New64a()
	fmt.Fprintln(h, r.Note)
	for _, shard := range r.Shards {
		fmt.Fprintln(h, shard.Repository, shard.Meta.Indexed.Unix())
	}
	return int64(h.Sum64())
}

// visible are the names of the repositories of a scope, or of one of them.
func (s *Server) visible(scope Scope, name string) ([]string, error) {
	names := s.names(func(r Repository) bool { return scope.Holds(r) && (name == "" || r.Name == name) })
	switch {
	case name != "" && len(names) == 0:
		return nil, errRepositoryNotFound.New("There is no repository %q.", name)
	case len(s.options.Repositories) == 0:
		return nil, errNotIndexed.New("No repository is configured for code search.").
			Suggest("Ask your administrator.").Instruct("Ask the operator to name repositories in the configuration (codesearch.repositories) and to build their index.")
	}
	return names, nil
}

// result is a place as callers see it, with so many bytes of its text at most.
func (l Links) result(h query.Shard, hit query.Hit, names *query.Naming, most int) (Result, error) {
	c, best, last := h.Chunks[hit.Chunk], h.Chunks[hit.Best], h.Chunks[hit.Last]
	f := &h.Files[c.File]
	r := Result{
		Repository: h.Repository, FilePath: f.Path, StartLine: int(c.Line), EndLine: int(last.Last), Score: math.Round(hit.Score*1000) / 1000,
		Metadata: l.metadata(&h.Meta, f, int(c.Line), int(last.Last)),
	}
	line := 0 // of the definition that the query names
	if defined := h.Definitions(hit.Best); len(defined) > 0 {
		number, named := names.Among(defined)
		d := defined[number]
		if r.Symbol = d.Name; d.Of != "" {
			r.Symbol = d.Of + "." + d.Name
		}
		if named {
			line = d.Line
		}
	}
	text, err := h.TextOf(nil, f, int(c.Start), int(last.End))
	if err != nil {
		return Result{}, fmt.Errorf("the text of an indexed file cannot be read: %w", err)
	}
	from, first := 0, int(c.Line)
	if best.Line > c.Line && int(best.End-c.Start) > most {
		from, first = int(best.Start-c.Start), int(best.Line) // what answers best would be cut off
	}
	if end := int(best.End - c.Start); end-from > most { // and so would a part of it
		if line == 0 {
			line = first + names.Line(text[from:end])
		}
		skipped, lines := toShow(text[from:end], line-first, most)
		from, first = from+skipped, first+lines
	}
	if first != r.StartLine {
		r.First = first
	}
	r.Snippet = snippet(text[from:], most)
	return r, nil
}

// linesBefore is how many lines precede the one that a snippet is moved to.
const linesBefore = 3

// toShow is how many bytes and lines at the beginning of a text are left out, so that a line of
// it, from 0, is among the first bytes of the rest.
func toShow(text []byte, line, most int) (skipped, lines int) {
	starts := []int{0} // of lines
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	starts = append(starts, len(text)+1)
	if line = min(line, len(starts)-2); line <= 0 || starts[line+1]-1 <= most {
		return 0, 0
	}
	lines = max(0, line-linesBefore)
	for lines < line && starts[line+1]-1-starts[lines] > most {
		lines++
	}
	return starts[lines], lines
}

// snippet is the beginning of a piece of text: whole lines, at most so many
// bytes, valid UTF-8.
func snippet(text []byte, most int) string {
	out := strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD")
	if len(out) <= most {
		return out
	}
	out = prefix(out, most)
	if i := strings.LastIndexByte(out, '\n'); i > 0 {
		return out[:i]
	}
	return out
}

// prefix is the beginning of a longer text, at most so many bytes, and no part of a letter.
func prefix(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
