package blob

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"countersign.dev/internal/agent"
)

// parser takes the text of an answer piece by piece and gives back what is text
// and what is a call. Nothing of a call is ever given back as text, so what could
// still become one is held until that is known.
//
// A call is a JSON object whose first name is "tool" or "arguments", alone, in a
// list or in a code fence. Any other object is text as a whole, so a call inside
// of it, such as an example, is none.
type parser struct {
	text func(string) bool
	call func(agent.Call) bool

	buf     []byte // not yet given back
	state   state
	fence   int  // backticks before the object, which close it too
	listed  bool // the object came in a list
	scan    scanner
	stopped bool // a callback returned false
}

type state int

const (
	inText    state = iota
	inObject        // of a call: buf begins with it
	inOther         // an object that is no call: what is scanned is given back
	afterCall       // what closes a fence or a list is dropped
)

// write takes the next piece. It returns false when a callback did.
func (p *parser) write(piece string) bool {
	p.buf = append(p.buf, piece...)
	for !p.stopped && p.step() {
	}
	return !p.stopped
}

// end takes the end of the answer: an object that is not whole is a call that
// cannot be made.
func (p *parser) end() {
	if p.stopped || len(p.buf) == 0 {
		return
	}
	switch {
	case p.state == inObject, beginsCall.Match(p.buf):
		p.call(callOf(p.buf))
	case p.state == inText:
		p.text(string(p.buf))
	}
}

// beginsCall matches an opening that got as far as a name.
var beginsCall = regexp.MustCompile("^[`a-zA-Z\\s]*\\[?\\s*\\{\\s*\"[ta]")

// step does as much as the buffer allows, and reports whether there is more.
func (p *parser) step() bool {
	switch p.state {
	case inObject, inOther:
		return p.object()
	case afterCall:
		return p.after()
	}
	at := bytes.IndexAny(p.buf, "`[{")
	if at < 0 {
		at = len(p.buf)
	}
	p.show(at)
	return len(p.buf) > 0 && !p.stopped && p.begin()
}

// show gives the first n bytes back as text.
func (p *parser) show(n int) {
	if n == 0 {
		return
	}
	p.stopped = !p.text(string(p.buf[:n]))
	p.buf = p.buf[n:]
}

// begin decides what the buffer begins with: a call, some other object, or text.
func (p *parser) begin() bool {
	n, found := opening(p.buf)
	switch found {
	case unknown:
		return false
	case calls:
		p.fence = max(p.fence, countAny(p.buf, "`"))
		p.listed = p.listed || bytes.IndexByte(p.buf[:n], '[') >= 0
		p.buf, p.state, p.scan = p.buf[n:], inObject, scanner{}
	case other:
		p.state, p.scan = inOther, scanner{}
	case words:
		p.show(n)
	}
	return true
}

// object scans the object at the beginning of the buffer to its end.
func (p *parser) object() bool {
	whole := p.scan.to(p.buf)
	if p.state == inOther {
		p.show(p.scan.at)
		p.scan.at = 0
	}
	if !whole {
		return false
	}
	if p.state == inOther {
		p.state = inText
		return true
	}
	raw := p.buf[:p.scan.at]
	p.buf, p.state = p.buf[p.scan.at:], afterCall
	p.stopped = !p.call(callOf(raw))
	return true
}

// after drops what closes a fence or a list, and looks for the next call.
func (p *parser) after() bool {
	between := blanks
	if p.listed || p.fence > 0 {
		between += ","
	}
	if p.listed {
		between += "]"
	}
	rest := bytes.TrimLeft(p.buf, between)
	switch run := countAny(rest, "`"); {
	case len(rest) == 0, p.fence > 0 && run == len(rest) && run < p.fence:
		return false
	case p.fence > 0 && run >= p.fence:
		p.buf, p.fence = rest[p.fence:], 0
		return true
	case rest[0] == '{':
		if p.buf = rest; !p.begin() {
			return false
		}
	case p.listed:
		p.buf = rest
	}
	if p.state != inObject {
		p.fence, p.listed = 0, false
	}
	if p.state == afterCall {
		p.state = inText
	}
	return true
}

const blanks = " \t\r\n"

// scanner finds the end of an object, over pieces of it.
type scanner struct {
	at, depth int
	inString  bool
	escaped   bool
}

func (s *scanner) to(text []byte) (whole bool) {
	for ; s.at < len(text); s.at++ {
		switch c := text[s.at]; {
		case s.escaped:
			s.escaped = false
		case s.inString && c == '\\':
			s.escaped = true
		case c == '"':
			s.inString = !s.inString
		case s.inString:
		case c == '{':
			s.depth++
		case c == '}':
			if s.depth--; s.depth == 0 {
				s.at++
				return true
			}
		}
	}
	return false
}

// found is what a text begins with.
type found int

const (
	unknown found = iota // more of it must come
	calls                // an object that is a call, after n bytes
	other                // an object that is none
	words                // n bytes of text
)

// opening reads the beginning of a text that begins with a backtick, a bracket or
// a brace.
func opening(text []byte) (n int, what found) {
	run := countAny(text, "`")
	i := run
	if run > 0 {
		switch {
		case run == len(text):
			return 0, unknown
		case run > 3:
			return run, words
		}
		i += countWord(text[i:])
		i += countAny(text[i:], blanks)
	}
	if i < len(text) && text[i] == '[' {
		i++
		i += countAny(text[i:], blanks)
	}
	if i == len(text) {
		return 0, unknown
	}
	if text[i] != '{' {
		return max(run, 1), words
	}
	what = firstName(text[i+1:])
	switch {
	case what == calls:
		return i, calls
	case what == other && i > 0:
		return i, words // the brace begins the next look
	case what == words:
		return i + 1, words
	}
	return 0, what
}

// firstName reads the first name of an object, after its brace.
func firstName(text []byte) found {
	i := countAny(text, blanks)
	if i == len(text) {
		return unknown
	}
	if text[i] != '"' {
		return words
	}
	for _, name := range []string{`"tool"`, `"arguments"`} {
		rest := text[i:]
		if len(rest) < len(name) && strings.HasPrefix(name, string(rest)) {
			return unknown
		}
		if after, ok := bytes.CutPrefix(rest, []byte(name)); ok {
			after = bytes.TrimLeft(after, blanks)
			switch {
			case len(after) == 0:
				return unknown
			case after[0] == ':':
				return calls
			}
		}
	}
	return other
}

func countAny(text []byte, set string) int { return len(text) - len(bytes.TrimLeft(text, set)) }

func countWord(text []byte) int {
	return len(text) - len(bytes.TrimLeftFunc(text, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }))
}

// named finds the tool in an object that is not JSON.
var named = regexp.MustCompile(`"tool"\s*:\s*"([^"]*)"`)

// callOf reads a call. Arguments that cannot be read stay as they are written:
// the check of arguments says so to the model.
func callOf(raw []byte) agent.Call {
	var c struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(raw, &c) == nil {
		return agent.Call{Tool: strings.TrimSpace(c.Tool), Args: unquoted(c.Arguments)}
	}
	var tool string
	if m := named.FindSubmatch(raw); m != nil {
		tool = string(m[1])
	}
	return agent.Call{Tool: tool, Args: bytes.Clone(raw)}
}

// unquoted is an object that was written as a text of JSON, and nothing for null.
func unquoted(args json.RawMessage) json.RawMessage {
	var text string
	if string(args) == "null" {
		return nil
	}
	if json.Unmarshal(args, &text) == nil && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return args
}
