package schema

import "strings"

// nearest returns the declared name that a name was probably meant to be: the same one
// but for case and separators, or but for a slip or two of the keyboard. It is empty when
// no name is near, or when two are as near.
func nearest(name string, declared []string) (meant string) {
	plain := letters(name)
	if len(plain) > maxShown {
		return ""
	}
	least := 3 // more slips make another word
	for _, one := range declared {
		if len(one) > maxShown {
			continue
		}
		full := letters(one)
		switch d := distance(plain, full); {
		case d > max(len(plain), len(full))/4: // a slip in four letters
		case d < least:
			meant, least = one, d
		case d == least:
			meant = ""
		}
	}
	return meant
}

// letters are a name without case and separators: employeeId is employee_id.
func letters(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// distance counts the bytes to add, leave out, change or swap with the next one.
func distance(a, b string) int {
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := last
		last, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
