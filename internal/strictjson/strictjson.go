// Package strictjson is the one reader of JSON that comes from outside. It
// accepts only what every reader understands in the same way: one value of
// valid UTF-8, nested at most [MaxDepth] deep, in which no object has more than
// [MaxMembers] members or repeats a name, however the name is escaped, and every number fits a float64 and has at
// most [MaxNumber] characters and [MaxExponent] as its exponent. So no reader
// behind it computes with a number that is expensive to compute with.
//
// An error is the rest of a sentence that begins with what was read: "repeats
// the name \"id\"". Callers put it into a fault of their own.
package strictjson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a document.
const (
	MaxDepth    = 64   // levels of nesting
	MaxMembers  = 1000 // of one object
	MaxNumber   = 64   // characters of a number
	MaxExponent = 400  // of a number, in either direction; a float64 needs less
)

var (
	errSyntax  = errors.New("is not valid JSON")
	errTrailer = errors.New("has data after its end")
	errMembers = fmt.Errorf("has an object of more than %d members", MaxMembers)
	errDepth   = fmt.Errorf("is nested deeper than %d", MaxDepth)
	errNumber  = errors.New("has a number that is out of range")
	errDigits  = fmt.Errorf("has a number of more than %d characters", MaxNumber)
	errShape   = errors.New("must be an object")
)

// decoders are reused: what a decoder keeps to find repeated names is most of what
// a check allocates.
var decoders = sync.Pool{New: func() any { return &decoder{text: jsontext.NewDecoder(new(bytes.Buffer))} }}

// decoder is a decoder with the buffer that it reads.
type decoder struct {
	text   *jsontext.Decoder
	buffer bytes.Buffer
}

// Check reports why b is not strict JSON, or nil.
func Check(b []byte) error {
	if isPlain(b) {
		return nil
	}
	return reading(b, everything)
}

// everything reads a document to its end.
func everything(d *jsontext.Decoder) error {
	for {
		switch _, err := next(d); {
		case err != nil:
			return err
		case d.StackDepth() == 0:
			return end(d)
		}
	}
}

// Object reads strict JSON that is one object, and checks it on the way. Numbers are
// encoding/json.Number, in their own spelling.
func Object(b []byte) (object map[string]any, err error) {
	err = reading(b, func(d *jsontext.Decoder) error {
		value, err := value(d)
		if err == nil {
			err = end(d)
		}
		if err != nil {
			return err
		}
		var ok bool
		if object, ok = value.(map[string]any); !ok {
			return errShape
		}
		return nil
	})
	return object, err
}

// reading lends a decoder of b.
func reading(b []byte, read func(d *jsontext.Decoder) error) error {
	d := decoders.Get().(*decoder)
	d.buffer = *bytes.NewBuffer(b) // a buffer is read without a copy
	d.text.Reset(&d.buffer)
	err := read(d.text)
	d.buffer = bytes.Buffer{} // no document is kept
	d.text.Reset(&d.buffer)
	decoders.Put(d)
	return err
}

// next reads a token within the bounds.
func next(d *jsontext.Decoder) (jsontext.Token, error) {
	token, err := d.ReadToken()
	if err != nil {
		return token, explain(err)
	}
	if token.Kind() == '0' {
		if err := checkNumber(token.String()); err != nil {
			return token, err
		}
	}
	switch depth := d.StackDepth(); {
	case depth > MaxDepth:
		return token, errDepth
	case tooManyMembers(d, depth):
		return token, errMembers
	}
	return token, nil
}

// end reports what is after the one value.
func end(d *jsontext.Decoder) error {
	switch _, err := d.ReadToken(); {
	case err == io.EOF:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName):
		return explain(err)
	}
	return errTrailer
}

// value reads one value, at most MaxDepth deep.
func value(d *jsontext.Decoder) (any, error) {
	token, err := next(d)
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return members(d)
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			item, err := value(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = next(d)
		return list, err
	case '"':
		return token.String(), nil
	case '0':
		return stdjson.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// members reads an object after its brace.
func members(d *jsontext.Decoder) (any, error) {
	object := map[string]any{}
	for d.PeekKind() != '}' {
		token, err := next(d)
		if err != nil {
			return nil, err
		}
		name := token.String() // the token is valid until the next one
		if object[name], err = value(d); err != nil {
			return nil, err
		}
	}
	_, err := next(d)
	return object, err
}

// tooManyMembers reports whether the object that is being read is too large: a
// reader compares each name with all others.
func tooManyMembers(d *jsontext.Decoder, depth int) bool {
	kind, tokens := d.StackIndex(depth)
	return kind == '{' && tokens > 2*MaxMembers
}

// checkNumber bounds a number by its text, before anything computes with it.
func checkNumber(text string) error {
	if len(text) > MaxNumber {
		return errDigits
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(text[at+1:])
		if err != nil || exponent > MaxExponent || exponent < -MaxExponent {
			return errNumber
		}
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return errNumber
	}
	return nil
}

// Unmarshal reads strict JSON into v. A struct accepts only the names of its
// fields, in their exact case. An empty interface receives numbers as
// encoding/json.Number, in their own spelling.
func Unmarshal(b []byte, v any) error {
	if err := Check(b); err != nil {
		return err
	}
	return explain(json.Unmarshal(b, v, json.RejectUnknownMembers(true), json.WithUnmarshalers(numbers)))
}

// numbers keeps the spelling of numbers whose type is not declared.
var numbers = json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return json.SkipFunc
	}
	raw, err := d.ReadValue()
	*v = stdjson.Number(raw)
	return err
})

// Canonical rewrites strict JSON so that equal values have equal bytes: members
// sorted, no spaces, numbers in their own spelling.
func Canonical(b []byte) ([]byte, error) {
	if err := Check(b); err != nil {
		return nil, err
	}
	return jsontext.AppendFormat(nil, b, jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
}

// Normal writes a number that was checked as RFC 8785 does: 10.0 and 1e1 are 10.
// Beyond 2^53 an integer loses digits.
func Normal(n stdjson.Number) stdjson.Number {
	text := jsontext.Value(n)
	if text.Canonicalize() != nil {
		return n
	}
	return stdjson.Number(text)
}

func explain(err error) error {
	if err == nil {
		return nil
	}
	syntax, malformed := errors.AsType[*jsontext.SyntacticError](err)
	meaning, misfit := errors.AsType[*json.SemanticError](err)
	switch {
	case malformed && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("repeats the name %q", clip(syntax.JSONPointer.LastToken()))
	case !misfit:
		return errSyntax
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("has a field %q that is not known here", clip(meaning.JSONPointer.LastToken()))
	case meaning.JSONPointer == "":
		return errShape
	}
	return fmt.Errorf("has a field %q of the wrong type", clip(meaning.JSONPointer.LastToken()))
}

func clip(name string) string {
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return name
}
