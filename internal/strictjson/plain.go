package strictjson

import "unicode/utf8"

// The bounds of what isPlain reads. All are below those of a document.
const (
	plainDepth   = 16
	plainMembers = 16 // of one object: each name is compared with the others
	plainDigits  = 15 // of a number, with its sign and point
)

// isPlain reports whether b is strict JSON by a reading that is four times as quick as a
// decoder's, and understands what most documents are: no escapes but the short ones, none in
// names, no exponents, small objects. False says nothing.
func isPlain(b []byte) bool {
	rest, ok := strict.value(b, plainDepth)
	return ok && len(skipSpace(rest)) == 0 && utf8.Valid(b)
}

// Members reads an object as quickly, by the rules of JSON alone: an object may repeat names
// and have many. each gets the members, the names as they are written between their quotes,
// and ends the reading with false. A result of false says nothing of the document, which may
// be fine to another reader.
func Members(b []byte, each func(name, value []byte) bool) bool {
	b = skipSpace(b)
	if len(b) == 0 || b[0] != '{' || !utf8.Valid(b) {
		return false
	}
	rest, ok := lenient.object(b[1:], plainDepth-1, each)
	return ok && len(skipSpace(rest)) == 0
}

// rules are those by which a document is read quickly.
type rules bool

const (
	strict  rules = true
	lenient rules = false
)

// value reads a value, and returns what follows it.
func (r rules) value(b []byte, depth int) (rest []byte, ok bool) {
	b = skipSpace(b)
	if len(b) == 0 || depth == 0 {
		return nil, false
	}
	switch c := b[0]; {
	case c == '"':
		end := r.text(b, false)
		return b[end:], end > 0
	case c == '{':
		return r.object(b[1:], depth-1, nil)
	case c == '[':
		return r.array(b[1:], depth-1)
	case c == '-' || c >= '0' && c <= '9':
		end := r.number(b)
		return b[end:], end > 0
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b) >= len(word) && string(b[:len(word)]) == word {
			return b[len(word):], true
		}
	}
	return nil, false
}

// object reads an object after its brace. each may be nil.
func (r rules) object(b []byte, depth int, each func(name, value []byte) bool) (rest []byte, ok bool) {
	var names [plainMembers][]byte
	if b = skipSpace(b); len(b) > 0 && b[0] == '}' {
		return b[1:], true
	}
	for n := 0; ; n++ {
		b = skipSpace(b)
		end := r.text(b, true)
		if end == 0 || r == strict && !isNew(&names, n, b[:end]) {
			return nil, false
		}
		name := b[1 : end-1]
		if b = skipSpace(b[end:]); len(b) == 0 || b[0] != ':' {
			return nil, false
		}
		value := skipSpace(b[1:])
		if b, ok = r.value(value, depth); !ok || each != nil && !each(name, value[:len(value)-len(b)]) {
			return nil, false
		}
		b = skipSpace(b)
		switch {
		case len(b) > 0 && b[0] == '}':
			return b[1:], true
		case len(b) == 0 || b[0] != ',':
			return nil, false
		}
		b = b[1:]
	}
}

// isNew notes the name of an object's member n, and reports whether no other one has it.
func isNew(names *[plainMembers][]byte, n int, name []byte) bool {
	if n == plainMembers {
		return false
	}
	for _, other := range names[:n] {
		if string(other) == string(name) {
			return false
		}
	}
	names[n] = name
	return true
}

// array reads an array after its bracket.
func (r rules) array(b []byte, depth int) (rest []byte, ok bool) {
	if b = skipSpace(b); len(b) > 0 && b[0] == ']' {
		return b[1:], true
	}
	for {
		if b, ok = r.value(b, depth); !ok {
			return nil, false
		}
		b = skipSpace(b)
		switch {
		case len(b) > 0 && b[0] == ']':
			return b[1:], true
		case len(b) == 0 || b[0] != ',':
			return nil, false
		}
		b = b[1:]
	}
}

// text returns where a string ends; 0: it is none, or has escapes that are left to others.
func (r rules) text(b []byte, name bool) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		if !rare[b[i]] {
			continue
		}
		switch {
		case b[i] == '"':
			return i + 1
		case b[i] != '\\' || i+1 == len(b) || r == strict && name:
			return 0
		case short[b[i+1]]:
			i++
		case r == strict || b[i+1] != 'u' || i+6 > len(b) || !isHex(b[i+2:i+6]):
			return 0
		default:
			i += 5
		}
	}
	return 0
}

func isHex(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// rare are the bytes that end a string or are none of its text, and short those that follow
// the backslash of an escape of two bytes.
var rare, short = func() (rare, short [256]bool) {
	for c := range ' ' {
		rare[c] = true
	}
	rare['"'], rare['\\'] = true, true
	for _, c := range `"\/bfnrt` {
		short[c] = true
	}
	return rare, short
}()

// number returns where a number ends, or its exponent begins, which nothing expects;
// 0: it is none.
func (r rules) number(b []byte) int {
	at := 0
	if b[0] == '-' {
		at = 1
	}
	whole := digitsFrom(b, at)
	if whole == at || b[at] == '0' && whole > at+1 {
		return 0
	}
	end := whole
	if end < len(b) && b[end] == '.' {
		if end = digitsFrom(b, whole+1); end == whole+1 {
			return 0
		}
	}
	if r == strict && end > plainDigits {
		return 0
	}
	return end
}

func digitsFrom(b []byte, at int) int {
	for at < len(b) && b[at] >= '0' && b[at] <= '9' {
		at++
	}
	return at
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}
