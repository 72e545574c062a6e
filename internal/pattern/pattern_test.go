package pattern

import (
	"slices"
	"testing"
)

// TestPatternIsCompiledOnFirstUse: a wrong expression costs nothing until then, outside
// of tests, and what a pattern finds is what package regexp finds.
func TestPatternIsCompiledOnFirstUse(t *testing.T) {
	inTest = false
	defer func() { inTest = true }()
	wrong := New(`(`)
	if !panics(func() { wrong.MatchString("a") }) {
		t.Error("a wrong expression was used")
	}
	if got := New(`(a)(b+)`).FindAllStringSubmatch("abb ab", -1); !slices.Equal(got[0], []string{"abb", "a", "bb"}) || len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

// TestWrongPatternEndsEveryTest: it is found when the test binary starts.
func TestWrongPatternEndsEveryTest(t *testing.T) {
	if !panics(func() { New(`(`) }) {
		t.Error("a wrong expression was kept")
	}
}

func panics(f func()) (ended bool) {
	defer func() { ended = recover() != nil }()
	f()
	return false
}
