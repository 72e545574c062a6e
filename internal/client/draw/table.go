package draw

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/result"
)

// Limits of a table in a terminal.
const (
	maxRows    = 50
	maxColumns = 8
)

// Rows returns the rows of a list with more than one; the text of an answer
// is enough for any other outcome.
func Rows(o result.Outcome) []result.Row {
	if rows := AllRows(o); len(rows) > 1 {
		return rows
	}
	return nil
}

// AllRows returns the rows of a list; none when it holds anything else.
func AllRows(o result.Outcome) []result.Row {
	data, _ := result.ParseData(o.Data())
	list, _ := data.([]any)
	if rows := result.Rows(list); len(rows) == len(list) {
		return rows
	}
	return nil
}

// Table prints rows as aligned columns, and which fields did not fit, or source text with
// its lines. width is that of the terminal; 0: lines are as long as they are.
func Table(w io.Writer, rows []result.Row, fields map[string]result.Field, width int) error {
	all := len(rows)
	rows = rows[:min(all, maxRows)]
	if all > 0 && codeKey(rows[0], fields) != "" {
		return listings(w, rows, fields, width)
	}
	columns, others := columnsOf(rows, fields)
	g := gridOf(rows, columns, fields)
	left := g.fit(columns, fields, width)
	others = append(others, left...)
	if _, err := io.WriteString(w, g.String()); err != nil {
		return err
	}
	if all > len(rows) {
		fmt.Fprintf(w, "Only the first %d of %d rows are shown.\n", len(rows), all)
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "More fields with --json: %s.\n", strings.Join(labelsOf(others, fields), ", "))
	}
	return nil
}

// columnsOf returns the columns that are shown, in the server's order, and the
// fields that are left out because there are too many. The amount is never one
// of those.
func columnsOf(rows []result.Row, fields map[string]result.Field) (columns, others []string) {
	var names []string
	for _, r := range rows {
		for _, name := range r.Keys {
			if !slices.Contains(names, name) && fields[name].Show != result.ShowDetail && useful(name, rows) {
				names = append(names, name)
			}
		}
	}
	free := maxColumns
	for _, name := range names {
		if fields[name].Amount {
			free--
		}
	}
	for _, name := range names {
		switch {
		case fields[name].Amount:
			columns = append(columns, name)
		case free > 0:
			columns = append(columns, name)
			free--
		default:
			others = append(others, name)
		}
	}
	return columns, others
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// useful reports whether a column has anything to read: some value that is
// neither empty, nor a generated id, nor an object.
func useful(name string, rows []result.Row) bool {
	return slices.ContainsFunc(rows, func(r result.Row) bool {
		switch v := r.Values[name].(type) {
		case nil, result.Row:
			return false
		case string:
			return v != "" && !uuid.MatchString(v)
		case []any:
			return len(v) > 0 && !slices.ContainsFunc(v, isObject)
		}
		return true
	})
}
