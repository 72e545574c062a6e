package draw

import "testing"

// A terminal shows what was meant, in whatever pieces it arrives; code is as it is.
func TestTerminalShowsNoEscapesOfMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		`under \<5\> \[x\] a\|b \\ \*`: `under <5> [x] a|b \ *`,
		`1\. http\://a \- \~~~`:        `1. http://a - ~~~`,
		`C:\temp`:                      `C:\temp`,
		"`a\\|b` and a\\|b":            "`a\\|b` and a|b",
		"```\nx\\<y\n```\na\\<b":       "```\nx\\<y\n```\na<b",
		`an address\, plain`:           `an address\, plain`,
		"a \\`b\\` c":                  "a `b` c",
	} {
		for size := 1; size <= len(text); size++ {
			var p Prose
			got := ""
			for at := 0; at < len(text); at += size {
				got += p.Read(text[at:min(at+size, len(text))])
			}
			if got != want {
				t.Fatalf("%q in pieces of %d: got %q, want %q", text, size, got, want)
			}
		}
	}
}
