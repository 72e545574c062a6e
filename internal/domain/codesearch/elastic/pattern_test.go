package elastic

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"countersign.dev/internal/domain/codesearch/glob"
)

// FuzzExpression: the expression matches the paths that the pattern matches. What the
// engine and Go's package understand alike is all that it uses.
func FuzzExpression(f *testing.F) {
	for _, pattern := range []string{"*.go", "src/*/auth*", "[a-m]?[^x]", "o\\*", "[\\]-z]", "[z-a]", "a[", "é*", "sta(e*", "[", "x/[^a]y*", "**/*.go", "src/**", "**", "src/**/token.*", "**/a/**/**", "**/[a/x"} {
		f.Add(pattern, "src/a/auth/token.go")
		f.Add(pattern, "x/éy-sta(e.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		expression, ok := expressionOf(pattern)
		if !ok || !utf8.ValidString(pattern) || !utf8.ValidString(name) || name == "" || path.Clean("/"+name) != "/"+name || name == pattern || strings.HasPrefix(name, pattern+"/") {
			return // no path of a file; Go's package calls the base of none ".". Or it is the pattern itself, which other conditions find
		}
		compiled, err := regexp.Compile("^(?s:" + expression + ")$")
		if err != nil {
			t.Fatalf("%q as %q: %v", pattern, expression, err)
		}
		if got, want := compiled.MatchString(name), glob.Matches(name, pattern); got != want {
			t.Errorf("%q as %q matches %q: %v", pattern, expression, name, got)
		}
	})
}
