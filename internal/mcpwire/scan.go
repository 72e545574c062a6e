package mcpwire

import "bytes"

// members walks over the members of a JSON object. It relies on the text being
// valid JSON, so it only has to find where a value ends.
type members struct {
	rest []byte // after the opening brace
	ok   bool   // false after a name that is written with escapes
}

// membersOf begins a walk; an ok of false means that the text is no object.
func membersOf(object []byte) members {
	object = skipSpace(object)
	if len(object) < 2 || object[0] != '{' {
		return members{}
	}
	return members{rest: object[1:], ok: true}
}

// next returns the next member, more false after the last one. The name is without
// its quotes, the value without the space around it.
func (m *members) next() (name, value []byte, more bool) {
	if !m.ok {
		return nil, nil, false
	}
	m.rest = skipSpace(m.rest)
	if len(m.rest) > 0 && m.rest[0] == ',' {
		m.rest = skipSpace(m.rest[1:])
	}
	if len(m.rest) == 0 || m.rest[0] != '"' {
		m.ok = len(m.rest) > 0 && m.rest[0] == '}'
		m.rest = nil
		return nil, nil, false
	}
	end := valueEnd(m.rest)
	if end < 2 {
		m.ok = false
		return nil, nil, false
	}
	name, m.rest = m.rest[1:end-1], skipSpace(m.rest[end:])
	if !plain(name) || len(m.rest) == 0 || m.rest[0] != ':' {
		m.ok = false
		return nil, nil, false
	}
	m.rest = skipSpace(m.rest[1:])
	end = valueEnd(m.rest)
	value, m.rest = m.rest[:end], m.rest[end:]
	if end == 0 {
		m.ok = false
		return nil, nil, false
	}
	return name, value, true
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// valueEnd returns where the value at the beginning of b ends; 0 when it does not.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			length := stringEnd(b[i:])
			if length == 0 {
				return 0
			}
			i += length - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	if depth > 0 {
		return 0
	}
	return len(b)
}

// stringEnd returns where the string at the beginning of b ends; 0 when it does not.
func stringEnd(b []byte) int {
	for end := 1; end < len(b); {
		quote := bytes.IndexByte(b[end:], '"')
		if quote < 0 {
			return 0
		}
		escapes := 0 // before the quote: an odd number escapes it
		for at := end + quote - 1; at >= end && b[at] == '\\'; at-- {
			escapes++
		}
		if end += quote + 1; escapes%2 == 0 {
			return end
		}
	}
	return 0
}

// plain reports whether the inside of a string is its own meaning to every reader
// and writer: printable ASCII without escapes, and without what some writers escape.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// text returns the inside of a plain string.
func text(value []byte) (inside []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	inside = value[1 : len(value)-1]
	return inside, plain(inside)
}

func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
