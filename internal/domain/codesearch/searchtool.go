package codesearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch/glob"
	"countersign.dev/internal/domain/codesearch/linguist"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// everyone may call the tools; which repositories they show is decided by the
// roles of each.
var everyone = []access.Role{access.Employee}

// The pages of search_code.
const (
	maxPage     = 20
	defaultPage = 5
)

// The budget of an answer's rows, in tokens of about four bytes.
const (
	defaultBudget = 4000
	besideSnippet = 120 // tokens of a row besides its snippet
	minSnippet    = 120 // bytes
	perToken      = 4
)

// Match is a row of search_code.
type Match struct {
	Result
	URI string         `json:"uri" jsonschema_description:"The address at which MCP clients read it as a resource"`
	Why []query.Reason `json:"explanation,omitempty" jsonschema_description:"The parts of the score, in order, when explain was set"`

	rank  int
	stamp int64
}

// Position is where a row is in the order of one search.
type Position struct {
	Rank  int   `json:"r"` // from 1
	Stamp int64 `json:"s"` // of what was searched, and how
}

// Key implements [tool.Keyed].
func (m Match) Key() Position { return Position{m.rank, m.stamp} }

const searchTool = "search_code"

// scheme begins the addresses of files: code://repository/path#L1-L20.
const scheme = "code://"

// address is that of some lines of a file.
func address(repository, file string, first, last int) string {
	return fmt.Sprintf("%s%s/%s#L%d-L%d", scheme, url.PathEscape(repository), (&url.URL{Path: file}).EscapedPath(), first, last)
}

func (s *Server) searchTools() []tool.Tool {
	return []tool.Tool{tool.List(tool.Spec{
		Name: searchTool, Title: "Search code", Allow: everyone, Page: maxPage, DefaultPage: defaultPage,
		Synonyms: []string{"code", "function", "source", "implementation", "implement", "where", "repository", "file"},
		Description: "Find places in the source code of the company's repositories, by a name (ListenAndServe, Session.request) or a question (where are cursors sealed?). " +
			"Returns files with lines, best first. Read more of a file with get_file_lines.",
		Noun: "places", Narrow: "more words, repository, path or language", Untrusted: []string{"repository", "file_path", "match_snippet", "symbol", "language", "commit", "github_url", "web_url", "uri", "detail"},
	}, s.searchCode)}
}

type searchCode struct {
	Query      string `json:"query" jsonschema:"minLength=1" jsonschema_description:"A name, a question, or a message as a program printed it; what is between quotes is sought word for word" field:"aka=about|how|where"`
	Repository string `json:"repository,omitempty" jsonschema_description:"Only this repository" field:"from=list_repositories:name"`
	Path       string `json:"path,omitempty" jsonschema_description:"Only this folder or file, or a pattern such as internal/*/auth* or **/*_test.go"`
	Language   string `json:"language,omitempty" jsonschema_description:"Only this language, such as Go"`
	MaxTokens  int    `json:"max_tokens,omitempty" jsonschema:"minimum=200,maximum=20000,default=4000" jsonschema_description:"About how long the places may be; longer snippets are cut, and what has no room is on the next page"`
	Explain    bool   `json:"explain,omitempty" jsonschema_description:"Show what each score is made of"`
}

func (s *Server) searchCode(ctx context.Context, in searchCode, w tool.Window[Position]) ([]Match, error) {
	scope, err := scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	first := 0
	if w.After != nil {
		first = w.After.Rank
	}
	budget := in.MaxTokens
	if budget == 0 {
		budget = defaultBudget
	}
	q := Query{
		Text: in.Query, First: first, Limit: min(first+w.Limit, query.MaxHits), Repository: in.Repository, Path: in.Path, Language: linguist.LanguageNamed(in.Language), Explain: in.Explain,
		Snippet: max(minSnippet, perToken*(budget/max(1, w.Limit-1)-besideSnippet)),
	}
	if err := checkPath(in.Path); err != nil {
		return nil, err
	}
	all, err := s.find(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	rows := []Match{}
	for i, r := range all.results {
		rows = append(rows, Match{Result: r.Result, Why: r.why, rank: first + i + 1, stamp: all.stamp,
			URI: address(r.Repository, r.FilePath, r.StartLine, r.EndLine)})
	}
	fit := fitting(rows, budget)
	tool.Fit(ctx, fit)
	all.more = (all.more || first+len(rows) == query.MaxHits) && fit == len(rows) && len(rows) < w.Limit // the last page
	s.remark(ctx, in.Query, all, w.After != nil && len(rows) > 0 && w.After.Stamp != all.stamp)
	return rows, nil
}

// checkPath refuses a pattern that would find nothing, whatever is there.
func checkPath(path string) error {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return fault.InvalidInput.New("A path does not leave its repository.").Instruct("Name it from the repository's own folder, without \"..\".").Fields("path")
	}
	r := query.Request{Path: path}
	switch err := glob.Check(r.Pattern()); {
	case errors.Is(err, glob.ErrAlternatives):
		return fault.InvalidInput.New("A path has no alternatives in braces.").Instruct("Leave the braces out, or search once for each alternative.").Fields("path")
	case err != nil:
		return fault.InvalidInput.New("The path is no valid pattern.").Instruct("Close the brackets of the pattern, or leave them out: * is a part of a name, ** any number of folders, ? a character, [a-z] one of some.").Fields("path")
	}
	return nil
}

// fitting is how many rows a budget has room for.
func fitting(rows []Match, budget int) int {
	for i := range rows {
		text, _ := json.Marshal(rows[i]) // texts and numbers always encode
		if budget -= len(text) / perToken; budget < 0 {
			return i
		}
	}
	return len(rows)
}

// remark says what a reader must know of the rows, also that their order changed between two pages.
func (s *Server) remark(ctx context.Context, text string, all answer, changed bool) {
	sentences := all.remarks(ctx, s.store, text)
	if changed {
		sentences = append(sentences, "The index or the ranking has changed since the page before: places may be missing or repeated.")
	}
	if len(sentences) > 0 {
		tool.Remark(ctx, strings.Join(sentences, " "))
	}
}

// remarks say what a reader must know of an answer: what was searched when it has no places,
// the end of a ranking that is not that of what matches, repositories that could not be searched, and embeddings that were not
// there.
func (all answer) remarks(ctx context.Context, store Store, text string) (sentences []string) {
	switch {
	case all.before+len(all.results) > 0:
	case !query.HasWords(text):
		sentences = append(sentences, "The query has no word to search for: words of one letter, numbers and signs are in no index.")
	default:
		sentences = append(sentences, all.searched(ctx, store))
	}
	if all.more {
		sentences = append(sentences, "Only the best places are ranked, and others have words of the query, too: narrow it by more words, repository, path or language.")
	}
	sentences = append(sentences, notSearched(all.missing)...)
	if all.note != "" {
		sentences = append(sentences, all.note)
	}
	return sentences
}

// notSearched says how many repositories could not be searched, and why.
func notSearched(missing []Missing) (sentences []string) {
	absent, unreadable := 0, 0
	for _, m := range missing {
		if isUnreadable(m.Err) {
			unreadable++
		} else {
			absent++
		}
	}
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{absent, "repository is not indexed yet and was", "repositories are not indexed yet and were"},
		{unreadable, "repository has an index that cannot be read and was", "repositories have indexes that cannot be read and were"},
	} {
		switch {
		case c.n == 1:
			sentences = append(sentences, "1 more "+c.one+" not searched.")
		case c.n > 1:
			sentences = append(sentences, fmt.Sprintf("%d more %s not searched.", c.n, c.many))
		}
	}
	return sentences
}

// shownSearched is how many repositories an answer without places names.
const shownSearched = 3

// searched says which commits an answer without places is about, and how old their
// indexes are: a result has its own.
func (all answer) searched(ctx context.Context, store Store) string {
	if len(all.names) == 0 {
		return "There is no repository that you may search."
	}
	described, err := store.Describe(ctx, all.names)
	if err != nil {
		return "Nothing matches."
	}
	var said []string
	for i, d := range described {
		if d.Err != nil {
			continue
		}
		about := all.names[i] + " (indexed " + d.Meta.Indexed.UTC().Format("2006-01-02 15:04 UTC")
		if d.Meta.Commit != "" {
			about += " at commit " + d.Meta.Commit[:min(12, len(d.Meta.Commit))]
		}
		said = append(said, about+")")
	}
	if more := len(said) - shownSearched; more > 0 {
		said = append(said[:shownSearched], fmt.Sprintf("%d more", more))
	}
	return "Nothing matches in " + strings.Join(said, ", ") + "."
}
