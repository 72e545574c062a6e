package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth bounds the nesting of an input.
const maxDepth = 64

// decodeObject reads exactly one JSON object. It refuses what two readers could
// understand in two ways: repeated keys, trailing data, deep nesting. An absent
// input is an empty object. Numbers keep their spelling.
func decodeObject(raw json.RawMessage) (object, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return object{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	value, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err == nil {
		return nil, errors.New("there is something after the object")
	}
	values, ok := value.(object)
	if !ok {
		return nil, errors.New("must be an object")
	}
	return values, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("is nested deeper than %d", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	switch token {
	case json.Delim('{'):
		return decodeMembers(d, depth)
	case json.Delim('['):
		return decodeElements(d, depth)
	}
	return token, nil
}

func decodeMembers(d *json.Decoder, depth int) (any, error) {
	members := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errors.New("is not valid JSON")
		}
		name := key.(string) // the decoder allows nothing else as a key
		if _, repeated := members[name]; repeated {
			return nil, fmt.Errorf("%s is given twice", clip(name))
		}
		if members[name], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("is not valid JSON")
	}
	return members, nil
}

func decodeElements(d *json.Decoder, depth int) (any, error) {
	elements := []any{}
	for d.More() {
		element, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("is not valid JSON")
	}
	return elements, nil
}

// digest is the SHA-256 of canonical bytes, in hex.
func digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
