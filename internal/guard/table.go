package guard

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/result"
)

// Bounds of what is derived from one table.
const (
	maxGroups  = 64 // sets of rows
	maxNamed   = 40 // rows that the answer names, one by one
	maxCompare = 12 // rows that are compared with each other
	fewValues  = 8  // of a column, of which every complement counts
	topRows    = 10
	maxDated   = 12     // sets that are summed up to a date
	maxSorted  = 2000   // rows of which a median and the highest are computed
	maxVisits  = 100000 // rows of all sets together
	maxColumns = 24     // of numbers, and of dates: each is compared with each
)

// table is a list by columns.
type table struct {
	rows   []result.Row
	nums   map[string][]float64 // NaN: no number
	labels map[string][]string
	dates  map[string][]mention.Date
}

func tableOf(rows []result.Row) *table {
	t := &table{rows: rows, nums: map[string][]float64{}, labels: map[string][]string{}, dates: map[string][]mention.Date{}}
	for i, row := range rows {
		for _, key := range row.Keys {
			t.put(i, key, row.Values[key])
		}
	}
	return t
}

// narrow removes the columns that are too many, those that the words mention last.
func narrow[V any](columns map[string]V, words map[string]bool) {
	keys, kept := sortedKeys(columns), 0
	for _, mentioned := range []bool{true, false} {
		for _, key := range keys {
			if len(keys) > maxColumns && mentions(words, key) == mentioned {
				if kept++; kept > maxColumns {
					delete(columns, key)
				}
			}
		}
	}
}

func (t *table) put(i int, key string, value any) {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return
		}
		if f == math.Trunc(f) && f >= 1900 && f <= 2100 { // a year
			t.label(i, key, v.String())
			return
		}
		column := t.nums[key]
		if column == nil {
			column = slices.Repeat([]float64{math.NaN()}, len(t.rows))
			t.nums[key] = column
		}
		column[i] = f
	case bool:
		t.label(i, key, fmt.Sprint(key, v))
	case string:
		if day, ok := mention.ISODate(v); ok {
			column(t.dates, key, len(t.rows))[i] = day
		} else if len(v) <= 60 {
			t.label(i, key, v)
		}
	}
}

func (t *table) label(i int, key, text string) { column(t.labels, key, len(t.rows))[i] = text }

func column[V any](columns map[string][]V, key string, rows int) []V {
	if columns[key] == nil {
		columns[key] = make([]V, rows)
	}
	return columns[key]
}

func firstRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func total(column []float64) (sum float64) {
	for _, value := range column {
		if !math.IsNaN(value) {
			sum += value
		}
	}
	return sum
}

// set is some rows of a table; sets of one grouping can be compared.
type set struct {
	grouping string
	rows     []int
	but      bool // all rows but these, until it is affordable
}

// sets are the rows that an answer can speak of as one: all, those with a label
// that it names, all but those, those with two such labels, and those that one line or
// paragraph of it names.
func (t *table) sets(words map[string]bool, lines []map[string]bool) []set {
	all := firstRows(len(t.rows))
	var named, rest []set
	for _, key := range sortedKeys(t.labels) {
		groups := groupsOf(t.labels[key])
		for _, label := range sortedKeys(groups) {
			said := mentions(words, label)
			if g := (set{grouping: key, rows: groups[label]}); said {
				named = append(named, g)
			}
			if said || len(groups) <= fewValues {
				rest = append(rest, set{rows: groups[label], but: true})
			}
		}
	}
	for _, key := range sortedKeys(t.dates) {
		named = append(named, t.months(key, words)...)
	}
	if rows := t.named(words); len(rows) > 1 && len(rows) < len(all) {
		named = append(named, set{rows: rows})
		rest = append(rest, set{rows: rows, but: true})
	}
	if len(t.rows) <= maxNamed {
		for _, line := range lines {
			if rows := t.named(line); len(rows) > 1 && len(rows) < len(all) {
				rest = append(rest, set{rows: rows}, set{rows: rows, but: true})
			}
		}
	}
	named = named[:min(len(named), maxGroups)]
	sets := slices.Concat([]set{{rows: all}}, named, rest)
	for i, a := range named {
		for _, b := range named[i+1:] {
			if both := within(a.rows, b.rows); len(both) > 0 && a.grouping != b.grouping {
				sets = append(sets, set{grouping: a.grouping + b.grouping, rows: both})
			}
		}
	}
	return affordable(sets)
}

// affordable drops empty sets, and those beyond the bound of rows. The first one is
// all rows.
func affordable(sets []set) (kept []set) {
	visits, all := 0, sets[0].rows
	for i, s := range sets {
		n := len(s.rows)
		if s.but {
			n = len(all) - n
		}
		if visits += n; n == 0 || i > 0 && visits > maxVisits {
			continue
		}
		if s.but {
			s = set{rows: without(all, s.rows)}
		}
		kept = append(kept, s)
	}
	return kept
}

// months are the rows of a year or a month that the answer names.
func (t *table) months(key string, words map[string]bool) (sets []set) {
	years, months := map[string][]int{}, map[string][]int{}
	for i, d := range t.dates[key] {
		if year := strconv.Itoa(d.Year); words[year] {
			years[year] = append(years[year], i)
		}
		if d.Month == 0 {
			continue
		}
		name := strings.ToLower(time.Month(d.Month).String())
		if words[wording.Stem(name)] || words[wording.Stem(name[:3])] {
			months[name] = append(months[name], i)
		}
		day := time.Date(d.Year, time.Month(d.Month), 1, 0, 0, 0, 0, time.UTC)
		if quarter := strings.ToLower(calendar.Period(day, 3, 0).Quarter()); words[quarter] {
			months[quarter] = append(months[quarter], i)
		}
	}
	for _, groups := range []map[string][]int{years, months} {
		for _, label := range sortedKeys(groups) {
			sets = append(sets, set{grouping: key, rows: groups[label]})
		}
	}
	return sets
}

// named are the rows that the answer names, a few at most.
func (t *table) named(words map[string]bool) (rows []int) {
	for i, row := range t.rows {
		for name := range names(row) {
			if len(name) > 2 && words["="+name] {
				rows = append(rows, i)
				break
			}
		}
		if len(rows) == maxNamed {
			break
		}
	}
	return rows
}

func groupsOf(column []string) map[string][]int {
	groups := map[string][]int{}
	for i, label := range column {
		if label != "" {
			groups[label] = append(groups[label], i)
		}
		if len(groups) > 1000 { // an id
			return nil
		}
	}
	return groups
}

// mentions reports whether the answer or the question has a word of a label.
func mentions(words map[string]bool, label string) bool {
	if words[strings.ToLower(label)] || words[initials(label)] {
		return true
	}
	return slices.ContainsFunc(wording.Words(label), func(w string) bool { return len(w) > 2 && words[wording.Stem(w)] })
}

func initials(label string) string {
	fields := strings.Fields(label)
	if len(fields) < 2 {
		return "\x00"
	}
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(strings.ToLower(f[:1]))
	}
	return b.String()
}

func without(all, some []int) []int {
	rest := make([]int, 0, len(all)-len(some))
	for _, i := range all {
		if _, found := slices.BinarySearch(some, i); !found {
			rest = append(rest, i)
		}
	}
	return rest
}

func within(a, b []int) (both []int) {
	for _, i := range a {
		if _, found := slices.BinarySearch(b, i); found {
			both = append(both, i)
		}
	}
	return both
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
