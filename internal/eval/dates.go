package eval

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// placeholder names a date in a question file, because a question about
// "this month" has another right answer every month.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// datesOn gives every placeholder its text on a day.
func datesOn(day time.Time) map[string]string {
	y, m, _ := day.Date()
	month := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	quarter := time.Date(y, m-(m-1)%3, 1, 0, 0, 0, 0, time.UTC)
	before := quarter.AddDate(0, -3, 0)
	year := time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	return map[string]string{
		"today": date(day), "yesterday": date(day.AddDate(0, 0, -1)), "tomorrow": date(day.AddDate(0, 0, 1)),
		"month_first": date(month), "month_last": date(month.AddDate(0, 1, -1)), "next_month_first": date(month.AddDate(0, 1, 0)),
		"last_month_first": date(month.AddDate(0, -1, 0)), "last_month_last": date(month.AddDate(0, 0, -1)),
		"quarter": quarterOf(quarter), "quarter_year": fmt.Sprintf("%s %d", quarterOf(quarter), y),
		"quarter_first": date(quarter), "quarter_last": date(quarter.AddDate(0, 3, -1)),
		"last_quarter": quarterOf(before), "last_quarter_year": fmt.Sprintf("%s %d", quarterOf(before), before.Year()),
		"year": strconv.Itoa(y), "last_year": strconv.Itoa(y - 1), "next_year": strconv.Itoa(y + 1),
		"year_first": date(year), "year_last": date(year.AddDate(1, 0, -1)),
	}
}

func quarterOf(t time.Time) string { return fmt.Sprintf("Q%d", (t.Month()+2)/3) }

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
