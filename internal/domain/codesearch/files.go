package codesearch

import (
	"context"
	"errors"
	"path"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Limits of what get_file_lines returns.
const (
	MaxLines = 400
	MaxText  = 100_000 // bytes of the file; a line that is longer is cut
)

// FileLines is a part of a file.
type FileLines struct {
	Repository string   `json:"repository"`
	FilePath   string   `json:"file_path"`
	StartLine  int      `json:"start_line"`
	EndLine    int      `json:"end_line"`
	TotalLines int      `json:"total_lines"`
	Text       string   `json:"text" field:"show=code"`
	Cut        bool     `json:"cut,omitempty" jsonschema_description:"The one line of text is longer than is returned"`
	Metadata   Metadata `json:"metadata"`
}

const fileLines = "get_file_lines"

func (s *Server) fileTools() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{
		Name: fileLines, Title: "Read lines of a file", Allow: everyone, Synonyms: []string{"source file"},
		Description: "Show lines of one file of a repository, as it was indexed. At most 400 lines and 100,000 bytes. Needs the repository and file_path of a result of search_code.",
		Untrusted:   []string{"repository", "file_path", "text", "language", "commit", "github_url", "web_url"},
	}, s.getFileLines)}
}

type getFileLines struct {
	Repository string `json:"repository" jsonschema:"minLength=1" jsonschema_description:"The repository's name" field:"from=search_code:repository"`
	FilePath   string `json:"file_path" jsonschema:"minLength=1" jsonschema_description:"The file's path in it" field:"from=search_code:file_path"`
	StartLine  int    `json:"start_line,omitempty" jsonschema:"minimum=1,maximum=10000000,default=1" jsonschema_description:"First line, from 1"`
	EndLine    int    `json:"end_line,omitempty" jsonschema:"minimum=1,maximum=10000000" jsonschema_description:"Last line, inclusive; by default as many as are allowed"`
}

// getFileLines reads from the index, so that only what was indexed can be read,
// whatever the path says.
func (s *Server) getFileLines(ctx context.Context, in getFileLines) (FileLines, error) {
	if in.EndLine != 0 && in.EndLine < max(1, in.StartLine) {
		return FileLines{}, fault.InvalidInput.New("The last line is before the first.").Instruct("Give start_line as the smaller number, or leave end_line out.").Fields("start_line", "end_line")
	}
	scope, err := scopeIn(ctx)
	if err != nil {
		return FileLines{}, err
	}
	names, err := s.visible(scope, in.Repository)
	if err != nil {
		return FileLines{}, err
	}
	f, err := s.store.File(ctx, names[0], path.Clean(strings.TrimPrefix(in.FilePath, "/")))
	switch {
	case errors.Is(err, ErrNoFile):
		return FileLines{}, errFileNotFound.New("There is no indexed file %q in %s.", in.FilePath, names[0]).With("repository", names[0])
	case err != nil:
		return FileLines{}, notIndexed([]Missing{{names[0], err}})
	}
	if in.StartLine > max(1, f.Lines) {
		return FileLines{}, fault.InvalidInput.New("The file has %d lines: there is no line %d.", f.Lines, in.StartLine).Instruct("Ask for lines that the file has.").Fields("start_line")
	}
	lines := FileLines{Repository: names[0], FilePath: f.Path, TotalLines: f.Lines}
	lines.cut(f.Text, max(1, in.StartLine), in.EndLine)
	lines.Metadata = s.options.Links.metadata(&f.Meta, &f.File, lines.StartLine, lines.EndLine)
	return lines, nil
}

// cut keeps some lines, as many as are allowed together, and of one that is longer its
// beginning. Of an empty file it has none: its last line is before its first.
func (l *FileLines) cut(text []byte, from, to int) {
	if to == 0 || to > from+MaxLines-1 {
		to = from + MaxLines - 1
	}
	l.StartLine, l.EndLine = from, from-1
	var kept strings.Builder
	n := 0
	for line := range strings.Lines(string(text)) {
		if n++; n < from {
			continue
		}
		if n == from && len(line) > MaxText {
			line, l.Cut = prefix(line, MaxText), true
		}
		if n > to || kept.Len()+len(line) > MaxText {
			break
		}
		kept.WriteString(line)
		l.EndLine = n
	}
	l.Text = strings.ToValidUTF8(kept.String(), "\uFFFD")
}
