package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// property reads type Name { get; set; }, type Name => value, and type Name whose brace is on
// the next line, all of which a modifier makes no statement.
func property(body []byte) (Definition, bool) {
	left, brace, _ := bytes.Cut(body, []byte("{"))
	if before, _, found := bytes.Cut(left, []byte("=>")); found {
		left = before
	} else if len(brace) > 0 && !bytes.Contains(brace, []byte("get")) && !bytes.Contains(brace, []byte("set")) && !bytes.Contains(brace, []byte("init")) {
		return Definition{}, false
	}
	left = bytes.TrimRight(withoutTypes(left), " \t")
	name := lastWord(left)
	before := bytes.TrimSpace(left[:len(left)-len(name)])
	first, rest := firstWord(before)
	if name == "" || len(bytes.TrimSpace(rest)) == 0 || !visible[string(first)] || bytes.ContainsAny(before, "=;(\"") {
		return Definition{}, false
	}
	return Definition{Name: name}, true
}

// visible are the words before a property that are not before a statement.
var visible = set("public protected internal private static override virtual abstract required")

// constant reads Name = value and the first name of attr_reader :name, as Ruby has them.
func constant(body []byte) (Definition, bool) {
	word, rest := firstWord(body)
	rest = bytes.TrimLeft(rest, " ")
	if bytes.HasPrefix(word, []byte("attr_")) && bytes.HasPrefix(rest, []byte(":")) {
		name, _ := lastPart(rest[1:])
		return Definition{Name: name}, name != ""
	}
	isName := len(word) > 0 && 'A' <= word[0] && word[0] <= 'Z' && !slices.ContainsFunc(word, func(c byte) bool { return !letter(c) })
	return Definition{Name: string(word)}, isName && len(rest) > 1 && rest[0] == '=' && bytes.IndexByte([]byte("=~>"), rest[1]) < 0
}

// label reads the name after a keyword of a language whose names are in quotes or have dashes.
func (s *syntax) label(after []byte) (name, of string) {
	switch {
	case s.labels: // resource "type" "name" {
		parts := bytes.Split(after, []byte(`"`))
		if len(parts) < 3 || len(bytes.TrimSpace(parts[0])) > 0 {
			return "", ""
		}
		name, _ = lastPart(parts[len(parts)-2])
		if len(parts) > 4 {
			of = string(parts[1])
		}
		return name, of
	case s.dashed: // function global:Get-Item
		end := bytes.IndexAny(after, " ({\t")
		if end < 0 {
			end = len(after)
		}
		name = string(after[:end])
		return name[bytes.LastIndexByte(after[:end], ':')+1:], ""
	}
	for _, word := range []string{"if", "not", "exists"} {
		if first, rest := firstWord(after); bytes.EqualFold(first, []byte(word)) {
			after = bytes.TrimLeft(rest, " ")
		}
	}
	plain := bytes.Map(func(r rune) rune {
		if strings.ContainsRune("\"`[]", r) {
			return -1
		}
		return r
	}, after)
	return lastPart(plain)
}
