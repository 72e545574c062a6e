package httpx

import (
	"encoding/json"
	"unicode/utf8"

	"countersign.dev/internal/fault"
)

// MaxDepth is how deeply JSON may be nested.
const MaxDepth = 64

// CheckJSON accepts one JSON value in valid UTF-8, nested at most MaxDepth deep,
// in which no object repeats a key, however the key is escaped. Two readers of
// the same body must never see two meanings.
func CheckJSON(b []byte) error {
	if !utf8.Valid(b) || !json.Valid(b) {
		return fault.BadRequest.New("The body is not valid JSON.")
	}
	w := walker{rest: b}
	return w.walk()
}

// walker runs once over JSON that is known to be valid, which is what makes it
// this short.
type walker struct {
	rest  []byte
	stack []frame
}

// frame is one open object or array. keys is nil in an array.
type frame struct {
	keys    map[string]struct{}
	wantKey bool // the next string is a key
}

func (w *walker) walk() error {
	for len(w.rest) > 0 {
		c := w.rest[0]
		if c == '"' {
			if err := w.text(); err != nil {
				return err
			}
			continue
		}
		w.rest = w.rest[1:]
		if err := w.punctuation(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) punctuation(c byte) error {
	switch c {
	case '{':
		w.stack = append(w.stack, frame{keys: map[string]struct{}{}, wantKey: true})
	case '[':
		w.stack = append(w.stack, frame{})
	case '}', ']':
		w.stack = w.stack[:len(w.stack)-1]
	case ',':
		top := &w.stack[len(w.stack)-1]
		top.wantKey = top.keys != nil
	}
	if len(w.stack) > MaxDepth {
		return fault.BadRequest.New("The JSON is nested more than %d levels deep.", MaxDepth)
	}
	return nil
}

// text takes the string at the front, and remembers it when it is a key.
func (w *walker) text() error {
	end, escaped := 1, false
	for w.rest[end] != '"' {
		if w.rest[end] == '\\' {
			end, escaped = end+1, true
		}
		end++
	}
	literal := w.rest[:end+1]
	w.rest = w.rest[end+1:]
	if len(w.stack) == 0 || !w.stack[len(w.stack)-1].wantKey {
		return nil
	}
	key := string(literal[1:end])
	if escaped {
		_ = json.Unmarshal(literal, &key) // valid, as the whole is
	}
	return w.stack[len(w.stack)-1].take(key)
}

func (f *frame) take(key string) error {
	if _, repeated := f.keys[key]; repeated {
		return fault.BadRequest.New("The JSON repeats the key %q.", clip(key))
	}
	f.keys[key] = struct{}{}
	f.wantKey = false
	return nil
}
