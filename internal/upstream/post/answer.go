package post

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// The bounds of an answer's header.
const (
	maxLine   = 4 << 10 // bytes of a line, and of the buffer that a connection has
	maxFields = 64
)

// frame is what a header says of the body that follows it.
type frame struct {
	length  int64 // -1: not declared
	chunked bool
	close   bool // the connection ends after this answer
}

// readAnswer reads one answer. It accepts less than HTTP allows: no answer that
// another reader could find a different end of. keep says that the connection stays
// open.
func readAnswer(r *bufio.Reader, most int64) (a Answer, keep bool, err error) {
	if a.Status, err = readStatus(r); err != nil {
		return a, false, err
	}
	f := frame{length: -1}
	if err := a.readFields(r, &f); err != nil {
		return a, false, err
	}
	switch {
	case f.chunked && f.length >= 0:
		return a, false, fmt.Errorf("%w: two lengths of the body", ErrAnswer)
	case a.Status == http.StatusNoContent || a.Status == http.StatusNotModified:
		if f.chunked || f.length > 0 {
			return a, false, fmt.Errorf("%w: %d with a body", ErrAnswer, a.Status)
		}
	case f.chunked:
		a.Body, err = readChunks(r, most)
	case f.length < 0:
		return a, false, fmt.Errorf("%w: no length of the body", ErrAnswer)
	default:
		a.Body, err = readBody(r, nil, f.length, most)
	}
	return a, !f.close, err
}

// readLine returns a line without its end, which must be CRLF. It is valid until the
// next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrAnswer, maxLine)
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return nil, fmt.Errorf("%w: a line without CR", ErrAnswer)
	}
	return line, nil
}

// readStatus reads the status line. Informational answers were not asked for.
func readStatus(r *bufio.Reader) (int, error) {
	line, err := readLine(r)
	if err != nil {
		return 0, err
	}
	rest, ok := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !ok || len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' || rest[0] < '2' || rest[0] > '5' || !digits(rest[:3]) || !isValue(rest) {
		return 0, fmt.Errorf("%w: the status line %.40q", ErrAnswer, line)
	}
	return int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0'), nil
}

func digits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// readFields reads the header up to the empty line.
func (a *Answer) readFields(r *bufio.Reader, f *frame) error {
	for range maxFields {
		line, err := readLine(r)
		if err != nil || len(line) == 0 {
			return err
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		value = bytes.Trim(value, " \t")
		if !ok || !isToken(name) || !isValue(value) {
			return fmt.Errorf("%w: the header line %.40q", ErrAnswer, line)
		}
		if err := a.readField(f, name, value); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: more than %d header lines", ErrAnswer, maxFields-1)
}

// readField notes what a field says. One that decides where the answer ends must be
// the only one of its name.
func (a *Answer) readField(f *frame, name, value []byte) error {
	switch {
	case named(name, "Content-Length"):
		length, err := strconv.ParseInt(string(value), 10, 63)
		if err != nil || !digits(value) || f.length >= 0 {
			return fmt.Errorf("%w: the length %.40q", ErrAnswer, value)
		}
		f.length = length
	case named(name, "Transfer-Encoding"):
		if f.chunked || !named(value, "chunked") {
			return fmt.Errorf("%w: the encoding %.40q", ErrAnswer, value)
		}
		f.chunked = true
	case named(name, "Content-Encoding"):
		if !named(value, "identity") {
			return fmt.Errorf("%w: the encoding %.40q, which was not asked for", ErrAnswer, value)
		}
	case named(name, "Content-Type"):
		if a.Type != "" {
			return fmt.Errorf("%w: two types of the body", ErrAnswer)
		}
		a.Type = typeOf(value)
	case named(name, "Connection"):
		f.close = f.close || !named(value, "keep-alive")
	case named(name, "Trailer"):
		return fmt.Errorf("%w: a trailer", ErrAnswer)
	}
	return nil
}

// named compares a name of ASCII letters in any case.
func named(given []byte, name string) bool {
	return len(given) == len(name) && bytes.EqualFold(given, []byte(name))
}

// typeOf makes a text of a type; mostly it is JSON.
func typeOf(value []byte) string {
	const usual = "application/json"
	if string(value) == usual {
		return usual
	}
	return string(value)
}

// firstRead bounds what is allocated for a body before any of it has arrived.
const firstRead = 64 << 10

// readBody appends so many bytes to a body of at most most.
func readBody(r *bufio.Reader, body []byte, length, most int64) ([]byte, error) {
	if length > most-int64(len(body)) {
		return nil, ErrTooLarge
	}
	for length > 0 {
		n := int(min(length, max(firstRead, int64(len(body)))))
		at := len(body)
		body = append(body, make([]byte, n)...)
		if _, err := io.ReadFull(r, body[at:]); err != nil {
			return nil, noEOF(err)
		}
		length -= int64(n)
	}
	return body, nil
}

// readChunks reads a chunked body. Extensions and trailers are refused.
func readChunks(r *bufio.Reader, most int64) (body []byte, err error) {
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		size, err := strconv.ParseUint(string(line), 16, 32)
		if err != nil || len(line) > 8 {
			return nil, fmt.Errorf("%w: the chunk %.40q", ErrAnswer, line)
		}
		if body, err = readBody(r, body, int64(size), most); err != nil {
			return nil, err
		}
		end, err := readLine(r)
		switch {
		case err != nil:
			return nil, err
		case len(end) > 0:
			return nil, fmt.Errorf("%w: a chunk without an end, or a trailer", ErrAnswer)
		case size == 0:
			return body, nil
		}
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
