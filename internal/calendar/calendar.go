// Package calendar computes with whole days in UTC: weeks, months, quarters and years
// around a day, and reads them as people write them in English.
package calendar

import (
	"fmt"
	"time"
)

// Span is a run of days, the end excluded.
type Span struct {
	From, To time.Time
	Months   int  // of a calendar month, quarter or year; 0 of other spans
	Weekday  bool // it is the last day of a name that has come, or the next one: [Span.Next]
}

// Last is the last day.
func (s Span) Last() time.Time { return s.To.AddDate(0, 0, -1) }

// Next is the same weekday a week later, unless the span is today or no weekday alone.
func (s Span) Next(today time.Time) Span {
	if s.Weekday && s.From.Before(Day(today, 0).From) {
		return Day(s.From, 7)
	}
	return s
}

// Quarter is that of the first day: "Q1".
func (s Span) Quarter() string { return fmt.Sprintf("Q%d", (s.From.Month()+2)/3) }

// Day is one day, so many days later.
func Day(day time.Time, later int) Span { return days(day, later, 1) }

// Week is the week around a day, or one that is so many weeks later. It begins on Monday.
func Week(day time.Time, later int) Span {
	return days(day, 7*later-(int(day.Weekday())+6)%7, 7)
}

func days(day time.Time, later, n int) Span {
	y, m, d := day.Date()
	from := time.Date(y, m, d+later, 0, 0, 0, 0, time.UTC)
	return Span{From: from, To: from.AddDate(0, 0, n)}
}

// Period is the month, the quarter or the year around a day, of 1, 3 or 12 months, or
// one that is so many periods later.
func Period(day time.Time, months, later int) Span {
	y, m, _ := day.Date()
	from := time.Date(y, m-(m-1)%time.Month(months)+time.Month(later*months), 1, 0, 0, 0, 0, time.UTC)
	return Span{From: from, To: from.AddDate(0, months, 0), Months: months}
}
