package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/tokens"
)

// Bounds of the data of one answer. What is beyond is left out, with a notice.
const (
	maxData   = 256 << 10 // bytes
	maxTokens = 25_000    // as package tokens counts
	maxParts  = 100       // parts that are not text, each described
)

// fits reports whether data is within both bounds. A token has a byte at least,
// so short data is not counted.
func fits(data []byte) bool {
	return len(data) <= maxData && (len(data) <= maxTokens || new(tokens.Counter).Count(string(data)) <= maxTokens)
}

// longNumbers is said of data that came as floats.
const longNumbers = "Whole numbers of more than 15 digits may be inexact in this answer."

// structuredOf returns the structured content as JSON, and what its reader must know of
// it. The text copy has the server's own spelling of numbers, which the SDK decoded to
// floats, so it is taken where it says the same.
func structuredOf(answer *mcp.CallToolResult, text string) (data json.RawMessage, remarks []string, err error) {
	if len(answer.Content) == 1 && copies(text, answer.StructuredContent) {
		return json.RawMessage(text), nil, nil
	}
	if data, err = json.Marshal(answer.StructuredContent); err != nil {
		return nil, nil, errors.New("its structured content is not JSON")
	}
	if inexact(answer.StructuredContent) {
		remarks = append(remarks, longNumbers)
	}
	return data, remarks, nil
}

// besideData is said of structured content beside which there are other texts or parts. They have no
// place in it, and the remarks are ours.
const besideData = "The server sent more beside this data, such as a text or a picture, which is not given here."

// repeats reports whether texts say nothing that is not in structured content: they are its copy, as the
// specification has it, or that of its one member, whole or of each of its items.
func repeats(texts []string, structured any) bool {
	if len(texts) == 0 || len(texts) == 1 && same(texts[0], structured) {
		return true
	}
	if object, is := structured.(map[string]any); is && len(object) == 1 {
		for _, structured = range object {
			if len(texts) == 1 && same(texts[0], structured) {
				return true
			}
		}
	}
	list, is := structured.([]any)
	return is && slices.EqualFunc(texts, list, same)
}

// same reports whether a text is a value, or the JSON of it, or blank.
func same(text string, value any) bool {
	return strings.TrimSpace(text) == "" || any(text) == value || copies(text, value)
}

// inexact reports whether a value has whole numbers that floats may have changed.
func inexact(value any) bool {
	const exact = 1 << 53
	switch v := value.(type) {
	case float64:
		return math.Abs(v) >= exact
	case []any:
		return slices.ContainsFunc(v, inexact)
	case map[string]any:
		for _, one := range v {
			if inexact(one) {
				return true
			}
		}
	}
	return false
}

// remarked is an outcome of data with a remark, if there is one.
func remarked(o result.Outcome, remark string) result.Outcome {
	if remark == "" || o.Fault() != nil {
		return o
	}
	page := result.Page{Returned: 1}
	if o.Page() != nil {
		page = *o.Page()
	}
	page.Remark = remark
	return result.Success(o.Data(), &page, "")
}

// copies reports whether a text is strict JSON of the same value.
func copies(text string, structured any) bool {
	var value any
	return strictjson.Check([]byte(text)) == nil && json.Unmarshal([]byte(text), &value) == nil && reflect.DeepEqual(value, structured)
}

// rowsIn returns the rows of a list of objects, or of an object whose one member
// is such a list and has the plain name of things; nil of anything else. The other
// shapes that servers use have no name for their rows that could be trusted, or one
// that says more of them ("failed", "not_deleted"), and stay as they are.
func rowsIn(data json.RawMessage) []json.RawMessage {
	var rows []json.RawMessage
	if json.Unmarshal(data, &rows) != nil {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil || len(object) != 1 {
			return nil
		}
		for name, only := range object {
			if !things.MatchString(name) || troubles.MatchString(name) || json.Unmarshal(only, &rows) != nil {
				return nil
			}
		}
	}
	for _, row := range rows {
		if !bytes.HasPrefix(bytes.TrimSpace(row), []byte("{")) {
			return nil
		}
	}
	return rows
}

// things are names of rows: plurals of one word, and words for any of them. troubles are not.
var (
	things   = regexp.MustCompile(`^(?:[a-z]+s|data|result|list|content|people|children)$`)
	troubles = regexp.MustCompile(`^(?:error|failure|warning|problem|reject|conflict|mismatche|omission|exclusion|deletion)s$`)
)

// rowsOutcome is a list of as many rows as fit. Half of them are tried where all
// do not fit, until one row alone is too large and becomes text.
func rowsOutcome(rows []json.RawMessage) result.Outcome {
	for shown := len(rows); shown > 0; shown /= 2 {
		list, err := json.Marshal(rows[:shown])
		if err != nil || !fits(list) {
			continue
		}
		page := &result.Page{Limit: shown, Returned: shown, More: shown < len(rows), Noun: "rows"}
		if page.More {
			page.Hint = fmt.Sprintf("Only the first %d of %d rows of the answer are given. Ask for less.", shown, len(rows))
		}
		return result.Success(list, page, "")
	}
	if len(rows) == 0 {
		return result.Success(json.RawMessage("[]"), &result.Page{Noun: "rows"}, "")
	}
	var notices []string
	if len(rows) > 1 {
		notices = append(notices, fmt.Sprintf("Only the first of %d rows of the answer is given, as a text. Ask for less.", len(rows)))
	}
	return textOutcome(string(rows[0]), nil, notices...)
}

// content is an answer that is not structured.
type content struct {
	Text  string `json:"text"`
	Parts []part `json:"parts,omitempty"`
}

// textOutcome is a text, clipped where it is too long, and the descriptions of
// the other parts, with notices of what is left out.
func textOutcome(text string, parts []part, notices ...string) result.Outcome {
	c := content{Text: clip(strings.ToValidUTF8(text, "\uFFFD")), Parts: parts[:min(len(parts), maxParts)]}
	if len(c.Text) < len(text) {
		notices = append(notices, fmt.Sprintf("Only the first %d of %d bytes of the answer's text are given. Ask for less.", len(c.Text), len(text)))
	}
	if left := len(parts) - len(c.Parts); left > 0 {
		notices = append(notices, fmt.Sprintf("%d more parts of the answer are left out.", left))
	}
	data, err := json.Marshal(c)
	switch {
	case err != nil:
		return result.Failed(err)
	case notices == nil:
		return result.Success(data, nil, "")
	}
	return result.Success(data, &result.Page{Returned: 1, More: true, Hint: strings.Join(notices, " ")}, "")
}

// clip shortens a text until it fits, at a character's border.
func clip(text string) string {
	for keep := min(len(text), maxData); !fits([]byte(text)); keep /= 2 {
		for keep > 0 && keep < len(text) && !utf8.RuneStart(text[keep]) {
			keep--
		}
		text = text[:min(keep, len(text))]
	}
	return text
}

// part describes content that is not text. Its bytes are not passed on.
type part struct {
	Type     string `json:"type"`
	MIMEType string `json:"mimeType,omitempty"`
	Bytes    int    `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`
}
