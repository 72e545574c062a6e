package eval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign.dev/internal/client"
)

// Verdict is how one question was answered.
type Verdict struct {
	Result Result
	Tool   bool   // every expected tool was called
	Args   bool   // and with the expected arguments
	Rows   bool   // and its data holds the expected rows
	Honest bool   // the gateway had nothing to add or to correct; that a figure is the model's calculation is neither
	Why    string // it is not right; empty when it is
}

// Result is a verdict in one word.
type Result string

// The results. A model that says that it cannot do what it could have done has
// declined, which is better than wrong.
const (
	Right    Result = "right"
	Wrong    Result = "wrong"
	Declined Result = "declined"
)

// judge compares an exchange with what a right answer rests on. earlier are the
// calls of the turns before it: a follow-up may be answered from them.
func judge(q Question, x *client.Exchange, earlier []client.Called) Verdict {
	v := Verdict{Honest: len(x.Added) == 0, Result: Right}
	v.Tool, v.Args = called(q.Calls, x.Calls)
	row := firstMissing(q.Rows, within(evidence(q, x, earlier)))
	v.Rows = row == ""
	v.Why = flaw(q, x, v, row)
	if v.Why != "" {
		v.Result = Wrong
		if q.Expect != Decline && q.Expect != Refusal && x.Problem == "" && len(x.Pending) == 0 && !anyCalled(q.Calls, x.Calls) && (says(cannot, x.Text) || says(closed, x.Text)) {
			v.Result = Declined
		}
	}
	return v
}

// flaw says what is not right; empty when all is.
func flaw(q Question, x *client.Exchange, v Verdict, row string) string {
	switch {
	case x.Problem != "":
		return "the turn failed: " + x.Problem
	case q.Expect != Change && len(x.Pending) > 0:
		return "a change waits that was not asked for: " + x.Pending[0].Message
	case q.Expect == Change && len(x.Pending) == 0:
		return "no change waits"
	case !v.Tool:
		return "not called: " + missing(q.Calls, x.Calls, sameTool)
	case !v.Args:
		return "called with other arguments: " + missing(q.Calls, x.Calls, sameCall)
	case !v.Rows:
		return "the data lacks " + row
	}
	return flawOfText(q, x)
}

func flawOfText(q Question, x *client.Exchange) string {
	inText := within(plain(x.Text))
	for _, any := range q.Says {
		if !slices.ContainsFunc(any, inText) {
			return "the answer does not say " + strconv.Quote(strings.Join(any, " or "))
		}
	}
	if i := slices.IndexFunc(q.Never, inText); i >= 0 {
		return "the answer says " + strconv.Quote(q.Never[i])
	}
	switch {
	case q.Expect == Clarify && !strings.Contains(offered.ReplaceAllString(x.Text, ""), "?"):
		return "the answer asks nothing"
	case q.Expect == Refusal && !says(closed, x.Text) && !refused(x.Calls):
		return "the answer does not say that it is not permitted"
	case q.Expect == Decline && !says(cannot, x.Text) && !impossible(x.Calls):
		return "the answer does not say that it cannot be done"
	}
	return ""
}

// The forms that make an answer a decline or a refusal: a denial that has the asker,
// the answering side or a right for its object, because any answer can have a "not"
// or speak of roles. A bare "I can't" declines, and does not say that someone else may.
var (
	cannot = forms(
		`can't|cannot|can not|couldn't|could not|unable|not able|impossible`,
		`(not|\w+n't) (possible|available|supported|something)`,
		`(no|there (isn't|is not|aren't|are not) (a|any)) (tools?|way|data|information|records?)`,
		`(i|we|tools?|systems?|servers?|data)( \w+)? (don't|do not|doesn't|does not)( \w+)? (have|know|see|offer|support|allow|let|contain|include|cover|hold|keep|provide)`,
		`(is|are)(n't| not) (offered|included|covered|recorded|stored|kept|known|part of|in (the|our|this) (company's )?(data|records|system))`,
		`(outside|beyond)( of)? (what i|(my|the|our) (scope|data|tools|reach|abilities|capabilities))`,
	)
	closed = forms(
		`no (access|permissions?)`,
		`(not|\w+n't) (allowed|permitted|authori[sz]ed|entitled)`,
		`(not|\w+n't) (visible|open|shown|accessible|available) (to|for) (you|your)`,
		`(you|i|we|roles?) may not`,
		`(needs?|requires?|takes?|lacks?|without|insufficient|(not|\w+n't) have)( one of)?( (the|these|this|an?|any|another|more|higher|required|necessary|right))*( [\w-]+)? (permissions?|access|rights|roles?)`,
		`your (permissions?|roles?|account|access)\b[^.]{0,30} (not|\w+n't|cannot)`,
		`(is|are) (restricted|hidden|confidential|masked)|hidden from`,
		`(someone|somebody|anyone)( else)? (with|who has) (the|an?|one of (the|these))( [\w-]+)? roles?|someone else (must|has to)`,
		`only (people|managers|executives|those|your|hr|someone|employees)\b[^.]{0,60} (can|may|have access|(is|are) (allowed|permitted))`,
		`(only (visible|shown|open|available|accessible)|(visible|shown|open|available|accessible) only) (to|for)`,
	)
)

// forms matches any of the forms, between whole words.
func forms(any ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.Join(any, "|") + `)\b`)
}

// offered are questions that the person may ask instead: they ask nothing back.
var offered = regexp.MustCompile(`“[^”]*”`)

func says(words *regexp.Regexp, text string) bool {
	return words.MatchString(strings.ReplaceAll(text, "’", "'"))
}

// refused reports whether a call was refused, which the gateway tells the person.
func refused(calls []client.Called) bool {
	return slices.ContainsFunc(calls, func(c client.Called) bool { return c.Outcome.Code() == "INSUFFICIENT_PERMISSIONS" })
}

// trouble are the codes of calls that failed for another reason than a rule of the
// company: they make no decline of an answer.
var trouble = []string{
	"INVALID_INPUT", "VALIDATION_ERROR", "UNKNOWN_TOOL", "INVALID_CURSOR", "INSUFFICIENT_PERMISSIONS", "NOT_ASKED_FOR", "RATE_LIMITED", "BUSY",
	"TIMEOUT", "CANCELLED", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR", "DATABASE_ERROR", "OPERATION_FAILED",
}

// impossible reports whether a call was refused by a rule of the company (a closed
// ticket, a row that does not exist), which the gateway tells the person.
func impossible(calls []client.Called) bool {
	return slices.ContainsFunc(calls, func(c client.Called) bool {
		return c.Outcome.Fault() != nil && !slices.Contains(trouble, c.Outcome.Code())
	})
}

// called reports whether every expected tool was called, and with its arguments.
func called(expected []ExpectedCall, calls []client.Called) (tools, args bool) {
	return missing(expected, calls, sameTool) == "", missing(expected, calls, sameCall) == ""
}

// anyCalled reports whether one of the expected tools was called.
func anyCalled(expected []ExpectedCall, calls []client.Called) bool {
	return slices.ContainsFunc(expected, func(e ExpectedCall) bool {
		return slices.ContainsFunc(calls, func(c client.Called) bool { return sameTool(e, c) })
	})
}

// missing describes the first expected call that was not made.
func missing(expected []ExpectedCall, calls []client.Called, same func(ExpectedCall, client.Called) bool) string {
	for _, e := range expected {
		if !slices.ContainsFunc(calls, func(c client.Called) bool { return same(e, c) }) {
			args, _ := json.Marshal(e.Args) // of YAML: texts, numbers and lists
			return strings.Join(e.Tools, " or ") + " " + string(args)
		}
	}
	return ""
}

func sameTool(e ExpectedCall, c client.Called) bool { return slices.Contains(e.Tools, c.Tool) }

func sameCall(e ExpectedCall, c client.Called) bool {
	if !sameTool(e, c) {
		return false
	}
	var got map[string]any
	if err := json.Unmarshal(c.Args, &got); err != nil && len(e.Args) > 0 {
		return false
	}
	for name, want := range e.Args {
		value, ok := got[name]
		if !ok || !sameValue(want, value) {
			return false
		}
	}
	return true
}

// sameValue compares a value with the expected one, or with any of a list of
// them. Numbers and texts are compared as they are written, without case.
func sameValue(want, got any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(item any) bool { return sameValue(item, got) })
	}
	return strings.EqualFold(strings.TrimSpace(fmt.Sprint(want)), strings.TrimSpace(number(got)))
}

// number writes a JSON value as YAML's reader does: no exponent in an integer.
func number(value any) string {
	if f, ok := value.(float64); ok && f == float64(int64(f)) {
		return fmt.Sprint(int64(f))
	}
	return fmt.Sprint(value)
}

// evidence is the text in which the expected rows must be.
func evidence(q Question, x *client.Exchange, earlier []client.Called) string {
	var b strings.Builder
	if q.Expect == Change {
		for _, p := range x.Pending {
			data, _ := json.Marshal(p.Data) // decoded JSON encodes
			b.WriteString(p.Message + "\n" + string(data) + "\n")
		}
		return plain(b.String())
	}
	calls := x.Calls
	if len(calls) == 0 {
		calls = earlier
	}
	for _, c := range calls {
		b.Write(c.Outcome.Data())
		b.WriteByte('\n')
	}
	return plain(b.String())
}

// within reports of a wanted text whether a plain text has it. A number at the
// beginning or the end of the wanted text is a whole one: 6 is in "6%" and "6.00", but
// not in 16, 1.6 or 6.5, and 16.5 is in 16.50.
func within(text string) func(wanted string) bool {
	return func(wanted string) bool {
		wanted = plain(wanted)
		pattern := regexp.QuoteMeta(wanted)
		if startsWithDigit.MatchString(wanted) {
			pattern = `(^|[^\d.]|(^|\D)\.)` + pattern
		}
		switch {
		case endsWithFraction.MatchString(wanted):
			pattern += `0*($|[^\d.]|\.(\D|$))`
		case endsWithDigit.MatchString(wanted):
			pattern += `(\.0+)?($|[^\d.]|\.(\D|$))`
		}
		return regexp.MustCompile(pattern).MatchString(text)
	}
}

func firstMissing(wanted []string, has func(string) bool) string {
	for _, w := range wanted {
		if !has(w) {
			return strconv.Quote(w)
		}
	}
	return ""
}

var (
	separators = regexp.MustCompile(`(\d)[,\x{202f}\x{a0}](\d{3})\b`)
	decoration = strings.NewReplacer(`\`, "", "*", "", "_", " ", "`", "", "$", "", "’", "'", "‘", "'", "“", `"`, "”", `"`, "\u00a0", " ", "‑", "-")
	blanks     = regexp.MustCompile(`\s+`)

	startsWithDigit = regexp.MustCompile(`^\d`)
	endsWithDigit   = regexp.MustCompile(`\d$`)

	endsWithFraction = regexp.MustCompile(`\d\.\d+$`)
)

// plain is a text as it is compared: without case, markdown, currency signs and
// thousands separators.
func plain(text string) string {
	for separators.MatchString(text) {
		text = separators.ReplaceAllString(text, "$1$2")
	}
	return blanks.ReplaceAllString(strings.ToLower(decoration.Replace(text)), " ")
}
