package draw

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// maxCodeLines is how many lines of each row a terminal shows; the page shows all of them.
const maxCodeLines = 12

// codeKey is the field of a row that holds source text; empty when there is none.
func codeKey(row result.Row, fields map[string]result.Field) string {
	for _, key := range row.Keys {
		if fields[key].Show == result.ShowCode && row.Text(key) != "" {
			return key
		}
	}
	return ""
}

// listings prints rows of source text one below the other.
func listings(w io.Writer, rows []result.Row, fields map[string]result.Field, width int) error {
	var out strings.Builder
	for i, row := range rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		listing(&out, row, codeKey(row, fields), width)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// listing prints one row of source text: its file and line, as editors open them, what it
// declares and its repository, and its first lines with their numbers.
func listing(out *strings.Builder, row result.Row, key string, width int) {
	start, _ := row.Number("start_line")
	last, _ := row.Number("end_line")
	first := start
	if later, ok := row.Number("snippet_line"); ok {
		first = later
	}
	lines := strings.Split(strings.TrimRight(row.Text(key), "\n"), "\n")
	heading := []string{fmt.Sprintf("%s:%.0f", plaintext.Escape(row.Text("file_path"), false), max(1, start))}
	for _, about := range []string{"symbol", "repository"} {
		if text := row.Text(about); text != "" {
			heading = append(heading, Short(text))
		}
	}
	fmt.Fprintln(out, strings.Join(heading, gap))
	shown := min(len(lines), maxCodeLines)
	digits := len(strconv.Itoa(int(first)+shown)) + 1
	for i, line := range lines[:shown] {
		line = fmt.Sprintf("%*.0f%s%s", digits, first+float64(i), gap, plaintext.Escape(strings.ReplaceAll(line, "\t", "    "), false))
		if width > 0 {
			line = Clip(line, width)
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	if last >= first+float64(shown) {
		fmt.Fprintf(out, "%*s%sto line %.0f\n", digits, "…", gap, last)
	}
}
