package draw

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"countersign.dev/internal/result"
)

const (
	minCell = 12   // columns of the terminal that a cell keeps when there is little room
	gap     = "  " // between two cells
)

// grid is a table as text: a row of labels, and the rows.
type grid [][]string

func gridOf(rows []result.Row, columns []string, fields map[string]result.Field) grid {
	g := grid{labelsOf(columns, fields)}
	for _, r := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = cell(r, name, fields[name])
		}
		g = append(g, cells)
	}
	return g
}

// widths returns how many columns of the terminal each column of the grid takes.
func (g grid) widths() []int {
	widths := make([]int, len(g[0]))
	for _, row := range g {
		for i, text := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(text))
		}
	}
	return widths
}

// fit makes the grid no wider than the terminal: the widest cells are cut, and
// when that is not enough the last columns left out, which it returns. The amount
// is the last one to go.
func (g grid) fit(columns []string, fields map[string]result.Field, width int) (left []string) {
	columns = slices.Clone(columns)
	for width > 0 && !g.cut(width) && len(columns) > 1 {
		last := len(columns) - 1
		for last > 0 && fields[columns[last]].Amount {
			last--
		}
		left = append([]string{columns[last]}, left...)
		columns = slices.Delete(columns, last, last+1)
		for i := range g {
			g[i] = slices.Delete(g[i], last, last+1)
		}
	}
	return left
}

// cut cuts the widest cells until the rows fit, and changes nothing when that
// would leave too little of them. A single column is cut in any case.
func (g grid) cut(width int) (fits bool) {
	widths := g.widths()
	for total(widths) > width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minCell && len(widths) > 1 || widths[widest] <= 1 {
			return false
		}
		widths[widest]--
	}
	for _, row := range g {
		for i := range row {
			row[i] = Clip(row[i], widths[i])
		}
	}
	return true
}

func total(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + len(gap)
	}
	return sum - len(gap)
}

// String writes the rows with aligned columns.
func (g grid) String() string {
	widths := g.widths()
	var b strings.Builder
	for _, row := range g {
		line := ""
		for i, text := range row {
			line += text
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]-uniseg.StringWidth(text)) + gap
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
