package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	for word, want := range map[string]string{
		"parseHTTPRequest2": "parsehttprequest2 pars http request",
		"verify_tokens":     "verifytokens verifi token",
		"_seal":             "seal",
		"sha256":            "sha256",
		"utf8":              "utf8",
		"2fa":               "2fa",
		"request12345":      "request12345 request",
		"x":                 "",
		"86400":             "",
		"20240102_users":    "20240102users user",
		"Überprüfung":       "überprüfung",

		"0x80070005":      "0x80070005",
		"0XCAFE_BABE":     "0xcafebabe",
		"0x1F600":         "0x1f600",
		"0xff":            "",
		"0x80070005L":     "0x80070005",
		"0x7fff0000u":     "0x7fff0000",
		"0x8000_0000_u32": "0x80000000",
		"0xProject":       "0xproject project",
		"1_000_000":       "",
		"__":              "",
		"0x":              "",
		"include0x":       "include0x includ",
		"5973719e":        "5973719e",
		"5973719E":        "5973719e",
		"face2face":       "face2face face2 face",
		"deadbeef":        "deadbeef",
		"1234567890ab":    "1234567890ab",

		strings.Repeat("a", MaxWord):   strings.Repeat("a", MaxWord),
		strings.Repeat("a", MaxWord+1): "",
	} {
		if got := strings.Join(Terms(word), " "); got != want {
			t.Errorf("%s: %q, not %q", word, got, want)
		}
	}
}

// FuzzTerms: the parts of a word are the word, but for underscores, and no term is empty or a number.
func FuzzTerms(f *testing.F) {
	for _, word := range []string{"parseHTTPRequest2", "a_b__c_", "0x80070005", "5973719e", "ÀB", "\xff\xfe", "1a2b3c", "371$", "$_$", ""} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		parts := Split(word)
		if whole := strings.Join(parts, ""); strings.ReplaceAll(whole, "_", "") != strings.ReplaceAll(word, "_", "") {
			t.Errorf("%q is not %q", parts, word)
		}
		if slices.Contains(parts, "") {
			t.Errorf("%q has an empty part", parts)
		}
		if !utf8.ValidString(word) {
			return
		}
		for _, term := range Terms(word) {
			if term == "" || IsNumber(term) {
				t.Errorf("%q of %q is no term", term, word)
			}
		}
	})
}

// TestNext finds each word, and the end.
func TestNext(t *testing.T) {
	var got []string
	src := []byte("  func (x *T) Über_1(a,b)")
	for at := 0; ; {
		start, end := Next(src, at)
		if start == len(src) {
			break
		}
		got, at = append(got, string(src[start:end])), end
	}
	if want := []string{"func", "x", "T", "Über_1", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestWholeIsOneForm of a name, however a language or a person writes it.
func TestWholeIsOneForm(t *testing.T) {
	for _, name := range []string{"ReadLine", "read_line", "read-line", "$ReadLine", "READ_LINE$"} {
		if got := Whole(name); got != "readline" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
