package elastic

import (
	"path"
	"regexp"
	"testing"
	"unicode/utf8"
)

// FuzzExpression: the expression matches the paths that the pattern matches. What the
// engine and Go's package understand alike is all that it uses.
func FuzzExpression(f *testing.F) {
	for _, pattern := range []string{"*.go", "src/*/auth*", "[a-m]?[^x]", "o\\*", "[\\]-z]", "[z-a]", "a[", "é*", "sta(e*", "[", "x/[^a]y*"} {
		f.Add(pattern, "src/a/auth/token.go")
		f.Add(pattern, "x/éy-sta(e.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		expression, ok := expressionOf(pattern)
		if !ok || !utf8.ValidString(pattern) || !utf8.ValidString(name) || name == "" || path.Clean("/"+name) != "/"+name {
			return // no path of a file; Go's package calls the base of none "."
		}
		compiled, err := regexp.Compile("^(?s:" + expression + ")$")
		if err != nil {
			t.Fatalf("%q as %q: %v", pattern, expression, err)
		}
		if got, want := compiled.MatchString(name), matches(pattern, name); got != want {
			t.Errorf("%q as %q matches %q: %v", pattern, expression, name, got)
		}
	})
}

// matches says whether a pattern matches a path, one of its folders, or a file's own
// name.
func matches(pattern, name string) bool {
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		if ok, _ := path.Match(pattern, at); ok {
			return true
		}
	}
	ok, _ := path.Match(pattern, path.Base(name))
	return ok
}
