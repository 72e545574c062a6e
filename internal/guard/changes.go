package guard

import (
	"slices"
	"strings"

	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/pattern"
)

// The lines about changes.
const (
	waits   = "Nothing has been changed yet: “%s” waits for your approval."
	noProof = "Nothing was changed: the change that this answer speaks of has not been made."
)

// changes returns the line about a change that waits while the answer does not say
// so, or about one that the answer reports and no tool did.
func changes(a Answer, e Evidence, results func() *data) (c Correction) {
	sentences := wording.Sentences(longQuote.ReplaceAllString(a.Whole(), "“…”"))
	report := reportOfChange(sentences, e, results)
	if report != "" {
		c.About = []string{report}
	}
	reported := report != "" || leavesOrderOpen(sentences, e)
	for _, call := range e.Calls {
		if call.Outcome.Pending() == nil || len(sentences) == 0 {
			continue
		}
		if reported || !slices.ContainsFunc(sentences, saysWaiting) {
			c.Kind, c.Text = Waiting, strings.Replace(waits, "%s", call.name(), 1)
			return c
		}
	}
	if reported {
		c.Kind, c.Text = Unproven, noProof
	}
	return c
}

var waiting = pattern.New(`(?i)\b(?:approv(?:e|al|es)|confirm(?:ation|s)?|card|countersign(?:ed|ature)?|review|a?waiting|a?waits?|pending|nothing (?:has been|was|is) changed|authoriz(?:e|ation)|go-ahead|your (?:ok|okay|consent|decision|sign-off|call|nod|yes)|green light|yet to be|up to you|until you|once you|say (?:yes|the word|so)|(?:not|n't|nothing) (?:\pL+ ){0,4}yet|prepared|queued)\b|(?:^|[^\pL])(?:bestätig|genehmig|freigabe|freigeb|zustimm|warte)\pL*`)

func saysWaiting(sentence string) bool { return waiting.MatchString(sentence) }

var (
	participle = `(` + alternatives(classOf) + `)`
	adverbs    = `(?:(?:now|just|also|already|both|all|successfully|officially|permanently|recently) )*`

	firstPerson = pattern.New(`\b(?:i|we)(?:'ve| have| had)? ` + adverbs + `(?:gone ahead and |went ahead and |been able to |managed to )?` + adverbs + participle + `\b(.*)`)
	phrasal     = pattern.New(`\b(?:i|we)(?:'ve| have| had)? ` + adverbs + `(?:gone ahead and |went ahead and )?(?:(let [\pL' ]{1,40} know|reached out|wrote to|dropped [\pL' ]{1,40} a (?:line|note))|(put in|handed in)|(took care|signed off|(?:switched|turned) (?:on|off)|put [\pL' ]{1,40} on hold))\b`)
	perfect     = pattern.New(`\b(?:has|have|'ve|got|(?:is|are) now) ` + adverbs + `(?:been |being )?` + adverbs + participle + `\b`)
	state       = pattern.New(`\b(?:is|are|'s|was|were) ` + adverbs + participle + `\b`)
	recent      = pattern.New(`\b` + participle + ` (?:last (?:week|month|year|quarter|night)|yesterday|today|this (?:morning|week|month|afternoon)|earlier today)\b`)
	bare        = pattern.New(`\b` + participle + ` successfully\b|\bsuccessfully ` + participle + `\b|\bcompleted the ()\b`)
	fragment    = pattern.New(`^[^\pL]*(?:(?:ok|okay|yes|great|sure),? )?(?:[\pL'-]+ ){0,3}` + participle + `[.!:]?(?:$| [^\pL]*$)`)
	started     = pattern.New(`^[^\pL]*(?:(?:ok|okay|yes|great|sure),? )?` + participle + ` (?:it|them|that|the|your|his|her|their|all|both|an?|#?\d|[$€£]\d|…|[\pL]+-\d|\pL+'s)(?:[^\pL]|$)`)
	label       = pattern.New(`^[^\pL]*(?:[\pL'-]+ ){0,3}` + participle + `: `)
	phrases     = pattern.New(`\b(?:went through|(?:is|are) (?:now )?gone|took effect|(?:is|are) now in effect|t(?:aken|akes|ook) care of|no longer (?:appears?|exists?|listed)|effective (?:today|immediately)|got the green light|(?:is|are) (?:now )?live|went (?:up|down)|(?:been|was) let go|(?:is|are) disabled|from now on)\b`)
	finished    = pattern.New(`^[^\pL]*(?:(?:ok|okay|yes|great|alright),? )?(?:all )?(?:it's |that's )?(?:done|all set|complete|completed|finished|success)\b`)
)

// presentation matches what a model may do to its own answer.
var presentation = pattern.New(`\b(?:tables?|lists?|columns?|rows?|totals?|order|summary|view|format|figures|results?|answers?|below|above|points?|bold|notes? for|breakdown|chart|question)\b`)

var request = pattern.New(`\b(?:request|approval|confirmation|card|review)\b`)

// classesOf are the classes of a word, of which one must be proven. What was
// submitted was sent, and a payment that was sent was paid.
func classesOf(word, before string) []string {
	switch {
	case word == "sent" && payment.MatchString(before):
		return []string{"pay"}
	case word == "sent":
		return []string{"send", "submit"}
	}
	return []string{classOf[word]}
}

var payment = pattern.New(`\bpayments?\b`)

// asking matches what is done with a request for a change: "'ve submitted a request
// to close it".
var (
	asked  = `^(?:has|have|'ve) ` + adverbs + `(?:been )?` + adverbs + `(?:submitted|created|opened|filed|logged|sent)\b`
	asking = pattern.New(asked + `(?: [\pL'-]+){0,4} (?:request|(?:for|to) (?:your |you for )?(?:approval|confirmation|review))\b`)
	isSent = pattern.New(asked)
	theAsk = pattern.New(`^[^\pL]*(?:the|an?|your) (?:[\pL'-]+ ){0,2}(?:request|confirmation(?: card)?|card) (?:[^,;:]* )?$`)
)

// prepared matches what is done with a request before it is answered.
var prepared = pattern.New(`^(?:is|are|was|has been) ` + adverbs + `(?:set up|created|submitted|filed|opened)\b`)

// asksOnly reports whether what the sentence reports at that position is a request.
func asksOnly(s string, at int) bool {
	return asking.MatchString(s[at:]) || isSent.MatchString(s[at:]) && theAsk.MatchString(s[:at])
}

// reportOfChange returns the first sentence that says that something was changed that
// neither a receipt nor a row of the data says; empty when there is none.
func reportOfChange(sentences []string, e Evidence, results func() *data) string {
	wanted := wantsChange(e)
	at := slices.IndexFunc(sentences, func(sentence string) bool {
		s := withoutQuotes(sentence)
		small := cutOff.Replace(strings.ToLower(s))
		if strings.HasSuffix(small, "?") || saidInRefusal(sentence, e) {
			return false
		}
		return reportedByAssistant(small, wanted, e) || reportedInGerman(small, wanted, e, results) || reportedOfRow(s, small, wanted, e, results) || wanted && reportsTheEnd(s, small, e)
	})
	if at < 0 {
		return ""
	}
	return sentences[at]
}

// reportsTheEnd reports whether a sentence says that what was asked for is done, and not
// only prepared.
func reportsTheEnd(s, small string, e Evidence) bool {
	at := finished.FindStringIndex(small)
	return at != nil && !made(e, "") && !preparing.MatchString(small[at[1]:]) && !(hasPending(e) && saysWaiting(s))
}

var preparing = pattern.New(`^ \pL+ing\b`)

// cutOff writes what is said of lists that end early without the word for a change.
var cutOff = strings.NewReplacer("cut off", "truncated", "cut short", "truncated")

// leavesOrderOpen reports whether the person ordered a change, none was made, and no
// sentence says so, asks back or speaks of a plan.
func leavesOrderOpen(sentences []string, e Evidence) bool {
	if len(sentences) == 0 || !isOrder(e.Question) || made(e, "") || hasPending(e) {
		return false
	}
	looked := len(e.Calls)+len(e.Earlier) > 0
	return !slices.ContainsFunc(sentences, func(s string) bool {
		small := strings.ToLower(s)
		return strings.HasSuffix(small, "?") || unmade.MatchString(small) || inability.MatchString(small) || restricted.MatchString(small) || planned.MatchString(small) ||
			looked && wasSo.MatchString(small)
	})
}

// wasSo matches what says that things already are as the person wants them. It says that
// nothing was changed only where a result was read: without one the assistant cannot know.
var wasSo = pattern.New(`\b(?:already|unchanged|untouched|(?:stays?|remains?|stayed|remained) (?:the same|as|in|at|on|with)|left (?:it|them|that|this|everything)|as (?:it|they|things) (?:is|are|was|were)|same as before)\b`)

// isOrder reports whether a question begins with a verb that orders a change.
func isOrder(question string) bool {
	words := wording.Words(question)
	first := slices.IndexFunc(words, func(w string) bool { return !slices.Contains(polite, w) })
	if first < 0 || !slices.Contains(imperatives, words[first]) || written.MatchString(strings.ToLower(question)) {
		return false
	}
	if first == 0 && strings.HasSuffix(strings.TrimSpace(question), "?") { // "refund tickets?"
		return false
	}
	return first+1 == len(words) || !slices.Contains(informing, words[first+1])
}

// written matches what an assistant itself can change: its answer.
var written = pattern.New(`\b(?:tables?|lists?|columns?|summary|overview|chart|breakdown|format|wording|paragraph|bullets?)\b`)

// planned matches what speaks of a change that is not made yet.
var planned = pattern.New(`\b(?:your (?:approval|confirmation|go-ahead)|(?:to|you|please) (?:approve|confirm|review)|waiting|waits?|pending)\b`)

var (
	polite      = strings.Fields("please can could would will you kindly now just ok okay yes hey hi and then also so let's i want to")
	informing   = strings.Fields("me us on about") // "update me on the tickets"
	imperatives = strings.Fields("delete remove terminate fire erase approve reject decline close resolve solve update change raise increase bump lower reduce promote cancel revert undo assign reassign submit send notify reimburse refund create add revoke grant archive reopen dismiss")
)

// relative and afterRelative match what is around a relative clause: "in the form I
// sent."
var (
	relative      = pattern.New(`\b(?:the|an?|this|that|my)(?: [\pL-]+){1,2} $`)
	afterRelative = pattern.New(`^(?:[.,;:)]|$| (?:is|are|was|were|had|has|earlier|before|above)\b)`)
)

// deals matches what a company closes, other than its assistant: "we've closed $275k".
var deals = pattern.New(`^ (?:[$€£]\s?\d|(?:\w+ )?deals?\b)`)

// nothingDone matches an object by which a verb reports nothing: "I deleted nothing."
var nothingDone = pattern.New(`^ (?:nothing|none|neither|no)\b`)

// reportedByAssistant reports whether the assistant says that it changed something.
func reportedByAssistant(s string, wanted bool, e Evidence) bool {
	if m := phrasal.FindStringSubmatchIndex(s); m != nil && !unmade.MatchString(clauseBefore(s, m[0])) && !made(e, phrasalClass(m)) {
		return true
	}
	m := firstPerson.FindStringSubmatchIndex(s)
	if m == nil || unmade.MatchString(clauseBefore(s, m[0])) {
		return false
	}
	word, rest := s[m[2]:m[3]], s[m[4]:m[5]]
	if nothingDone.MatchString(rest) || strings.HasSuffix(s[:m[0]], "(") && strings.HasPrefix(rest, ")") && strings.Contains(strings.ToLower(e.Question), s[m[0]:m[3]]) { // "3 invoices (I approved)" has the person's words
		return false
	}
	if classOf[word] == "close" && !wanted && deals.MatchString(rest) || relative.MatchString(s[:m[0]]) && afterRelative.MatchString(rest) {
		return false
	}
	if presentation.MatchString(rest) || request.MatchString(rest) && hasPending(e) {
		return false
	}
	return !made(e, classOf[word])
}

// phrasalClass is the class of what a match of phrasal says was done; empty: any.
func phrasalClass(m []int) string {
	switch {
	case m[2] >= 0:
		return "send"
	case m[4] >= 0:
		return "submit"
	}
	return ""
}

// reports are the patterns by which a sentence says that a thing was changed. All but
// the first need a participle.
var reports = []*pattern.Pattern{phrases, perfect, state, recent, bare, fragment, started, label}

// hasParticiple reports whether a text has a word for a change, where the patterns find words.
func hasParticiple(small string) bool {
	for word := range strings.FieldsFuncSeq(small, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		if classOf[word] != "" {
			return true
		}
	}
	return false
}

// reportedOfRow reports whether the sentence says that a thing was changed. A row
// that says the same of it is as good as a receipt.
func reportedOfRow(s, small string, wanted bool, e Evidence, results func() *data) bool {
	patterns := reports
	if !hasParticiple(small) { // most sentences, and the other patterns are slow
		patterns = reports[:1]
	}
	for _, form := range patterns {
		for _, m := range form.FindAllStringSubmatchIndex(small, -1) {
			if unmade.MatchString(clauseBefore(small, m[0])) || unmade.MatchString(small[m[0]:m[1]]) && form != phrases {
				continue
			}
			if hasPending(e) && theAsk.MatchString(clauseBefore(small, m[0])) && prepared.MatchString(small[m[0]:]) {
				continue
			}
			if form == phrases && hasPending(e) && strings.HasPrefix(small[m[0]:], "effective") { // from when it will be so
				continue
			}
			word := marking(captured(small, m), small[m[1]:])
			if classOf[word] == "close" && !wanted && deals.MatchString(small[m[1]:]) {
				continue
			}
			if form == recent && classOf[word] == "update" { // every row was, and says when
				continue
			}
			if !wanted && !isEffect(form, word) || presentation.MatchString(small[:m[1]]) && !wanted {
				continue
			}
			if form == perfect && hasPending(e) && asksOnly(small, m[0]) {
				continue
			}
			proven := func(class string) bool { return made(e, class) || rowSays(results(), class, s, e.Question) }
			if !slices.ContainsFunc(classesOf(word, clauseBefore(small, m[0])), proven) {
				return true
			}
		}
	}
	return false
}

// isEffect reports whether words say that something was done when no one asked for a change:
// they report a success, or a decision about a row. Other words for what happened to rows are
// how data is reported: salaries were raised, deals moved, tickets assigned.
func isEffect(effect *pattern.Pattern, word string) bool {
	return effect == bare || (effect == perfect || effect == recent) && slices.Contains(decisions, classOf[word])
}

var decisions = strings.Fields("delete approve reject close pay send submit grant")

// as matches the state that something is marked with: "marked as paid".
var as = pattern.New(`^ (?:as|to) ` + adverbs + participle + `\b`)

// marking returns the word that says what was done. What is marked, set, recorded
// or filed as paid is said to be paid.
func marking(word, rest string) string {
	m := as.FindStringSubmatch(rest)
	if m == nil || !slices.Contains(markings, word) {
		return word
	}
	return m[1]
}

var markings = strings.Fields("marked set recorded filed logged registered")

func captured(s string, m []int) string {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return s[m[i]:m[i+1]]
		}
	}
	return ""
}

// clauseBefore is the part of the clause before a position.
func clauseBefore(s string, at int) string {
	before := s[:at]
	for _, end := range []string{"; ", " but ", " – ", " — ", ": "} {
		if i := strings.LastIndex(before, end); i >= 0 {
			before = before[i+len(end):]
		}
	}
	return before
}

// wantsChange reports whether the person asked for a change, or a tool was called
// that makes one.
func wantsChange(e Evidence) bool {
	for _, c := range e.Calls {
		if c.changes() {
			return true
		}
	}
	if n := len(e.Asked); n > 0 && len(e.Calls) == 0 && hasOrder(e.Asked[n-1]) { // "did that work?": of what was asked for before
		return true
	}
	return hasOrder(e.Question)
}

// hasOrder reports whether a message has a verb that orders a change, and is no question
// for facts.
func hasOrder(text string) bool {
	words := wording.Words(text)
	if len(words) == 0 || slices.Contains(questions, words[0]) {
		return false
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		after, only := orderBefore[w]
		if slices.Contains(orders, w) && (!only || slices.Contains(after, next)) && !slices.Contains(informing, next) {
			return true
		}
	}
	return false
}

// questions are the words with which people ask for facts.
var questions = strings.Fields("who whom whose what what's which when where why how how's is are was were did does has have had any wer wen wem was welche welcher welches wann wo warum wie wieviel ist sind war hat haben gibt")

// orderBefore has the words before which these are orders: "open a ticket" and "do it",
// not "open tickets?" and "who do I ask".
var orderBefore = map[string][]string{
	"open": strings.Fields("a an another the this that new it one up"),
	"do":   strings.Fields("it that this so the what"),
}

// orders are the verbs with which people ask for a change.
var orders = strings.Fields("delete remove terminate fire erase offboard deactivate disable approve authorize reject decline deny close resolve settle update change adjust modify edit correct raise increase bump lower reduce cut create add open file log register send submit email notify tell solve finish complete promote let assign reassign transfer escalate cancel revert undo restore withdraw reopen schedule book reserve pay refund reimburse set mark move rename save archive publish grant revoke reset unlock promote hire do give go yes confirm get " +
	"löschen lösche lösch entfernen entferne kündigen genehmigen genehmige freigeben ablehnen schließen schließe ändern ändere setzen setze erhöhen erhöhe senken senke senden sende schicken schicke erstellen erstelle anlegen lege zuweisen weise buchen buche stornieren bezahlen markieren markiere verschieben erledigen")

func hasPending(e Evidence) bool {
	return slices.ContainsFunc(e.Calls, func(c Call) bool { return c.Outcome.Pending() != nil })
}

var quotedText, longQuote = pattern.New(`“[^”]*”|"[^"]*"`), pattern.New(`“[^”\n]*[.!?] [^”\n]*”`) // the latter of several sentences

// withoutQuotes removes quoted text: others wrote it.
func withoutQuotes(s string) string { return quotedText.ReplaceAllString(s, "…") }

var (
	germanReport = pattern.New(`(?:^|[^\pL])(?:habe|haben|hat|wurde|wurden|ist|sind)(?: [^ ]+){0,8} (` + alternatives(wording.Participles) + `)(?:[^\pL]|$)|^[^\pL]*(erledigt)(?:[^\pL]|$)|(?:ist|sind) (?:\pL+ ){0,2}(durch|wirksam|in kraft)(?:[.,!;]|$)|(?:^| )(ab (?:jetzt|sofort))(?:[^\pL]|$)`)
	germanUnmade = pattern.New(`(?:^|[^\pL])(?:nicht|nichts|kein\pL*|noch|wenn|sobald|falls|würde|werden|soll|möchtest|kann|könnte|muss|erst)(?:[^\pL]|$)`)
)

func alternatives(forms map[string]string) string { return strings.Join(sortedKeys(forms), "|") }

// reportedInGerman reports whether a sentence says that something was changed. As in
// English, a state of a row counts only where the person asked for a change.
func reportedInGerman(small string, wanted bool, e Evidence, results func() *data) bool {
	m := germanReport.FindStringSubmatch(small)
	if m == nil || germanUnmade.MatchString(small) {
		return false
	}
	own := strings.Contains(small, "ich habe ") || strings.Contains(small, "habe ich ")
	if !own && !wanted {
		return false
	}
	class := wording.Participles[m[1]]
	return !made(e, class) && (own || !rowSays(results(), class, small, e.Question))
}
