package codesearch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	outcome "countersign.dev/internal/result"
)

// Resources are the lines of files, for clients of MCP: to read one is a call of
// get_file_lines.
type Resources struct{}

// Template describes the addresses.
func (Resources) Template() outcome.Resource {
	return outcome.Resource{URI: scheme + "{repository}/{+path}{#lines}", Name: "file", Title: "Lines of a file", MIMEType: "text/plain",
		Description: "Lines of a file as it was indexed, such as #L10-L40: 400 at most, and without lines the first ones. An answer that has fewer of them has their own address."}
}

// Tool is the tool that reads lines of a file.
func (Resources) Tool() string { return fileLines }

// Reader is the call that reads an address.
func (Resources) Reader(uri string) (tool string, args json.RawMessage, ok bool) {
	in, ok := linesAt(uri)
	if !ok {
		return "", nil, false
	}
	args, err := json.Marshal(in)
	return fileLines, args, err == nil
}

// linesAt are the lines that an address is of.
func linesAt(uri string) (in getFileLines, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	rest, lines, _ := strings.Cut(rest, "#")
	repository, file, found := strings.Cut(rest, "/")
	var err, failed error
	in.Repository, err = url.PathUnescape(repository)
	in.FilePath, failed = url.PathUnescape(file)
	return in, ok && found && err == nil && failed == nil && in.Repository != "" && in.FilePath != "" && in.readLines(lines)
}

// readLines reads L10, L10-L40 or nothing.
func (in *getFileLines) readLines(text string) bool {
	if text == "" {
		return true
	}
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		last = first
	}
	var ok, also bool
	in.StartLine, ok = lineNumber(first)
	in.EndLine, also = lineNumber(last)
	return ok && also && in.StartLine <= in.EndLine
}

func lineNumber(text string) (int, bool) {
	digits, ok := strings.CutPrefix(text, "L")
	n, err := strconv.ParseUint(digits, 10, 23)
	return int(n), ok && err == nil && n > 0
}

// Content is the text of the lines, and their own address when there are more at uri.
func (Resources) Content(uri string, answer json.RawMessage) (of, text string, err error) {
	var read struct{ Data FileLines }
	err = json.Unmarshal(answer, &read)
	got := read.Data
	if asked, ok := linesAt(uri); ok && got.EndLine < min(cmp.Or(asked.EndLine, got.TotalLines), got.TotalLines) {
		uri = address(got.Repository, got.FilePath, got.StartLine, got.EndLine)
	}
	return uri, got.Text, err
}

// Links are the places that search_code found.
func (Resources) Links(tool string, answer json.RawMessage) (links []outcome.Resource) {
	var found struct{ Data []Match }
	if tool != searchTool || json.Unmarshal(answer, &found) != nil {
		return nil
	}
	for _, m := range found.Data {
		about := fmt.Sprintf("Lines %d to %d of %s in %s", m.StartLine, m.EndLine, m.FilePath, m.Repository)
		links = append(links, outcome.Resource{URI: m.URI, Name: path.Base(m.FilePath), Description: about, MIMEType: "text/plain"})
	}
	return links
}
