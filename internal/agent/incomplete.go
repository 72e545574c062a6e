package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/result"
)

// incompleteLists are the lists of a turn whose next page was not read. The
// answer must say that they are incomplete.
type incompleteLists struct{ pages []incompletePage }

type incompletePage struct {
	tool, hint, next string
	returned         int
}

// record keeps an incomplete page, and drops the one that the call continued.
func (p *incompleteLists) record(c Call, o result.Outcome) {
	p.pages = slices.DeleteFunc(p.pages, func(q incompletePage) bool { return q.tool == c.Tool && q.returned == unknown })
	if o.Page() == nil {
		return
	}
	if from := cursorOf(c.Args); from != "" {
		p.pages = slices.DeleteFunc(p.pages, func(q incompletePage) bool { return q.tool == c.Tool && q.next == from })
	}
	if o.Page().More {
		p.pages = append(p.pages, incompletePage{tool: c.Tool, hint: o.Page().Hint, next: o.Page().Next, returned: o.Page().Returned})
	}
}

// unknown is the number of rows of a clipped answer; no text can name it.
const unknown = -1

// clipped notes that the model reads only a part of a tool's answer, until it
// calls the tool again.
func (p *incompleteLists) clipped(tool string) {
	hint := "Only a part of the answer of " + tool + " could be read: it was too large. Ask for less of it."
	if !slices.ContainsFunc(p.pages, func(q incompletePage) bool { return q.hint == hint }) {
		p.pages = append(p.pages, incompletePage{tool: tool, hint: hint, returned: unknown})
	}
}

// unreported reports whether a list stayed incomplete and no text of the model
// since the first result says so.
func (p *incompleteLists) unreported(added []Message) bool {
	if len(p.pages) == 0 {
		return false
	}
	var text strings.Builder
	read := false
	for _, m := range added {
		read = read || m.Role == ToolRole
		if read && m.Role == Assistant {
			text.WriteString(m.Text())
			text.WriteByte('\n')
		}
	}
	return !saysIncomplete(text.String(), p.pages)
}

// hint joins the hints of the tools about their incomplete answers.
func (p *incompleteLists) hint() string {
	var hints []string
	for _, q := range p.pages {
		if !slices.Contains(hints, q.hint) {
			hints = append(hints, q.hint)
		}
	}
	return strings.Join(hints, " ")
}

// incompleteness matches the ways to say in English that a list is not complete.
// It misses one rather than match an unrelated "more": a miss costs a sentence
// that is said twice.
var incompleteness = regexp.MustCompile(`(?i)\b(incomplete|not (?:the )?complete|truncated|partial (?:list|result|answer|view)s?|` +
	`not all of|there (?:are|is|may be|might be) (?:\w+ )?more\b|more (?:rows|results|records|entries|pages|items|matches) (?:exist|follow|are|remain)|` +
	`(?:next|further|more|another) pages?|and (?:\w+ )?more\b|more than the)`)

var negated = regexp.MustCompile(`(?i)\b(?:not|isn't|nothing is|no longer) (?:incomplete|truncated)`)

func saysIncomplete(text string, pages []incompletePage) bool {
	text = negated.ReplaceAllString(text, "")
	if incompleteness.MatchString(text) {
		return true
	}
	for _, q := range pages {
		n := strconv.Itoa(q.returned)
		if !regexp.MustCompile(`(?i)\b(?:(?:first|only|at least|more than|over) ` + n + `\b|` + n + `\+|` + n + ` of )`).MatchString(text) {
			return false
		}
	}
	return true
}

func cursorOf(args json.RawMessage) string {
	var a struct{ Cursor string }
	_ = json.Unmarshal(args, &a)
	return a.Cursor
}
