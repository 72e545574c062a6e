package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// MaxBody is how many bytes a body may have where a surface says nothing else.
const MaxBody = 1 << 20

// Decode reads one JSON object into a T, as strictly as ReadObject and Parse.
func Decode[T any](w http.ResponseWriter, r *http.Request, limit int64) (T, error) {
	body, err := ReadObject(w, r, limit)
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
func ReadObject(w http.ResponseWriter, r *http.Request, limit int64) (json.RawMessage, error) {
	body, err := ReadJSON(w, r, limit)
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
func ReadJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := CheckHeaders(w, r, limit); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, badBody(strictjson.Check(body))
	case errors.As(err, &tooLarge):
		return nil, oversized(w, r, limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fault.BadRequest.New("The body did not arrive within %s.", bodyPatience).Because(err)
	}
	return nil, fault.BadRequest.New("The body ended early.").Because(err)
}

// CheckHeaders rejects by header, before the body is read: another content type,
// a compressed body, a length above the limit.
func CheckHeaders(w http.ResponseWriter, r *http.Request, limit int64) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || kind != "application/json" || (given && !strings.EqualFold(charset, "utf-8")) {
		return fault.UnsupportedMedia.New("The body must be JSON.")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return fault.UnsupportedMedia.New("A compressed body is not accepted.")
	}
	if r.ContentLength > limit {
		return oversized(w, r, limit)
	}
	return nil
}

// drained is how much of a body that is too large is read and dropped: enough
// for an honest client to finish sending and see the answer, instead of a
// connection that breaks under its hands.
const drained = 16 << 20

// oversized also ends the connection: what is left beyond drained is not read.
func oversized(w http.ResponseWriter, r *http.Request, limit int64) error {
	w.Header().Set("Connection", "close")
	_, _ = io.CopyN(io.Discard, r.Body, drained) // the read deadline of the body holds here too
	return fault.BodyTooLarge.New("The body is larger than %d bytes.", limit)
}
