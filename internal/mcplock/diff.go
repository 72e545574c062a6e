package mcplock

import (
	"bytes"
	"encoding/json"
	"strings"
)

// changedParts names what differs between two definitions.
func changedParts(a, b Definition) string {
	var parts []string
	for _, p := range []struct {
		name    string
		changed bool
	}{
		{"title", a.Title != b.Title}, {"description", a.Description != b.Description}, {"annotations", a.Annotations != b.Annotations},
		{"inputSchema", !bytes.Equal(sorted(a.InputSchema), sorted(b.InputSchema))}, {"outputSchema", !bytes.Equal(sorted(a.OutputSchema), sorted(b.OutputSchema))},
	} {
		if p.changed {
			parts = append(parts, p.name)
		}
	}
	return strings.Join(parts, ", ")
}

func pretty(d Definition) string {
	d.InputSchema, d.OutputSchema = sorted(d.InputSchema), sorted(d.OutputSchema)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// maxDiff is how many lines of each side are compared: more would take long.
const maxDiff = 2000

// diff lists the lines of both texts in order, with "-" for those of before only,
// "+" for those of after only, and a space for those of both.
func diff(before, after string) string {
	a, b := lines(before), lines(after)
	if len(a) > maxDiff || len(b) > maxDiff {
		return "(the definition is too long to compare)\n"
	}
	common := longest(a, b)
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out.WriteString("  " + a[i] + "\n")
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out.WriteString("- " + a[i] + "\n")
			i++
		default:
			out.WriteString("+ " + b[j] + "\n")
			j++
		}
	}
	return out.String()
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// longest is the table of the longest common subsequence of each pair of tails.
func longest(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
