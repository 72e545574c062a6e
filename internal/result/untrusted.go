package result

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign.dev/internal/fault"
)

// Everything, as the only name in a tool's untrusted fields, means that no text
// of its results is verified: another company's tool.
const Everything = "*"

// EncodeForModel writes an outcome's envelope for a language model: the texts of
// the untrusted fields are delivered in marked blocks. The mark holds a random
// key, made for this answer: an author of the text cannot know it, and so
// cannot close the block. Order and numbers stay as they were. marked is false
// when the tool has no untrusted field; the answer is then the plain envelope.
func EncodeForModel(o Outcome, untrusted []string) (answer json.RawMessage, marked bool) {
	answer = EncodeEnvelope(o)
	if len(untrusted) == 0 {
		return answer, false
	}
	return mark(answer, untrusted), true
}

// ClipForModel is EncodeForModel with at most that many rows and about that many
// bytes, clipped as [EncodeClipped] does. What was left out is said in the
// metadata, and how to ask for less. The message of an error, or of a change that
// waits, stays.
func ClipForModel(o Outcome, untrusted []string, rows, size int) json.RawMessage {
	for limit := size; ; limit /= 2 { // the marks need room, too
		answer := encodeClipped(o, rows, limit, askForLess)
		if len(untrusted) > 0 {
			answer = mark(answer, untrusted)
		}
		if len(answer) <= size || limit <= 0 {
			return answer
		}
	}
}

// askForLess is the advice to a model that reads only a part of an answer.
const askForLess = " Ask for less: narrower filters, or a smaller limit and then its cursor."

// mark puts the named fields of an answer into blocks. An answer that is not
// valid JSON becomes one block.
func mark(answer json.RawMessage, fields []string) json.RawMessage {
	m := newMarker(fields)
	m.in = jsontext.NewDecoder(bytes.NewBuffer(answer), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	m.out = jsontext.NewEncoder(&m.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := m.value(false); err != nil {
		whole, _ := json.Marshal(m.block(string(answer))) // a string always encodes
		return whole
	}
	return bytes.TrimSpace(m.buffer.Bytes())
}

type marker struct {
	fields []string
	key    string
	in     *jsontext.Decoder
	out    *jsontext.Encoder
	buffer bytes.Buffer
	name   []byte
}

func newMarker(fields []string) *marker {
	var key [8]byte
	_, _ = rand.Read(key[:]) // crypto/rand.Read never fails since Go 1.24
	return &marker{fields: fields, key: hex.EncodeToString(key[:])}
}

func (m *marker) block(text string) string {
	return "<<untrusted " + m.key + ">>" + text + "<<end " + m.key + ">>"
}

// Mark puts a whole text into a marked block, for text that follows from untrusted
// text.
func Mark(text string) string { return newMarker(nil).block(text) }

// Unmark removes the marks from a text, for callers that show it to a person
// and give it to no model.
func Unmark(text string) string {
	rest, ok := strings.CutPrefix(text, "<<untrusted ")
	if !ok || len(rest) < 18 || rest[16:18] != ">>" {
		return text
	}
	inner, ok := strings.CutSuffix(rest[18:], "<<end "+rest[:16]+">>")
	if !ok {
		return text
	}
	return inner
}

// Unmarked returns an encoded answer without the marks of its texts, for callers that
// show it to a person and give it to no model. Order and numbers stay as they were.
func Unmarked(answer json.RawMessage) json.RawMessage {
	if !bytes.Contains(answer, []byte("untrusted ")) {
		return answer
	}
	in := jsontext.NewDecoder(bytes.NewBuffer(answer), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var buffer bytes.Buffer
	out := jsontext.NewEncoder(&buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(buffer.Bytes())
		}
		if err == nil && token.Kind() == '"' {
			token = jsontext.String(Unmark(token.String()))
		}
		if err != nil || out.WriteToken(token) != nil {
			return answer // no valid JSON: it has no marks of ours inside
		}
	}
}

// value copies one value. inside means that a field above it is untrusted.
func (m *marker) value(inside bool) error {
	switch kind := m.in.PeekKind(); {
	case kind == '{':
		return m.container('}', inside)
	case kind == '[':
		return m.container(']', inside)
	case kind == '"' && inside:
		token, err := m.in.ReadToken()
		if err != nil {
			return err
		}
		return m.out.WriteToken(jsontext.String(m.block(token.String())))
	}
	return m.copy()
}

func (m *marker) container(end jsontext.Kind, inside bool) error {
	if err := m.delimiter(); err != nil {
		return err
	}
	for kind := m.in.PeekKind(); kind != end; kind = m.in.PeekKind() {
		below := inside
		if end == '}' {
			name, err := m.in.ReadValue()
			if err != nil {
				return err
			}
			if m.name, err = jsontext.AppendUnquote(m.name[:0], name); err != nil {
				return err
			}
			if err := m.out.WriteValue(name); err != nil {
				return err
			}
			below = inside || m.untrusted()
		}
		if err := m.value(below); err != nil {
			return err
		}
	}
	return m.delimiter()
}

func (m *marker) delimiter() error {
	token, err := m.in.ReadToken()
	if err != nil {
		return err
	}
	return m.out.WriteToken(token)
}

func (m *marker) copy() error {
	value, err := m.in.ReadValue()
	if err != nil {
		return err
	}
	return m.out.WriteValue(value)
}

// untrusted reports whether the member that was named last needs a mark. For
// Everything these are the members that hold text of the tool, and none of the
// envelope's own.
func (m *marker) untrusted() bool {
	for _, field := range m.fields {
		if field == string(m.name) {
			return true
		}
		if field != Everything {
			continue
		}
		switch string(m.name) {
		case "data", "message", "suggestedAction", "details", "people", "confirmationData":
			return true
		}
	}
	return false
}

// Markdown makes 300 characters of a text safe in markdown: no layout, link or picture.
// What is escaped is what web/markdown.js reads.
func Markdown(text string) string {
	text = fault.Clip(strings.Join(strings.Fields(text), " "), 300)
	first := -1
	if begins.MatchString(text) {
		first = strings.IndexAny(text, ".)-+#~")
	}
	var b strings.Builder
	for i, r := range text {
		if i == first || isMark(text, i) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// begins matches what makes a heading, an item or a block of code at the start of a line.
var begins = regexp.MustCompile(`^(?:(?:\d{1,9}[.)]|[-+]|#{1,6})(?: |$)|~~~)`)

// isMark reports whether a character is read as layout within a line. An underscore within
// a word is none, and the colon of an address makes it a link.
func isMark(text string, at int) bool {
	switch text[at] {
	case '\\', '|', '`', '[', '<', '*':
		return true
	case '_':
		return at == 0 || at+1 == len(text) || !isPlain(text[at-1]) || !isPlain(text[at+1])
	case ':':
		return strings.HasPrefix(text[at:], "://")
	}
	return false
}

// isPlain reports whether a byte is a letter or a digit of ASCII: a word of the page has no others.
func isPlain(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
