package mcpwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// AppendCall appends a modern call without progress. args is an object, client what
// the caller says of itself, as JSON.
func AppendCall(dst []byte, id int64, tool string, args, client []byte) []byte {
	dst = slices.Grow(dst, 300+len(tool)+len(args)+len(client))
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":"`+MethodCall+`","params":{"name":`...)
	dst = appendQuoted(dst, []byte(tool))
	dst = append(dst, `,"arguments":`...)
	dst = append(dst, args...)
	dst = append(dst, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"`+ModernVersion+`","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":`...)
	dst = append(dst, client...)
	return append(dst, `}}}`...)
}

// Answer is the answer to a call: a result, or a JSON-RPC error when Code is not 0.
type Answer struct {
	Result
	Code    int64
	Message string
}

// ErrAnswer is the error of an answer that is none to the call.
var ErrAnswer = errors.New("the server's answer is not one to the call")

// ReadAnswer reads the answer to the call of an id. A result without structured
// content is an error: our servers always give one. The id of a JSON-RPC error may be
// null: a server that could not read the call does not know it.
func ReadAnswer(message []byte, id int64) (a Answer, err error) {
	var given, result, failed []byte
	m := membersOf(message)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case "id":
			given = value
		case "result":
			result = value
		case "error":
			failed = value
		}
	}
	switch {
	case !m.ok, (result == nil) == (failed == nil):
		return a, ErrAnswer
	case failed != nil && (given == nil || string(given) == "null"):
	case string(given) != string(strconv.AppendInt(make([]byte, 0, 20), id, 10)):
		return a, ErrAnswer
	}
	if failed != nil {
		return a, a.readError(failed)
	}
	return a, a.readResult(result)
}

func (a *Answer) readResult(result []byte) error {
	m := membersOf(result)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case "resultType":
			if string(value) != `"complete"` {
				return ErrAnswer
			}
		case "structuredContent":
			a.Structured = value
		case "isError":
			a.IsError = string(value) == "true"
		}
	}
	if !m.ok || !isObject(a.Structured) {
		return ErrAnswer
	}
	return nil
}

func (a *Answer) readError(failed []byte) error {
	var e struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(failed, &e) != nil || e.Code == 0 {
		return ErrAnswer
	}
	a.Code, a.Message = e.Code, e.Message
	return nil
}

// InStream returns the answer in a stream of events that was read whole; nil when
// there is none. Other messages in it, reports of progress, are passed over.
func InStream(stream []byte) []byte {
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		message := bytes.TrimSpace(data)
		m := membersOf(message)
		for name, _, more := m.next(); more; name, _, more = m.next() {
			if string(name) == "result" || string(name) == "error" {
				return message
			}
		}
	}
	return nil
}
