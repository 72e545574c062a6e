package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// MaxBody is how many bytes a body may have where no other limit is set.
const MaxBody = 1 << 20

// Decode reads one JSON object into a T, as strictly as ReadObject and Parse.
func Decode[T any](r *http.Request, limit int64) (T, error) {
	body, err := ReadObject(r, limit)
	if err != nil {
		var none T
		return none, err
	}
	return Parse[T](body)
}

// Parse reads a JSON object into the struct type T. Fields that T does not have,
// spelled exactly as its json tags, are rejected.
func Parse[T any](body []byte) (T, error) {
	var v T
	err := badBody(strictjson.Unmarshal(body, &v))
	return v, err
}

// badBody makes a fault of the caller of what strictjson rejects.
func badBody(err error) error {
	if err == nil {
		return nil
	}
	return fault.BadRequest.New("The body %s.", err)
}

// ReadObject reads a body that must be one JSON object and nothing else, and
// checks it as strictjson does.
func ReadObject(r *http.Request, limit int64) (json.RawMessage, error) {
	body, err := ReadJSON(r, limit)
	if err != nil {
		return nil, err
	}
	if body = bytes.TrimLeft(body, " \t\r\n"); body[0] != '{' {
		return nil, fault.BadRequest.New("The body is not a JSON object.")
	}
	return body, nil
}

// ReadJSON reads a body of at most limit bytes that is strict JSON. The limit
// holds for the bytes that arrive, whatever their declared length.
func ReadJSON(r *http.Request, limit int64) ([]byte, error) {
	if err := CheckHeaders(r, limit); err != nil {
		return nil, err
	}
	body, err := readAll(r.Body, r.ContentLength, limit)
	if err != nil {
		return nil, unread(err)
	}
	return body, badBody(strictjson.Check(body))
}

// unread makes a fault of why a body could not be read.
func unread(err error) error {
	var refused *fault.Error // by a body that admits what is done with it, or as too large
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.BadRequest.New("The body did not arrive within %s.", bodyTimeout).Because(err)
	}
	return fault.BadRequest.New("The body ended early.").Because(err)
}

// maxDeclared bounds what is allocated for a body before any of it has arrived.
const maxDeclared = 4 << 10

// readAll is io.ReadAll for a body of at most limit bytes and of a declared length, or
// -1: mostly one buffer is enough.
func readAll(r io.Reader, declared, limit int64) ([]byte, error) {
	b := make([]byte, 0, max(0, min(declared, maxDeclared))+1) // the end is read into the last byte
	for {
		n, err := r.Read(b[len(b):cap(b)])
		switch b = b[:len(b)+n]; {
		case int64(len(b)) > limit:
			return nil, tooLarge(limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = slices.Grow(b, max(512, len(b)))
		}
	}
}

// CheckHeaders rejects by header, before the body is read: another content type,
// a compressed body, a length above the limit.
func CheckHeaders(r *http.Request, limit int64) error {
	if given := r.Header.Get("Content-Type"); given != "application/json" && !isJSON(given) { // mostly it is written so
		return fault.UnsupportedMedia.New("The body must be JSON.")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return fault.UnsupportedMedia.New("A compressed body is not accepted.")
	}
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	return nil
}

func isJSON(mediaType string) bool {
	kind, params, err := mime.ParseMediaType(mediaType)
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

func tooLarge(limit int64) error {
	return fault.BodyTooLarge.New("The body is larger than %d bytes.", limit)
}
