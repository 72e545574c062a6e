package chunk

import "bytes"

// withoutAttributes is a line without what is said of its declaration before it:
// annotations with their arguments, and attributes in square brackets.
func (s *syntax) withoutAttributes(body []byte) []byte {
	for range 8 {
		rest := body
		switch {
		case len(body) > 1 && body[0] == '@' && letter(body[1]):
			word, after := firstWord(body)
			if _, known := s.keywords[string(word)]; known || s.modifiers[string(word)] {
				return body
			}
			rest = withoutGroup(bytes.TrimLeft(after, " "), '(', ')')
		case s.aliases && isTemplate(body):
			rest = bytes.TrimLeft(body[len("template"):], " ")
			rest = rest[typesAt(rest):]
		case bytes.HasPrefix(body, []byte("pub(")): // pub(in path)
			rest = withoutGroup(body[len("pub"):], '(', ')')
		case bytes.HasPrefix(body, []byte(`extern "`)):
			if _, after, found := bytes.Cut(body[len(`extern "`):], []byte(`"`)); found {
				rest = after
			}
		case len(body) > 0 && body[0] == '[':
			rest = withoutGroup(body, '[', ']')
		case bytes.HasPrefix(body, []byte("#[")):
			rest = withoutGroup(body[1:], '[', ']')
		}
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) == len(body) {
			return body
		}
		body = rest
	}
	return body
}

// withoutGroup is a text without the brackets that it begins with; itself when it does not,
// or when they do not end.
func withoutGroup(text []byte, open, end byte) []byte {
	if len(text) == 0 || text[0] != open {
		return text
	}
	depth := 0
	for i, c := range text {
		switch c {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return text[i+1:]
			}
		}
	}
	return text
}

// withoutTuple is a function's line whose type is a tuple, with another type for that. rest is
// what follows its modifiers.
func withoutTuple(body, rest []byte) []byte {
	rest = bytes.TrimLeft(rest, " ")
	after := bytes.TrimLeft(withoutGroup(rest, '(', ')'), " ?")
	if len(after) == len(rest) || len(rest) == len(body) || len(after) == 0 || !letter(after[0]) {
		return body
	}
	return append([]byte("t "), after...)
}

// withoutScope is a modifier such as private[data] without its scope.
func withoutScope(word []byte) string {
	if i := bytes.IndexByte(word, '['); i > 0 {
		word = word[:i]
	}
	return string(word)
}

// withoutTypes is a line without types in angle brackets before its parameters:
// Map<K, V> of<K>(x) is Map of(x). What is no such pair is left as it is.
func withoutTypes(text []byte) []byte {
	open := bytes.IndexByte(text, '<')
	if open < 0 {
		return text
	}
	if paren := bytes.IndexByte(text, '('); paren >= 0 && paren < open {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:open]...)
	unpaired := 0
	for i := open; i < len(text) && unpaired < maxUnpaired; {
		n := typesAt(text[i:])
		switch {
		case n > 0:
			i += n
			continue
		case text[i] == '(':
			return append(out, text[i:]...)
		case text[i] == '<':
			unpaired++
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// maxUnpaired is after how many brackets without a pair a line has no types: for each the rest
// of the line is read.
const maxUnpaired = 16

// typesAt is the length of the types in angle brackets that a text begins with, or 0.
func typesAt(text []byte) int {
	if text[0] != '<' {
		return 0
	}
	depth := 0
	for i, c := range text {
		switch {
		case c == '<':
			depth++
		case c == '>' && text[i-1] != '-' && text[i-1] != '=': // of an arrow
			if depth--; depth == 0 {
				return i + 1
			}
		case c == ';' || c == '"' || c == '{' && i == 1:
			return 0
		}
	}
	return 0
}

// withoutMacros is what follows class or struct without words before the name, such as
// those that export it from a library.
func (s *syntax) withoutMacros(after []byte) []byte {
	if !s.aliases {
		return after
	}
	for range 3 {
		_, rest := firstWord(after)
		rest = bytes.TrimLeft(withoutGroup(bytes.TrimLeft(rest, " "), '(', ')'), " ")
		if word, _ := firstWord(rest); len(word) == 0 || !letter(word[0]) || string(word) == "final" {
			break
		}
		after = rest
	}
	return after
}

// variable reports whether what follows struct or the like makes a variable, a field or a
// parameter of that type, and no type.
func (s *syntax) variable(after []byte, level int) bool {
	if bytes.IndexByte(after, ')') >= 0 && bytes.IndexByte(after, '(') < 0 {
		return true // the last parameter
	}
	if bytes.IndexByte(after, '(') >= 0 {
		return false // a function, or attributes
	}
	head := after
	if i := bytes.IndexAny(head, "{:<"); i >= 0 {
		head = head[:i]
	}
	return bytes.ContainsAny(head, "*&,") || level > 0 && bytes.IndexByte(head, '=') >= 0
}

// withoutMacro is a function's line without a macro around its type: INLINE(int) name(x) is
// int name(x), for the reader of names.
func withoutMacro(body []byte) []byte {
	word, after := firstWord(body)
	if len(after) == 0 || after[0] != '(' || notNames[string(word)] {
		return body
	}
	rest := bytes.TrimLeft(withoutGroup(after, '(', ')'), " ")
	if name, parameters := firstWord(rest); len(name) == 0 || !letter(name[0]) || len(parameters) == 0 || parameters[0] != '(' {
		return body
	}
	return append([]byte("t "), rest...)
}

// isTemplate reports whether a line begins with the parameters of a template.
func isTemplate(body []byte) bool {
	rest, is := bytes.CutPrefix(body, []byte("template"))
	return is && bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte("<"))
}

// alias reads the name of a typedef of one line: the one in (*name), the one before
// parameters, or the last word.
func alias(body []byte) (Definition, bool) {
	if _, pointer, found := bytes.Cut(body, []byte("(*")); found {
		name, _ := lastPart(pointer)
		return Definition{Name: name, Type: true}, name != ""
	}
	text, ends := bytes.CutSuffix(bytes.TrimRight(body, " \t"), []byte(";"))
	if i := bytes.IndexAny(text, "[("); ends && i > 0 && bytes.IndexByte(text, '}') < 0 {
		text = text[:i]
	}
	name := lastWord(bytes.TrimRight(text, " \t"))
	return Definition{Name: name, Type: true}, ends && name != ""
}

// closing is the name after the brace that ends a typedef over lines: } name;
func closing(body []byte) string {
	text, ends := bytes.CutSuffix(bytes.TrimRight(body, " \t"), []byte(";"))
	i := bytes.LastIndexByte(text, '}')
	if !ends || i < 0 {
		return ""
	}
	first, _, _ := bytes.Cut(text[i:], []byte(","))
	return lastWord(bytes.TrimRight(first, " "))
}

// withoutComment is a line without the comment at its end.
func (s *syntax) withoutComment(body []byte) []byte {
	if s.open != "/*" {
		return body
	}
	for i := bytes.IndexByte(body, '/'); i >= 0 && i < len(body)-1; i++ {
		if body[i] == '/' && (body[i+1] == '*' || body[i+1] == '/' && body[i-min(i, 1)] != ':') {
			return bytes.TrimRight(body[:i], " \t")
		}
	}
	return body
}
