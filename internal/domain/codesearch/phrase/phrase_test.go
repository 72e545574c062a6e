package phrase

import (
	"math"
	"strings"
	"testing"
)

// known takes every word but short ones for equally rare, and knows a to z by their first letter.
func known(word string) Word {
	w := Word{Group: int(strings.ToLower(word)[0] - 'a')}
	if len(word) > 3 {
		w.Worth = 1
	}
	return w
}

// TestShareIsOfTheLongestRun: by what its words are worth, without a gap, whatever the signs and the case.
func TestShareIsOfTheLongestRun(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        float64
	}{
		{"cannot open the file: access was denied", "fail('Cannot open the file:\n  access was denied')", 1},
		{"cannot open the file: access was denied", "cannot open the file, or access was denied", 3.0 / 5},
		{"cannot open the file: access was denied", "cannot open a file: access denied", 0}, // two words at most
		{"cannot open the file: access was denied", "denied was access file the open cannot", 0},
		{"cannot open the file: access was denied", "", 0},
		{`where is "access denied" made from errors`, "// access_denied, access denied", 1},
		{`where is "access denied" made from errors`, "access was denied", 0},
		{"where is “access denied” made", "access denied", 1},
		{"ячейка ясно якорь язык явный", "Ясно: ЯЧЕЙКА Ясно ЯКОРЬ Язык ЯВНЫЙ", 1},
		{"again again again again again", "again again again again again again again", 1},
	} {
		most := 0.0
		for _, p := range Of(c.query, false, known) {
			most = max(most, p.Share([]byte(c.text)))
		}
		if math.Abs(most-c.want) > 1e-9 {
			t.Errorf("%s in %q: %.3f, not %.3f", c.query, c.text, most, c.want)
		}
	}
}

// TestMostIsNoLessThanShare, and tells what has too few of the words.
func TestMostIsNoLessThanShare(t *testing.T) {
	p := Of("cannot open the file: access was denied", false, known)[0]
	for groups, want := range map[string]float64{"": 0, "t": 0, "c": 1.0 / 5, "cofad": 1, "xyz": 0} {
		mask := uint32(0)
		for _, letter := range groups {
			mask |= 1 << (letter - 'a')
		}
		if got := p.Most(mask); math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %.3f, not %.3f", groups, got, want)
		}
	}
}

// TestWhatIsSoughtWordForWord: no names, nothing short, nothing that is not worth anything, and no more than has room.
func TestWhatIsSoughtWordForWord(t *testing.T) {
	long := strings.Repeat("word ", 200)
	for _, c := range []struct {
		query  string
		isName bool
		want   int
	}{
		{"access was denied", false, 0},
		{"access was always denied", false, 1},
		{"access was always denied", true, 0},
		{`"access denied"`, true, 1},
		{`"access"`, false, 0},
		{`"was not" of the for`, false, 0},
		{strings.Repeat(`"access denied" `, 9), false, 1 + mostQuoted},
		{long, false, 1},
		{"", false, 0},
	} {
		all := Of(c.query, c.isName, known)
		if len(all) != c.want {
			t.Errorf("%.40q: %d phrases, not %d", c.query, len(all), c.want)
		}
		for _, p := range all {
			if len(p.words) > mostWords {
				t.Errorf("%.40q has %d words", c.query, len(p.words))
			}
		}
	}
}
