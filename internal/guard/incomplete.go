package guard

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/pattern"
)

// incomplete returns the hints about lists of the turn whose next page was not
// read, unless the answer says that they are incomplete.
func incomplete(a Answer, e Evidence, results func() *data) string {
	var lists incompleteLists
	for _, c := range e.Calls {
		lists.record(c)
	}
	if len(lists) == 0 || saysIncomplete(a.After, lists) || isLookup(a, e, results) {
		return ""
	}
	return lists.hint()
}

// isLookup reports whether the question is about a thing that was found by its name, and
// the answer says nothing of how many there are, or of all.
func isLookup(a Answer, e Evidence, results func() *data) bool {
	if quantified.MatchString(e.Question) || quantified.MatchString(a.Whole()) {
		return false
	}
	n := len(results().named(e.Question))
	return n > 0 && n <= maxLookup
}

const maxLookup = 3 // rows that have the same name

// quantified matches what asks or speaks of how many things there are, or of all of them.
var quantified = pattern.New(`(?i)\b(?:how many|how much|which|who|there (?:are|is)|exactly|all|every\w*|each|list|any|most|least|total|altogether|average|count|number of|others?|everyone|only|none|nobody|no one|nothing else|\pL{3,}est|wer|welche\w*|wie ?viele?|alle\w*|liste|nur|kein\w*|niemand|insgesamt|jede\w*)\b`)

// incompleteLists are the lists of a turn whose next page was not read. The
// answer must say that they are incomplete.
type incompleteLists []incompletePage

type incompletePage struct {
	tool, hint, next string
	returned, total  int // total: 0 when it is not known
}

// unknown is the number of rows of a clipped answer; no text can name it.
const unknown = -1

// record keeps an incomplete page, and drops the one that the call continued.
func (l *incompleteLists) record(c Call) {
	*l = slices.DeleteFunc(*l, func(q incompletePage) bool { return q.tool == c.Tool && q.returned == unknown })
	page := c.Outcome.Page()
	if from := cursorOf(c.Args); page != nil && from != "" {
		*l = slices.DeleteFunc(*l, func(q incompletePage) bool { return q.tool == c.Tool && q.next == from })
	}
	if page != nil && page.More {
		*l = append(*l, incompletePage{tool: c.Tool, hint: page.Hint, next: page.Next, returned: page.Returned, total: page.Total})
	}
	if c.Clipped {
		hint := "Only a part of the answer of " + c.Tool + " could be read: it was too large. Ask for less of it."
		*l = append(*l, incompletePage{tool: c.Tool, hint: hint, returned: unknown})
	}
}

// hint joins the hints of the tools about their incomplete answers.
func (l incompleteLists) hint() string {
	var hints []string
	for _, q := range l {
		if !slices.Contains(hints, q.hint) {
			hints = append(hints, q.hint)
		}
	}
	return strings.Join(hints, " ")
}

// incompleteness matches the ways to say in English that a list is not complete.
// It does not match every "more": a missed one only repeats the hint.
var incompleteness = pattern.New(`(?i)\b(incomplete|not (?:the )?complete|truncated|partial (?:list|result|answer|view|sample|picture|set)s?|limited to (?:the first )?\d|` +
	`not all of|there (?:are|is|may be|might be|could be|must be) (?:\w+ ){0,2}(?:more|further|others)\b|more (?:are |is )?available|a page of\b|(?:may|might|could|must) be (?:\w+ )?others\b|more (?:\pL+ )?(?:exist|follow|remain)|(?:may|might|could) (?:\pL+ )?exist\b|only (?:been )?shown\b|more (?:rows|results|records|entries|pages|items|matches) are|` +
	`(?:next|further|more|another) pages?|and (?:\w+ )?more\b|more than the|first page|beyond (?:this|these|the first) (?:\w+ )?(?:\d+|page|list|results|records|rows|entries)\b|` +
	`only (?:\w+ ){0,2}subset\b|only (?:have|see|saw|got|received|read|shows?|covers?|includes?) (?:a )?(?:small )?(?:part|portion|excerpt)\b|part of (?:the|this|your|it)\b|goes on\b|(?:haven't|have not|hasn't|not) (?:been )?(?:\w+ )?(?:seen|loaded|read|fetched|shown)\b|` +
	`(?:list|results?|records?|rows?|output|pages?) (?:\w+ ){0,3}(?:cut (?:off|short)|capped)|not (?:the )?(?:full|whole|entire) (?:\w+ )?(?:list|result|picture|set)|` +
	`isn't (?:the )?(?:complete|everyone|everything|all)|more (?:\pL+ ){1,4}than (?:i|you) (?:was|were|am|can|could|got|see|saw)\b|the rest (?:of|is|are)\b|` +
	`so far\b|(?:sample|subset|excerpt|snippet) of\b|(?:can|could|only|i|we) see (?:here|so|now|from|on)\b|(?:ones|rows|people|entries|results|records|items|tickets|\pL+s) (?:that )?(?:i|we) (?:can|could|got|have|received|looked|saw|was|were|pulled|fetched|loaded)\b|` +
	`(?:returned|retrieved|fetched|loaded|pulled|visible|shown|displayed) (?:so far|here|to me|above|in this)\b|(?:next|another|second|more) (?:batch|set|chunk|results|rows|entries|ones)\b|(?:the |load |see |get |fetch |show )(?:rest|remainder|remaining)\b|(?:result|list|page|query|search|output)\pL* (?:is|was|are|were|got|has been) (?:\w+ )?(?:limited|capped|cut|truncated|partial|incomplete)|` +
	`(?:weren't|wasn't|aren't|isn't|didn't|haven't|hasn't|not) (?:all |been )?(?:returned|shown|included|loaded|listed|fetched|retrieved|read)\b|(?:full|complete|whole|entire) (?:list|set|picture|count|total)\b.{0,40}\b(?:unknown|needs?|would|requires?|may|might|could|longer|larger|bigger|don't|not)\b|` +
	`bisher|bislang|ausschnitt|teil der|nicht alle|weitere\pL* (?:geben|existier|einträge|zeilen)|` +
	`unvollständig|nicht (?:vollständig|alle)\b|nächsten? seite|(?:weitere|ersten|nur) (?:\d+|\pL+)|abgeschnitten|begrenzt auf|mindestens \d|` +
	`(?:actual|real|true) (?:number|count|headcount) (?:\w+ ){1,3}(?:higher|larger|bigger|greater))`)

var negated = pattern.New(`(?i)\b(?:not|isn't|nothing is|no longer) (?:incomplete|truncated)`)

func saysIncomplete(text string, pages []incompletePage) bool {
	text = negated.ReplaceAllString(strings.ReplaceAll(text, "’", "'"), "")
	if incompleteness.MatchString(text) {
		return true
	}
	for _, q := range pages {
		if !ofMore(q.returned).MatchString(text) && !q.tellsTotal(text) {
			return false
		}
	}
	return true
}

// tellsTotal reports whether a text has the number of all rows, or of those that are
// left out, which says beside a shorter list that there are more.
func (p incompletePage) tellsTotal(text string) bool {
	return p.total > p.returned && regexp.MustCompile(fmt.Sprintf(`\b(?:%d|%d)\b`, p.total, p.total-p.returned)).MatchString(text)
}

// ofMore matches what says that there are more rows than those n: "the first 5", "five
// out of 12".
func ofMore(n int) *regexp.Regexp {
	count := strconv.Itoa(n)
	if i := n - 2; i >= 0 && i < len(mention.Numbers) {
		count = `(?:` + count + `|` + mention.Numbers[i] + `)`
	}
	return regexp.MustCompile(`(?i)\b(?:(?:first|only|at least|more than|over) ` + count + `\b|` + count + `\+|` + count + ` (?:out )?of (?:the |a |about |roughly |some )*\d|` + count + ` (?:of|von) )`)
}

func cursorOf(args json.RawMessage) string {
	var a struct{ Cursor string }
	_ = json.Unmarshal(args, &a)
	return a.Cursor
}
