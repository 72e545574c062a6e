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
	rest, ok := plainValue(b, plainDepth)
	return ok && len(skipSpace(rest)) == 0 && utf8.Valid(b)
}

// plainValue reads a value, and returns what follows it.
func plainValue(b []byte, depth int) (rest []byte, ok bool) {
	b = skipSpace(b)
	if len(b) == 0 || depth == 0 {
		return nil, false
	}
	switch c := b[0]; {
	case c == '"':
		end := plainString(b, true)
		return b[end:], end > 0
	case c == '{':
		return plainObject(b[1:], depth-1)
	case c == '[':
		return plainArray(b[1:], depth-1)
	case c == '-' || c >= '0' && c <= '9':
		end := plainNumber(b)
		return b[end:], end > 0
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b) >= len(word) && string(b[:len(word)]) == word {
			return b[len(word):], true
		}
	}
	return nil, false
}

// plainObject reads an object after its brace.
func plainObject(b []byte, depth int) (rest []byte, ok bool) {
	var names [plainMembers][]byte
	if b = skipSpace(b); len(b) > 0 && b[0] == '}' {
		return b[1:], true
	}
	for n := range names {
		end := plainString(skipSpace(b), false)
		if end == 0 {
			return nil, false
		}
		b = skipSpace(b)
		names[n] = b[:end]
		for _, other := range names[:n] {
			if string(other) == string(names[n]) {
				return nil, false
			}
		}
		if b = skipSpace(b[end:]); len(b) == 0 || b[0] != ':' {
			return nil, false
		}
		if b, ok = plainValue(b[1:], depth); !ok {
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
	return nil, false
}

// plainArray reads an array after its bracket.
func plainArray(b []byte, depth int) (rest []byte, ok bool) {
	if b = skipSpace(b); len(b) > 0 && b[0] == ']' {
		return b[1:], true
	}
	for {
		if b, ok = plainValue(b, depth); !ok {
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

// plainString returns where a string ends; 0: it is none, or has other escapes.
func plainString(b []byte, escapes bool) int {
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
		case b[i] != '\\' || !escapes || i+1 == len(b) || !short[b[i+1]]:
			return 0
		}
		i++
	}
	return 0
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

// plainNumber returns where a number ends, or its exponent begins, which nothing expects;
// 0: it is none.
func plainNumber(b []byte) int {
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
	if end > plainDigits {
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
