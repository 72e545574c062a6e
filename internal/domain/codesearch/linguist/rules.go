package linguist

import (
	"path"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2/data"
)

// go-enry has some 200 rules about paths, most of them expressions. To try all of them took a tenth of
// the time in which a repository is indexed. Most paths have nothing of what a rule needs.

// vendorRule is a rule about the paths of other people's code.
type vendorRule struct {
	needs   string // every path that matches has it
	matches func(path string) bool
}

var vendorRules = sync.OnceValue(func() (rules []vendorRule) {
	for _, rule := range data.VendorMatchers {
		rules = append(rules, vendorRule{required(rule.String()), rule.MatchString})
	}
	return rules
})

// required returns the longest text that is in everything that an expression matches.
func required(expression string) (longest string) {
	whole, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "" // is in everything
	}
	parts := []*syntax.Regexp{whole}
	if whole.Op == syntax.OpConcat {
		parts = whole.Sub
	}
	for _, part := range parts {
		if text := string(part.Rune); part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0 && len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// isVendored reports whether a path is one of other people's code.
func isVendored(name string) bool {
	return slices.ContainsFunc(vendorRules(), func(rule vendorRule) bool {
		return strings.Contains(name, rule.needs) && rule.matches(name)
	})
}

// generatedNeeds are texts of which each path has one, in lower case, that a rule about the paths of
// generated files matches.
var generatedNeeds = []string{
	".designer.", ".feature.", ".idea/", ".pnp.", ".sqlx/", ".zep.", "__generated__/", "_tlb.", "cargo.toml.orig", "carthage/", "godeps/",
	"htmlcov/", "lock", "node_modules/", "npm-shrinkwrap", "pods/", "vendor/",
}

// isGenerated reports whether a file was written by a program.
func isGenerated(name string, head []byte) bool {
	lower, extension := strings.ToLower(name), strings.ToLower(path.Ext(name))
	if _, known := data.GeneratedCodeExtensions[extension]; known {
		return true
	}
	if slices.ContainsFunc(generatedNeeds, func(text string) bool { return strings.Contains(lower, text) }) &&
		slices.ContainsFunc(data.GeneratedCodeNameMatchers, func(matches data.GeneratedCodeNameMatcher) bool { return matches(name) }) {
		return true
	}
	return slices.ContainsFunc(data.GeneratedCodeMatchers, func(matches data.GeneratedCodeMatcher) bool { return matches(lower, extension, head) })
}
