package eval

import (
	"regexp"
	"strconv"
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
