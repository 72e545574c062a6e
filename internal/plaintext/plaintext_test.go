package plaintext_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/plaintext"
)

func TestOrdinaryTextsOfEveryScriptAreAllowed(t *testing.T) {
	for _, text := range []string{
		"", "Frank Davis", "O’Neil-Müller, Jr. & Söhne GmbH", "“quoted” — 12 % off!", "naïve", "nai\u0308ve", "東京都", "葛\U000e0100飾区", "می\u200cخواهم", "क्\u200dष", "שלום",
		"🙂👍🏽", "⚠️ careful", "1️⃣", "a b", "10 000 €", "Ελληνικά", "한국어", "ไทย", "\u0601123",
	} {
		if err := plaintext.Check(text, false); err != nil {
			t.Errorf("%q %v", text, err)
		}
		if got := plaintext.Escape(text, false); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if err := plaintext.Check("one\n\ttwo", true); err != nil {
		t.Errorf("lines: %v", err)
	}
}

func TestTextsThatShowLessThanTheyHoldAreRejected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\x00b", "U+0000, a control character, as character 2"},
		{"a\x1b[31m", "U+001B, a control character"},
		{"a\nb", "U+000A, a control character"},
		{"a\rb", "U+000D"},
		{"a\u0085b", "U+0085, a control character"},
		{"pay \u202e000,1", "U+202E, a character that changes the direction of text, as character 5"},
		{"\u2066x\u2069", "U+2066"}, {"x\u200f", "U+200F"}, {"\u061cx", "U+061C"},
		{"a\u200b", "U+200B, an invisible character"}, {"\ufeffa", "U+FEFF"}, {"a\u2060b", "U+2060"}, {"so\u00adft", "U+00AD"},
		{"a\u200d", "U+200D"}, {"\u200ca", "U+200C"}, {"a \u200db", "U+200D"}, {"a\u200d\u200db", "U+200D"}, {"👩\u200d💻", "U+200D"},
		{"a\U000e0041", "U+E0041, an invisible character"}, {"a\ufe0f", "U+FE0F"}, {"⚠️\ufe0f", "U+FE0F"}, {"a\U000e0100", "U+E0100"},
		{"a\u034fb", "U+034F"}, {"\u3164", "U+3164"}, {"\u115f", "U+115F"}, {"\u2800", "U+2800"},
		{"a\u2028b", "U+2028, a line separator"}, {"\ue000", "U+E000, a character without a public meaning"}, {"\uffff", "U+FFFF"},
		{" ", "no visible character"}, {"\u00a0\u3000", "no visible character"}, {"\u0301", "no visible character"}, {"\xff", "not valid UTF-8"},
	} {
		err := plaintext.Check(c.text, false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
	if err := plaintext.Check("\n\t\n", true); err == nil {
		t.Error("lines without a character are allowed")
	}
	if err := plaintext.Check("a\rb", true); err == nil {
		t.Error("a carriage return is allowed in lines")
	}
}

// TestNoInvisibleCharacterOfUnicodeIsAllowed goes through all code points: what
// Unicode calls ignorable, formatting or unassigned is rejected on its own and
// between letters, except for the joiners.
func TestNoInvisibleCharacterOfUnicodeIsAllowed(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		hidden := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector, unicode.Noncharacter_Code_Point) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		if !hidden || r == 0x200c || r == 0x200d {
			continue
		}
		for _, text := range []string{string(r), "a" + string(r) + "b"} {
			if plaintext.Check(text, false) == nil {
				t.Errorf("%U is allowed in %q", r, text)
			}
		}
	}
}

func TestStoredTextIsShownWithItsCodePoints(t *testing.T) {
	for text, want := range map[string]string{
		"Acme\u202eGmbH":  "Acme⟨U+202E⟩GmbH",
		"one\ntwo":        "one⟨U+000A⟩two",
		"\u200b":          "⟨U+200B⟩",
		"\xffx":           "\uFFFDx",
		"a\U000e0041\x1b": "a⟨U+E0041⟩⟨U+001B⟩",
	} {
		if got := plaintext.Escape(text, false); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := plaintext.Escape("one\ntwo\u202e", true); got != "one\ntwo⟨U+202E⟩" {
		t.Errorf("got %q", got)
	}
}

func TestClipCountsCharacters(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"abc", "abc"}, {"äöü", "äöü"}, {"äöüß", "äöü…"}} {
		if got := plaintext.Clip(c.text, 3); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzCheck: what is escaped has no odd character any more, what is allowed is
// not changed, and an error names a code point that is there.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"Frank Davis", "a\u202eb", "\u200d", "⚠️", "a\x00\n", "می\u200cخواهم", "\U000e0041", "\xff"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, lines bool) {
		err, escaped := plaintext.Check(text, lines), plaintext.Escape(text, lines)
		if err == nil && escaped != text {
			t.Fatalf("%q is allowed and became %q", text, escaped)
		}
		if again := plaintext.Check(escaped, lines); again != nil && !strings.Contains(again.Error(), "no visible") {
			t.Fatalf("%q became %q, which %v", text, escaped, again)
		}
		if err == nil {
			return
		}
		for _, r := range text {
			if strings.Contains(err.Error(), fmt.Sprintf("%U,", r)) {
				return
			}
		}
		if !strings.Contains(err.Error(), "no visible") && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%q: %v names no character of it", text, err)
		}
	})
}
