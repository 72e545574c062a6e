package glob

import (
	"errors"
	"strings"
	"testing"
)

// TestPathFilters: a path, what is below it, and patterns of paths and of names.
func TestPathFilters(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{"src/auth/token.go", true}, {"src/auth", true}, {"src", true}, {"src/au", false}, {"auth", false},
		{"src/*/token.go", true}, {"src/a*", true}, {"src/*", true}, {"*.go", true}, {"token*", true}, {"src/*.go", false}, {"*.ts", false}, {"[", false},
		{"**/*.go", true}, {"**/token.go", true}, {"**", true}, {"src/**", true}, {"**/auth", true}, {"src/**/*.go", true}, {"src/**/auth/*.go", true}, {"**/src/**", true},
		{"src/auth/token.go/**", true}, {"**/*.ts", false}, {"**/src/token.go", false}, {"src/**/src", false}, {"**/tok", false}, {"**/[", false}, {"a**", false}, {"s**", true},
	} {
		if got := Matches("src/auth/token.go", c.pattern); got != c.want {
			t.Errorf("%s: %t", c.pattern, got)
		}
	}
}

// TestAnyDepthIsFast: patterns that could be tried in very many ways are tried in few.
func TestAnyDepthIsFast(t *testing.T) {
	pattern, name := strings.Repeat("**/a*/", 400)+"**/b", strings.Repeat("aa/", 2000)+"c"
	if Matches(name, pattern) {
		t.Error("it does not match")
	}
	if !Matches(name+"/b", pattern) {
		t.Error("it matches")
	}
}

// TestPatternsThatFindNothingAreKnown: what shells understand and patterns here do not, and
// what is none. Names of folders may have such characters.
func TestPatternsThatFindNothingAreKnown(t *testing.T) {
	for path, want := range map[string]error{
		"src/{a,b}/*.go": ErrAlternatives, "*.{js,ts}": ErrAlternatives, "[": ErrPattern, "src/[a": ErrPattern, "**/[": ErrPattern, "**/[a/b]": ErrPattern,
		"": nil, "src": nil, "**/*.go": nil, "[a-m]*": nil, "app/[id]/page.tsx": nil, "{{project}}/x": nil, "{a}": nil,
	} {
		if err := Check(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", path, err, want)
		}
	}
}
