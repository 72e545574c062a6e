package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// separator is between two cells of a table, and nowhere else in it.
const separator = "|"

// Table writes the envelope of a list of objects as a model reads it in fewer
// tokens: a line of counts, the hint, the names of the columns, and one line a row.
// A cell is the value as it is; null is empty, an object or a list is JSON, and so
// is a text that could be taken for something else: no text can end its cell or
// its row. Marks around untrusted text stay. Any other answer is unchanged.
func Table(answer json.RawMessage) string {
	var e Envelope
	if json.Unmarshal(answer, &e) != nil || e.Status != StatusSuccess {
		return string(answer)
	}
	rows, columns, ok := tableRows(e.Data)
	if !ok {
		return string(answer)
	}
	lines := append(make([]string, 0, len(rows)+3), e.Metadata.line(len(rows)))
	if hint := e.Metadata.hintLine(); hint != "" {
		lines = append(lines, hint)
	}
	if len(rows) > 0 {
		lines = append(lines, header(columns))
	}
	cells := make([]string, len(columns))
	for _, row := range rows {
		for i, name := range columns {
			cells[i] = cell(row[name])
		}
		lines = append(lines, strings.Join(cells, separator))
	}
	return strings.Join(lines, "\n")
}

// line says in one line how many rows there are, and whether these are all.
func (m *Metadata) line(rows int) string {
	line := fmt.Sprintf("rows: %d", rows)
	if m == nil {
		return line
	}
	line += fmt.Sprintf(", hasMore: %t", m.HasMore)
	if m.Truncated && !m.HasMore {
		line += ", truncated: true"
	}
	if m.TotalEstimate != "" && m.TotalEstimate != fmt.Sprint(rows) {
		line += ", totalEstimate: " + textCell(m.TotalEstimate)
	}
	if m.NextOffset > 0 {
		line += fmt.Sprintf(", nextOffset: %d", m.NextOffset)
	}
	if m.NextCursor != "" {
		line += ", nextCursor: " + textCell(m.NextCursor)
	}
	return line
}

func (m *Metadata) hintLine() string {
	if m == nil {
		return ""
	}
	words := strings.FieldsFunc(m.Hint, func(r rune) bool { return unicode.IsSpace(r) || breaks(r) })
	if len(words) == 0 {
		return ""
	}
	return "hint: " + strings.Join(words, " ")
}

func header(columns []string) string {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = textCell(name)
	}
	return strings.Join(names, separator)
}

// tableRows reads a list of objects, and the names of their members in the order
// in which they first come. ok is false for anything else.
func tableRows(data json.RawMessage) (rows []map[string]jsontext.Value, columns []string, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return nil, nil, false
	}
	for d.PeekKind() == '{' {
		row, err := tableRow(d, &columns)
		if err != nil {
			return nil, nil, false
		}
		rows = append(rows, row)
	}
	return rows, columns, d.PeekKind() == ']'
}

func tableRow(d *jsontext.Decoder, columns *[]string) (map[string]jsontext.Value, error) {
	row := make(map[string]jsontext.Value, len(*columns))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if !slices.Contains(*columns, name) {
			*columns = append(*columns, name)
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		row[name] = value.Clone()
	}
	_, err := d.ReadToken()
	return row, err
}

// cell writes a value; a missing one is empty, as null is.
func cell(v jsontext.Value) string {
	switch v.Kind() {
	case 'n', 0:
		return ""
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil { // it is not valid UTF-8
			return inJSON(strings.ToValidUTF8(string(v), "\uFFFD"))
		}
		return textCell(string(text))
	case '{', '[':
		_ = v.Compact() // it was read before
		return inJSON(string(v))
	}
	return string(v)
}

// textCell writes a text as it is, or as JSON where it needs that.
func textCell(text string) string {
	if text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text[:1], "\"{[") &&
		!strings.ContainsFunc(text, ends) {
		return text
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // only invalid UTF-8 fails, and it is replaced
	return inJSON(string(quoted))
}

// breaks reports whether a character could end a line, or hide what follows.
func breaks(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// ends reports whether a character could end a cell or a line.
func ends(r rune) bool { return string(r) == separator || breaks(r) }

// inJSON escapes what ends cells and lines, or hides what follows: in JSON, it can
// only be in a text.
func inJSON(encoded string) string {
	if !strings.ContainsFunc(encoded, ends) {
		return encoded
	}
	var out strings.Builder
	for _, r := range encoded {
		if ends(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
