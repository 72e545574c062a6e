package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/result"
)

// partial remembers the incomplete lists of a turn until their next page is
// read. A person must hear of those that stay open.
type partial struct{ pages []openPage }

type openPage struct {
	tool, hint, next string
	returned         int
}

// note keeps an incomplete page, and forgets the one that the call continued.
func (p *partial) note(c Call, o result.Outcome) {
	if o.Page() == nil {
		return
	}
	if from := cursorOf(c.Args); from != "" {
		p.pages = slices.DeleteFunc(p.pages, func(q openPage) bool { return q.tool == c.Tool && q.next == from })
	}
	if o.Page().More {
		p.pages = append(p.pages, openPage{tool: c.Tool, hint: o.Page().Hint, next: o.Page().Next, returned: o.Page().Returned})
	}
}

// untold reports whether a list stayed incomplete without the model's words
// since the first result saying so.
func (p *partial) untold(said []Message) bool {
	if len(p.pages) == 0 {
		return false
	}
	var text strings.Builder
	read := false
	for _, m := range said {
		read = read || m.Role == ToolRole
		if read && m.Role == Assistant {
			text.WriteString(m.Text())
			text.WriteByte('\n')
		}
	}
	return !tellsIncomplete(text.String(), p.pages)
}

// hint joins what the tools themselves say about their incomplete answers.
func (p *partial) hint() string {
	var hints []string
	for _, q := range p.pages {
		if !slices.Contains(hints, q.hint) {
			hints = append(hints, q.hint)
		}
	}
	return strings.Join(hints, " ")
}

// incomplete finds the ways to say in English that a list is not whole. It
// would rather miss one than take an idle "more" for it: the price of a miss is
// a sentence said twice.
var incomplete = regexp.MustCompile(`(?i)\b(incomplete|not (?:the )?complete|truncated|partial (?:list|result|answer|view)s?|` +
	`not all of|there (?:are|is|may be|might be) (?:\w+ )?more\b|more (?:rows|results|records|entries|pages|items|matches) (?:exist|follow|are|remain)|` +
	`(?:next|further|more|another) pages?|and (?:\w+ )?more\b|more than the)`)

var denied = regexp.MustCompile(`(?i)\b(?:not|isn't|nothing is|no longer) (?:incomplete|truncated)`)

func tellsIncomplete(text string, pages []openPage) bool {
	text = denied.ReplaceAllString(text, "")
	if incomplete.MatchString(text) {
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
