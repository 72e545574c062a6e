package mention

import (
	"strings"
	"time"

	"countersign.dev/internal/calendar"
)

// Date is a calendar day. Parts that are not given are 0.
type Date struct{ Year, Month, Day int }

// Matches reports whether a whole date has the parts that are given.
func (d Date) Matches(whole Date) bool {
	return (d.Year == 0 || d.Year == whole.Year) && (d.Month == 0 || d.Month == whole.Month) && (d.Day == 0 || d.Day == whole.Day)
}

// DateOf is the day of a time, where that is.
func DateOf(t time.Time) Date { return Date{t.Year(), int(t.Month()), t.Day()} }

// Time is the begin of the day. What is not given is the first one.
func (d Date) Time() time.Time {
	return time.Date(d.Year, time.Month(max(1, d.Month)), max(1, d.Day), 0, 0, 0, 0, time.UTC)
}

// DaysIn is how long the units of durations are.
var DaysIn = map[string]float64{
	"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30.44, "months": 30.44, "year": 365.25, "years": 365.25,
	"tag": 1, "tage": 1, "tagen": 1, "woche": 7, "wochen": 7, "monat": 30.44, "monate": 30.44, "monaten": 30.44, "jahr": 365.25, "jahre": 365.25, "jahren": 365.25,
}

func yearOf(token string) int {
	if n, ok := digits(strings.TrimPrefix(token, "+")); ok && n >= 1900 && n <= 2100 {
		return n
	}
	return 0
}

// MonthOf is the number of a month by its name; 0 when it is none.
func MonthOf(token string) int { return bySmall(months, token) }

// months are the names of the months, and their first three and four letters.
var months = func() map[string]int {
	byName := map[string]int{}
	for m := time.January; m <= time.December; m++ {
		for _, name := range []string{strings.ToLower(m.String()), germanMonths[m-1]} {
			byName[name], byName[name[:3]], byName[name[:min(4, len(name))]] = int(m), int(m), int(m)
		}
	}
	delete(byName, "mar")
	return byName
}()

// ISODate reads 2026-11-22, 2026-11 and 2026-11-22T10:00.
func ISODate(token string) (d Date, ok bool) {
	if len(token) < 7 || token[4] != '-' {
		return d, false
	}
	year, isYear := digits(token[:4])
	month, isMonth := digits(token[5:7])
	rest := token[7:]
	if len(rest) >= 3 && rest[0] == '-' {
		if day, isDay := digits(rest[1:3]); isDay {
			d.Day, rest = day, rest[3:]
		}
	}
	d.Year, d.Month = year, month
	return d, isYear && isMonth && (rest == "" || rest[0] == 'T')
}

var germanMonths = strings.Fields("januar februar märz april mai juni juli august september oktober november dezember")

// Calendar are the days of this month, quarter and year, those that are over and those
// that are left.
func Calendar(today time.Time) (days []float64) {
	for _, months := range []int{1, 3, 12} {
		period, now := calendar.Period(today, months, 0), calendar.Day(today, 0).From
		over := now.Sub(period.From).Hours() / 24
		days = append(days, period.To.Sub(period.From).Hours()/24, over, over+1, period.To.Sub(now).Hours()/24) // today counts or not
	}
	return days
}
