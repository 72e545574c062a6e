package ignore

import "strings"

// set is the bytes that a class matches.
type set [256]bool

func (s *set) add(first, last byte, anyCase AnyCase) {
	for c := int(first); c <= int(last); c++ {
		s[c], s[anyCase.byte(byte(c))] = true, true
	}
}

// named are the classes that have names: the first and the last byte of each range.
var named = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~", "lower": "az",
	"print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf",
}

// class reads the class whose [ is before the text, and returns what is after its ]. One that
// does not end, or has an unknown name in it, is none.
func class(text string, anyCase AnyCase) (s set, rest string, ok bool) {
	r := reader{rest: text, ok: true, anyCase: anyCase}
	negated := strings.HasPrefix(text, "!") || strings.HasPrefix(text, "^")
	if negated {
		r.next()
	}
	for before, first := byte(0), true; r.ok && (first || !strings.HasPrefix(r.rest, "]")); first = false {
		before = r.member(&s, before)
	}
	if !r.ok {
		return s, "", false
	}
	for c := range s {
		s[c] = s[c] != negated && c != '/'
	}
	return s, r.rest[1:], true
}

// reader reads a class. It is not ok after the end of the pattern.
type reader struct {
	rest    string
	ok      bool
	anyCase AnyCase
}

func (r *reader) next() (c byte) {
	if r.rest == "" {
		r.ok = false
		return 0
	}
	c, r.rest = r.rest[0], r.rest[1:]
	return c
}

// member adds the next character, range or named class, and returns with what byte a range
// can begin after it.
func (r *reader) member(s *set, before byte) byte {
	c := r.next()
	switch {
	case c == '\\':
		c = r.next()
	case c == '-' && before != 0 && r.rest != "" && r.rest[0] != ']':
		if c = r.next(); c == '\\' {
			c = r.next()
		}
		s.add(before, c, r.anyCase)
		return 0
	case c == '[' && strings.HasPrefix(r.rest, ":"):
		name, after, ended := strings.Cut(r.rest[1:], "]")
		name, isName := strings.CutSuffix(name, ":")
		if r.ok = ended; !isName {
			break
		}
		ranges, known := named[name]
		r.rest, r.ok = after, ended && known
		for ; ranges != ""; ranges = ranges[2:] {
			s.add(ranges[0], ranges[1], r.anyCase)
		}
		return 0
	}
	s[c] = true // in any case, too: as git, which then finds a capital letter in ranges only
	return c
}
