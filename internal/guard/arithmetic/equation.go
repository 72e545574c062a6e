package arithmetic

import (
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/pattern"
)

// Equation is a computation that a text writes out: 52 × 40 hours = 2,080 hours.
type Equation struct {
	Operands []float64
	Result   mention.Mention
}

// calendar are operands that need no proof: parts of a day, a week, a year.
var calendar = []float64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24, 30, 31, 40, 52, 60, 100, 260, 360, 365, 366, 2080}

// IsCalendar reports whether a figure is one of those that every calendar has.
func IsCalendar(figure float64) bool { return slices.Contains(calendar, figure) }

// part is a figure, an operator, a bracket, an equals sign, or the end of a sentence, of
// an equation. Words between them are units: they are not matched.
var part = pattern.New(`[$€£]?\d[\d,]*(?:\.\d+)?(?:[kKmM]\b|\s?%)?|[-+−–×*·÷/()=≈;|]|\bx\b|\b(?:times|plus|minus|divided by|multiplied by)\b|[.?!](?:\s|$)|\pL+`)

// maxWords is how many words may be between a figure and what follows it: "14 working days ÷".
const maxWords = 3

// Equations are those of a text that hold, in order.
func Equations(text string) (all []Equation) {
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.ContainsAny(line, "=≈") {
			continue
		}
		r := &reader{}
		for _, token := range part.FindAllString(line, -1) {
			all = append(all, r.take(token)...)
		}
	}
	return all
}

// reader collects the parts of one side of an equation after the other.
type reader struct {
	side  []string   // of the equation: figures, operators and brackets
	given [][]string // the sides before it
	words int        // since the last of these
}

// take reads one more part. It returns the equations that end with it.
func (r *reader) take(token string) (found []Equation) {
	n := len(r.side)
	if n > 0 && isFigure(r.side[n-1]) && (token == "(" || isFigure(token)) { // of something else
		*r, n = reader{}, 0
	}
	switch operator := operatorOf(token); {
	case token == "=" || token == "≈":
		r.given, r.side, r.words = append(r.given, r.side), nil, 0
	case operator != "" && (n > 0 || operator == "("): // not the mark of a list
		r.side, r.words = append(r.side, operator), 0
	case operator != "":
	case isFigure(token):
		r.side, r.words = append(r.side, token), 0
		if len(r.given) > 0 && len(r.side) == 1 {
			return holding(r.given[len(r.given)-1], token)
		}
	case strings.ContainsAny(token, ".?!;|"):
		*r = reader{}
	default:
		if r.words++; r.words > maxWords {
			*r = reader{}
		}
	}
	return nil
}

func isFigure(token string) bool { return strings.ContainsAny(token, "0123456789") }

func operatorOf(token string) string {
	switch token {
	case "+", "plus":
		return "+"
	case "-", "−", "–", "minus":
		return "-"
	case "×", "*", "·", "x", "times", "multiplied by":
		return "*"
	case "÷", "/", "divided by":
		return "/"
	case "(", ")":
		return token
	}
	return ""
}

// holding is the equation of a side and its result, when there is one and it holds.
func holding(side []string, result string) []Equation {
	c := figureOf(result)
	e := evaluation{parts: side}
	v := e.sum()
	if e.at < len(side) || e.wrong || len(e.operands) < 2 {
		return nil
	}
	below, above := c.Slack()
	for _, of := range []float64{v.of, v.of * 100} { // a ratio, in per cent
		if (of == v.of || c.Unit == '%') && of >= c.Value-below-v.off && of <= c.Value+above+v.off {
			return []Equation{{e.operands, c}}
		}
	}
	return nil
}

func figureOf(text string) mention.Mention {
	if all := mention.Of(strings.ReplaceAll(text, " ", "")); len(all) == 1 && all[0].Kind == mention.Figure {
		return all[0]
	}
	return mention.Mention{Value: math.NaN()}
}

// evaluation computes a side by the usual rules: products before sums, brackets first.
type evaluation struct {
	parts    []string
	at       int
	operands []float64
	wrong    bool
}

func (e *evaluation) next(operators string) string {
	if e.at < len(e.parts) && strings.Contains(operators, e.parts[e.at]) {
		e.at++
		return e.parts[e.at-1]
	}
	return ""
}

func (e *evaluation) sum() value {
	v := e.product()
	for {
		switch e.next("+-") {
		case "+":
			v = v.plus(e.product())
		case "-":
			v = v.minus(e.product())
		default:
			return v
		}
	}
}

func (e *evaluation) product() value {
	v := e.operand()
	for {
		switch e.next("*/") {
		case "*":
			v = v.times(e.operand())
		case "/":
			v = v.over(e.operand())
		default:
			return v
		}
	}
}

func (e *evaluation) operand() (v value) {
	if e.next("(") != "" {
		v = e.sum()
		e.wrong = e.wrong || e.next(")") == ""
		return v
	}
	if e.at == len(e.parts) || !isFigure(e.parts[e.at]) {
		e.wrong = true
		return v
	}
	c := figureOf(e.parts[e.at])
	e.at++
	e.operands = append(e.operands, c.Value)
	if v = valueOf(c); c.Unit == '%' {
		v = v.by(0.01)
	}
	return v
}
