package guard

import (
	"math"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/guard/mention"
)

// derived is what can be computed from the tables: sums, means, counts, differences
// and ratios of the rows and columns that an answer names, up to the bounds of table.go.
type derived struct {
	values   []float64 // amounts
	percents []float64
	days     []float64 // durations, in days
	supposed []float64 // per cents that sums and named values may be multiplied with
	replaced bool      // a named row may take another's place in a sum
	wide     bool      // for figures that are said to be of several rows
}

// scope is what of the tables an answer speaks of.
type scope struct {
	words    map[string]bool   // of the answer and its question
	lines    []map[string]bool // of each line and paragraph; none: only what words name is derived
	supposed []float64
	whatIf   bool
	today    time.Time
}

func derive(d *data, s scope) *derived {
	v := &derived{supposed: s.supposed, replaced: s.whatIf, wide: len(s.lines) > 0}
	for _, place := range sortedKeys(d.tables) {
		t := tableOf(d.tables[place].rows)
		narrow(t.nums, s.words)
		narrow(t.dates, s.words)
		named := t.named(s.words)
		if len(t.rows) <= maxCompare {
			named = firstRows(len(t.rows))
		}
		sets := t.sets(s.words, s.lines)
		v.sets(t, sets)
		v.rows(t, named, s.words)
		v.spans(t, named, s.today)
	}
	for _, list := range [][]float64{v.values, v.percents, v.days} {
		slices.Sort(list)
	}
	return v
}

func (v *derived) amount(values ...float64) {
	for _, f := range values {
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.values = append(v.values, abs(f))
		}
	}
}

// suppose adds a value changed by each of the supposed per cents.
func (v *derived) suppose(value float64) {
	for _, p := range v.supposed {
		v.amount(value*p/100, value*(1+p/100), value*(1-p/100))
	}
}

// ratio adds a of b in per cent, by how much a is more, and how many times.
func (v *derived) ratio(a, b float64) {
	if b == 0 || math.IsNaN(a) || math.IsNaN(b) {
		return
	}
	v.percents = append(v.percents, abs(100*a/b), abs(100*(a-b)/b))
	v.amount(a / b)
}

// sets adds counts, sums and ratios of sets of rows.
func (v *derived) sets(t *table, sets []set) {
	total := sets[0]
	for _, s := range sets {
		v.percents = append(v.percents, 100*float64(len(s.rows))/float64(len(total.rows)))
	}
	if n := len(total.rows); n <= 30 { // some of them, in per cent
		for k := range n {
			v.percents = append(v.percents, 100*float64(k)/float64(n))
		}
	}
	for _, key := range sortedKeys(t.nums) {
		sums := make([]float64, len(sets))
		for i, s := range sets {
			sums[i] = v.column(t.nums[key], s.rows)
		}
		for _, s := range sets[:min(len(sets), maxDated)] {
			v.upTo(t, t.nums[key], s.rows)
		}
		for i := range sets {
			v.ratio(sums[i], sums[0])
			v.amount(sums[0] - sums[i])
			for j := range i {
				if sets[i].grouping == sets[j].grouping && sets[i].grouping != "" {
					v.ratio(sums[i], sums[j])
					v.ratio(sums[j], sums[i])
					v.amount(sums[i]-sums[j], sums[i]+sums[j])
				}
			}
		}
	}
	for _, a := range sortedKeys(t.nums) {
		for _, b := range sortedKeys(t.nums) {
			if a != b {
				for _, s := range sets {
					v.columns(t.nums[a], t.nums[b], s.rows)
				}
			}
		}
	}
}

// upTo adds the sums up to and from each date of the rows: what is due until the end
// of a year.
func (v *derived) upTo(t *table, column []float64, rows []int) {
	if len(rows) > maxNamed {
		return
	}
	for _, key := range sortedKeys(t.dates) {
		dates := t.dates[key]
		ordered := slices.SortedFunc(slices.Values(rows), func(i, j int) int { return dates[i].Time().Compare(dates[j].Time()) })
		for range 2 { // forwards and backwards
			sum := 0.0
			for _, i := range ordered {
				sum += column[i]
				v.amount(sum)
			}
			slices.Reverse(ordered)
		}
	}
}

// column adds the sum, mean, twelfth and quarter of a column, and returns the sum.
func (v *derived) column(column []float64, rows []int) (sum float64) {
	values := make([]float64, 0, len(rows))
	for _, i := range rows {
		if !math.IsNaN(column[i]) {
			values = append(values, column[i])
			sum += column[i]
		}
	}
	n := len(values)
	if n == 0 {
		return 0
	}
	mean := sum / float64(n)
	v.suppose(sum)
	v.amount(sum, mean, sum/12, sum/4)
	if slices.Max(values) <= 100 {
		v.percents = append(v.percents, mean)
	}
	if n <= maxSorted {
		v.sorted(values, sum)
	}
	return sum
}

// sorted adds the median, the range, and the sums of the highest and the lowest.
func (v *derived) sorted(values []float64, sum float64) {
	slices.Sort(values)
	n := len(values)
	median := (values[n/2] + values[(n-1)/2]) / 2
	v.amount(median, values[n-1]-values[0])
	if values[n-1] <= 100 {
		v.percents = append(v.percents, median)
	}
	low, high, top := 0.0, 0.0, topRows
	if v.wide {
		top = maxNamed
	}
	for k := range min(n, top) {
		low, high = low+values[k], high+values[n-1-k]
		v.amount(low, high)
		if rest := float64(n - k - 1); v.wide && rest > 0 { // "without the biggest one"
			v.amount((sum-high)/rest, (sum-low)/rest)
		}
		if k > 0 {
			v.ratio(high, sum)
		}
	}
}

// columns adds what two columns of the same rows give together: one in per cent of
// the other, their difference, and one weighted by the other.
func (v *derived) columns(a, b []float64, rows []int) {
	var sumA, sumB, weighted float64
	share := true
	for _, i := range rows {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) {
			continue
		}
		sumA, sumB = sumA+a[i], sumB+b[i]
		weighted += a[i] * b[i] / 100
		share = share && b[i] >= 0 && b[i] <= 100
	}
	v.ratio(sumA, sumB)
	v.amount(sumA - sumB)
	if share {
		v.amount(weighted)
	}
}

// rows adds figures of rows that the answer names: shares, the columns of
// one row, and one row compared with another.
func (v *derived) rows(t *table, named []int, words map[string]bool) {
	keys := sortedKeys(t.nums)
	for _, key := range keys {
		column, sum := t.nums[key], total(t.nums[key])
		mean := sum / float64(len(t.rows))
		for _, i := range named {
			v.ratio(column[i], sum)
			v.ratio(column[i], mean)
			v.suppose(column[i])
			if column[i] >= 100 { // a month's, of a year
				v.amount(column[i] * 12)
			}
			v.amount(column[i]/12, column[i]/4, sum-column[i], column[i]-mean)
			if len(named) > maxCompare {
				continue
			}
			for _, j := range named {
				if i != j {
					v.ratio(column[i], column[j])
					v.amount(column[i]-column[j], column[i]+column[j])
					if v.replaced { // "if the fourth quarter is like the third"
						v.amount(sum - column[i] + column[j])
					}
				}
			}
		}
	}
	for _, i := range named {
		said, rest := t.parts(i, keys, words)
		v.amount(said, rest)
		v.ratio(said, said+rest)
		for _, a := range keys {
			for _, b := range keys {
				if a == b {
					v.ratio(t.nums[a][i], said+rest)
				} else {
					v.columns(t.nums[a], t.nums[b], []int{i})
					if strings.Contains(a, "end") && strings.Contains(b, "start") { // both count
						v.amount(t.nums[a][i] - t.nums[b][i] + 1)
					}
					v.amount(t.nums[a][i] + t.nums[b][i])
					if len(t.rows) == 1 && len(keys) <= maxCompare {
						for _, c := range keys {
							v.ratio(t.nums[a][i]+t.nums[b][i], t.nums[c][i])
						}
					}
				}
			}
		}
	}
}

// parts are the sums of a row's columns that the answer names, and of the others: 27 to do
// and 5 in progress are the 32 that are neither done nor cancelled.
func (t *table) parts(row int, columns []string, words map[string]bool) (said, rest float64) {
	for _, key := range columns {
		value := t.nums[key][row]
		switch {
		case math.IsNaN(value):
		case mentions(words, key):
			said += value
		default:
			rest += value
		}
	}
	return said, rest
}

// spans adds the time from the dates of named rows to today, and between them.
func (v *derived) spans(t *table, named []int, today time.Time) {
	now := mention.DateOf(today)
	for _, i := range named {
		dates := []mention.Date{now}
		for _, key := range sortedKeys(t.dates) {
			if d := t.dates[key][i]; d.Year > 0 {
				dates = append(dates, d)
			}
		}
		for k, a := range dates {
			for _, b := range dates[:k] {
				v.days = append(v.days, math.Abs(a.Time().Sub(b.Time()).Hours()/24))
			}
		}
	}
	slices.Sort(v.days)
	v.days = slices.Compact(v.days)
}

// near reports whether a sorted list has a value in the range of a mentioned figure.
func near(sorted []float64, c mention.Mention) bool {
	below, above := c.Slack()
	value := abs(c.Value)
	i, _ := slices.BinarySearch(sorted, value-below)
	return i < len(sorted) && sorted[i] <= value+above
}
