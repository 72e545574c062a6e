package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strings"

	"countersign.dev/internal/fault"
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

// Parse reads a JSON object that CheckJSON accepted into the struct type T. It
// refuses fields that T does not have, spelled exactly as its json tags.
func Parse[T any](body []byte) (T, error) {
	var v T
	if err := onlyKnown(body, reflect.TypeFor[T]()); err != nil {
		return v, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, misfit(err)
	}
	return v, nil
}

// onlyKnown compares spellings, because encoding/json ignores case: "Approved"
// beside "approved" must not decide anything.
func onlyKnown(body []byte, t reflect.Type) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return misfit(err)
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(fields, name)
	}
	for name := range fields {
		return fault.BadRequest.New("The field %q is not known here.", clip(name))
	}
	return nil
}

func misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fault.BadRequest.New("The field %q has the wrong type.", clip(wrong.Field)).Because(err)
	}
	return fault.BadRequest.New("The body does not fit what is expected here.").Because(err)
}

func clip(name string) string {
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return name
}

// ReadObject reads a body that must be one JSON object and nothing else, and
// checks it as CheckJSON does.
func ReadObject(w http.ResponseWriter, r *http.Request, limit int64) (json.RawMessage, error) {
	body, err := ReadBody(w, r, limit)
	if err != nil {
		return nil, err
	}
	if err := CheckJSON(body); err != nil {
		return nil, err
	}
	if body = bytes.TrimLeft(body, " \t\r\n"); body[0] != '{' {
		return nil, fault.BadRequest.New("The body is not a JSON object.")
	}
	return body, nil
}

// ReadBody reads a body of at most limit bytes that claims to be JSON. The limit
// holds for the bytes that arrive, whatever their length was said to be.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := CheckHeaders(w, r, limit); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, oversized(w, r, limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fault.BadRequest.New("The body did not arrive within %s.", bodyPatience).Because(err)
	}
	return nil, fault.BadRequest.New("The body broke off.").Because(err)
}

// CheckHeaders refuses what the headers alone condemn: another content type, a
// compressed body, a length above the limit. It reads nothing.
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
