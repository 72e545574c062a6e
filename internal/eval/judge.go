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
		if q.Expect != Decline && q.Expect != Refusal && x.Problem == "" && len(x.Pending) == 0 && !anyCalled(q.Calls, x.Calls) && says(cannot, x.Text) {
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

// The words that make an answer a decline or a refusal. A bare "I can't" declines,
// and does not say that someone else may.
var (
	cannot = regexp.MustCompile(`(?i)\b(can(no|')t|can not|unable|not able|no tools?\b|do(n't| not) have|does(n't| not)|isn't|is not|not possible|not available|couldn't|could not|not something|outside)`)
	closed = regexp.MustCompile(`(?i)\b(no access|not (allowed|permitted|authori[sz]ed|visible|open)|may not|permissions?|restricted|roles?|hidden|needs? (one of )?th(is|ese) roles?|only (people|managers|executives|those|your))\b`)
)

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

// within reports of a wanted text whether a plain text has it.
func within(text string) func(wanted string) bool {
	return func(wanted string) bool { return strings.Contains(text, plain(wanted)) }
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
	separators = regexp.MustCompile(`(\d)[,\x{202f}\x{a0}](\d{3})`)
	decoration = strings.NewReplacer(`\`, "", "*", "", "_", " ", "`", "", "$", "", "’", "'", "‘", "'", "“", `"`, "”", `"`, "\u00a0", " ", "‑", "-")
	blanks     = regexp.MustCompile(`\s+`)
)

// plain is a text as it is compared: without case, markdown, currency signs and
// thousands separators.
func plain(text string) string {
	for separators.MatchString(text) {
		text = separators.ReplaceAllString(text, "$1$2")
	}
	return blanks.ReplaceAllString(strings.ToLower(decoration.Replace(text)), " ")
}
