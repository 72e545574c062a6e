package eval

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
)

// placeholder names a date in a question file, because a question about
// "this month" has another right answer every month.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// datesOn gives every placeholder its text on a day: {quarter}, {last_month_first} …
func datesOn(day time.Time) map[string]string {
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	texts := map[string]string{}
	for later, name := range []string{"yesterday", "today", "tomorrow"} {
		texts[name] = date(calendar.Day(day, later-1).From)
	}
	for before, later := range map[string]int{"last_": -1, "": 0, "next_": 1} {
		for unit, months := range map[string]int{"month": 1, "quarter": 3, "year": 12} {
			period, name := calendar.Period(day, months, later), before+unit
			texts[name+"_first"], texts[name+"_last"] = date(period.From), date(period.Last())
			switch year := strconv.Itoa(period.From.Year()); unit {
			case "quarter":
				texts[name], texts[name+"_year"] = period.Quarter(), period.Quarter()+" "+year
			case "year":
				texts[name] = year
			}
		}
	}
	return texts
}

// on returns the question with its placeholders replaced.
func (q Question) on(day time.Time) Question {
	dates := datesOn(day)
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string { return dates[strings.Trim(p, "{}")] })
	}
	return q.mapped(fill)
}

// mapped returns the question with every text but a tool's name mapped.
func (q Question) mapped(f func(string) string) Question {
	all := func(texts []string) []string {
		out := make([]string, len(texts))
		for i, text := range texts {
			out[i] = f(text)
		}
		return out
	}
	q.Ask, q.Rows, q.Never, q.Says = f(q.Ask), all(q.Rows), all(q.Never), slices.Clone(q.Says)
	for i, any := range q.Says {
		q.Says[i] = all(any)
	}
	q.Calls = slices.Clone(q.Calls)
	for i, c := range q.Calls {
		args := make(map[string]any, len(c.Args))
		for name, value := range c.Args {
			args[name] = mapValue(value, f)
		}
		q.Calls[i].Args = args
	}
	return q
}

func mapValue(value any, f func(string) string) any {
	switch v := value.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = mapValue(item, f)
		}
		return out
	}
	return value
}

func (q Question) checkPlaceholders() error {
	known := datesOn(time.Unix(0, 0).UTC())
	var unknown string
	q.mapped(func(text string) string {
		for _, p := range placeholder.FindAllStringSubmatch(text, -1) {
			if known[p[1]] == "" {
				unknown = p[1]
			}
		}
		return text
	})
	if unknown != "" {
		return fmt.Errorf("there is no placeholder {%s}; there are %s", unknown, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return nil
}
