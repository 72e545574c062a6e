package mcpwire

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Result is the answer to a call that was carried out, well or not.
type Result struct {
	Structured []byte            // one JSON value
	Links      []json.RawMessage // blocks of content after the text, each a JSON object
	IsError    bool
}

// AppendResult appends the answer to a call: the structured content, and for
// clients that read only that its copy as text. about is what the server says of
// itself in answers of the modern version, as JSON.
func AppendResult(dst []byte, c Call, r Result, about []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, c.ID...)
	dst = append(dst, `,"result":{`...)
	if c.Modern {
		dst = append(dst, `"_meta":{"io.modelcontextprotocol/serverInfo":`...)
		dst = append(dst, about...)
		dst = append(dst, `},"resultType":"complete",`...)
	}
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = appendQuoted(dst, r.Structured)
	dst = append(dst, '}')
	for _, link := range r.Links {
		dst = append(append(dst, ','), link...)
	}
	dst = append(dst, `],"structuredContent":`...)
	dst = append(dst, r.Structured...)
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return append(dst, `}}`...)
}

// AppendError appends a JSON-RPC error in answer to a call.
func AppendError(dst []byte, c Call, code int64, message string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, c.ID...)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, code, 10)
	dst = append(dst, `,"message":`...)
	dst = appendQuoted(dst, []byte(message))
	return append(dst, `}}`...)
}

// appendQuoted appends valid UTF-8 as a JSON string, as the SDK writes it: encoding/json
// without its escapes for HTML.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(slices.Grow(dst, len(text)+len(text)/4), '"') // a quarter of an answer are quotes
	start := 0                                                 // of what is not written yet
	for i := 0; i < len(text); i++ {
		c := text[i]
		if plainBytes[c] {
			continue
		}
		var short byte
		switch {
		case c == '"', c == '\\':
			short = c
		case c == '\n':
			short = 'n'
		case c == '\r':
			short = 'r'
		case c == '\t':
			short = 't'
		case c < ' ':
		case c == 0xE2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2]&^1 == 0xA8: // U+2028, U+2029
			dst = append(append(dst, text[start:i]...), '\\', 'u', '2', '0', '2', hex[text[i+2]&0xF])
			start = i + 3
			continue
		default:
			continue
		}
		dst = append(append(dst, text[start:i]...), '\\')
		if short != 0 {
			dst = append(dst, short)
		} else {
			dst = append(dst, 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
		start = i + 1
	}
	return append(append(dst, text[start:]...), '"')
}

// plainBytes are those that a JSON string has as they are, whatever follows.
var plainBytes = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c >= ' ' && c != '"' && c != '\\' && c != 0xE2
	}
	return plain
}()
