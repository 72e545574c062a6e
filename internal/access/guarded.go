package access

import "encoding/json"

// Guarded is a sensitive value that is not a text, such as a salary. It encodes as
// the value, or as the Hidden text.
type Guarded[T any] struct {
	Value  T
	Masked bool
}

// Guard wraps a value.
func Guard[T any](v T) Guarded[T] { return Guarded[T]{Value: v} }

// MarshalJSON encodes the value, or the Hidden text when it was masked.
func (g Guarded[T]) MarshalJSON() ([]byte, error) {
	if g.Masked {
		return json.Marshal(Hidden)
	}
	return json.Marshal(g.Value)
}

// UnmarshalJSON accepts what MarshalJSON writes.
func (g *Guarded[T]) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil && text == Hidden {
		*g = Guarded[T]{Masked: true}
		return nil
	}
	*g = Guarded[T]{}
	return json.Unmarshal(b, &g.Value)
}

// Mask deletes the value.
func (g *Guarded[T]) Mask() { *g = Guarded[T]{Masked: true} }

// GuardedValue is a zero value of the wrapped type, for schema reflection.
func (g Guarded[T]) GuardedValue() any { return g.Value }

// Maskable is implemented by guarded fields.
type Maskable interface {
	Mask()
	GuardedValue() any
}
