package app

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

// said are the keywords that tell which values a field has.
var said = []string{"format", "pattern", "enum", "minimum"}

// sameAs names the read field that a field of a write is, where a write tells two
// values of it apart. The rest are found by their names alone.
var sameAs = map[string]string{
	"current_salary": "salary", "new_salary": "salary", "old_salary": "salary",
	"employee_email":  "email",
	"approved_amount": "allocated_amount", "submitted_amount": "allocated_amount",
	"current_status": "status", "new_status": "status",
	"current_stage": "stage", "new_stage": "stage",
	"current_value": "value", "actual_value": "value",
}

// thinner are the fields that a write tells less about than a read, each with the reason.
var thinner = map[string]string{}

var hump = regexp.MustCompile(`([a-z])([A-Z])`)

// TestWritesTellAsMuchAsReads compares the fields of every write's answers with the
// fields of the same name in the answers of the reads of its domain.
func TestWritesTellAsMuchAsReads(t *testing.T) {
	compared := 0
	for _, tools := range inventory(t) {
		reads := map[string][]string{}
		for _, info := range tools {
			if info.Kind == result.Read || info.Kind == result.List {
				keywordsBelow(parsed(t, info.OutputSchema), reads)
			}
		}
		for _, info := range tools {
			if info.Kind != result.Write {
				continue
			}
			writes := map[string][]string{}
			keywordsBelow(parsed(t, info.OutputSchema), writes)
			for _, name := range slices.Sorted(maps.Keys(writes)) {
				field := strings.ToLower(hump.ReplaceAllString(name, "${1}_$2"))
				if same := sameAs[field]; same != "" {
					field = same
				}
				for _, keyword := range slices.Compact(slices.Sorted(slices.Values(reads[field]))) {
					compared++
					if !slices.Contains(writes[name], keyword) && thinner[info.Name+" "+name+" "+keyword] == "" {
						t.Errorf("%s: %s has no %s, as %s of the reads has", info.Name, name, keyword, field)
					}
				}
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d keywords were compared", compared)
	}
}

// keywordsBelow adds which keywords the properties of each name have, anywhere in
// a schema. Constants and objects are left out: they are not values of a row.
func keywordsBelow(node any, found map[string][]string) {
	switch n := node.(type) {
	case []any:
		for _, inner := range n {
			keywordsBelow(inner, found)
		}
	case schema:
		properties, _ := n["properties"].(schema)
		for name, property := range properties {
			if tells(property, "const") || tells(property, "properties") {
				continue
			}
			found[name] = append(found[name], slices.DeleteFunc(slices.Clone(said), func(keyword string) bool {
				return !tells(property, keyword)
			})...)
		}
		for _, inner := range n {
			keywordsBelow(inner, found)
		}
	}
}

// tells reports whether a property has a keyword, in itself or in an alternative.
func tells(node any, keyword string) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, func(inner any) bool { return tells(inner, keyword) })
	case schema:
		return n[keyword] != nil || tells(n["anyOf"], keyword) || tells(n["oneOf"], keyword)
	}
	return false
}
