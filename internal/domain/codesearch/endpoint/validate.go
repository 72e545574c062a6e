package endpoint

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// Document 004's limits. Lengths of queries count characters, after white space
// around them was cut off.
const (
	minQuery     = 3    // shorter ones match everything
	maxQuery     = 500  // longer ones are no questions
	minLimit     = 1    // a search for nothing is a mistake
	maxLimit     = 20   // results that a reader looks through
	defaultLimit = 5    // what a reader sees at once
	maxBody      = 1024 // bytes; a query of 500 characters fits, unless they are all long
)

// Document 004's codes of requests that are not valid. All are 400.
const (
	codeQuery       = "INVALID_QUERY"
	codeLimit       = "INVALID_LIMIT"
	codeContentType = "INVALID_CONTENT_TYPE"
	codeJSON        = "MALFORMED_JSON"
	codeTooLarge    = "PAYLOAD_TOO_LARGE"
)

// request is a valid search.
type request struct {
	query string // trimmed
	limit int
}

// invalid is the answer to a request that breaks a rule: 400, whatever the rule is.
func invalid(code, message string) error {
	return &failure{http.StatusBadRequest, code, message, 0, nil}
}

// validate reads the body of a search and checks it in document 004's order.
func (e *exchange) validate() (request, error) {
	media, _, err := mime.ParseMediaType(e.r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return request{}, invalid(codeContentType, "Content-Type must be application/json")
	}
	body, err := e.body()
	if err != nil {
		return request{}, err
	}
	return parse(body)
}

// body reads at most the permitted size, whatever the headers say.
func (e *exchange) body() ([]byte, error) {
	tooLarge := invalid(codeTooLarge, "Request payload must be less than 1KB")
	if e.r.ContentLength > maxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(e.w, e.r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.As(err, new(*fault.Error)): // it was not admitted
		return nil, err
	case err != nil:
		return nil, invalid(codeJSON, "Request body must be valid JSON")
	}
	return body, nil
}

// parse reads a body. Unknown fields are ignored; repeated ones and bytes that
// are not UTF-8 make it malformed. What was asked is known, for the log, as soon as it
// was read, whatever is wrong with it.
func parse(body []byte) (asked request, err error) {
	var fields map[string]json.RawMessage
	if strictjson.Check(body) != nil || json.Unmarshal(body, &fields) != nil || fields == nil {
		return asked, invalid(codeJSON, "Request body must be valid JSON")
	}
	if asked.query, err = queryOf(fields["query"]); err != nil {
		return asked, err
	}
	asked.limit, err = limitOf(fields)
	return asked, err
}

// queryOf reads the query: required, a string, of so many characters without the white
// space around it, as people count them.
func queryOf(raw json.RawMessage) (string, error) {
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil || *text == "" {
		return "", invalid(codeQuery, "Query field is required and must be a string")
	}
	query := strings.TrimFunc(*text, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
	switch n := utf8.RuneCountInString(query); {
	case n < minQuery:
		return query, invalid(codeQuery, "Query must be at least 3 characters")
	case n > maxQuery:
		return query, invalid(codeQuery, "Query must be at most 500 characters")
	}
	return query, nil
}

// limitOf reads the limit, which may be left out but not null. 5.0 is an integer.
func limitOf(fields map[string]json.RawMessage) (int, error) {
	raw, given := fields["limit"]
	if !given {
		return defaultLimit, nil
	}
	var limit *float64
	if json.Unmarshal(raw, &limit) != nil || limit == nil || *limit != math.Trunc(*limit) {
		return 0, invalid(codeLimit, "Limit must be an integer")
	}
	if *limit < minLimit || *limit > maxLimit {
		return 0, invalid(codeLimit, "Limit must be between 1 and 20")
	}
	return int(*limit), nil
}
