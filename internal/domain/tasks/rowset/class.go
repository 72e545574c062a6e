package rowset

import (
	"cmp"
	"slices"
)

// Class are the rows of one score.
type Class struct {
	Score int64
	Rows  Set
}

// Raise adds to the score of the rows that are in a set.
func Raise(classes []Class, rows Set, by int64) []Class {
	for _, c := range classes {
		if raised := c.Rows.Take(rows); len(raised) > 0 {
			classes = append(classes, Class{c.Score + by, raised})
		}
	}
	return slices.DeleteFunc(classes, func(c Class) bool { return len(c.Rows) == 0 })
}

// Ranked are the classes with one for each score, the greatest first.
func Ranked(classes []Class) (ranked []Class) {
	slices.SortFunc(classes, func(a, b Class) int { return cmp.Compare(b.Score, a.Score) })
	for _, c := range classes {
		if last := len(ranked) - 1; last >= 0 && ranked[last].Score == c.Score {
			ranked[last].Rows.Join(c.Rows)
			continue
		}
		ranked = append(ranked, c)
	}
	return ranked
}
