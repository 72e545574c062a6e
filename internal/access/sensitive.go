package access

import "encoding/json"

// Sensitive is a value that is not a text and may be masked, such as a salary. It encodes as
// the value, or as the Hidden text.
type Sensitive[T any] struct {
	Value  T
	Masked bool
}

// NewSensitive wraps a value.
func NewSensitive[T any](v T) Sensitive[T] { return Sensitive[T]{Value: v} }

// MarshalJSON encodes the value, or the Hidden text when it was masked.
func (s Sensitive[T]) MarshalJSON() ([]byte, error) {
	if s.Masked {
		return json.Marshal(Hidden)
	}
	return json.Marshal(s.Value)
}

// UnmarshalJSON accepts what MarshalJSON writes.
func (s *Sensitive[T]) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil && text == Hidden {
		*s = Sensitive[T]{Masked: true}
		return nil
	}
	*s = Sensitive[T]{}
	return json.Unmarshal(b, &s.Value)
}

// Mask deletes the value.
func (s *Sensitive[T]) Mask() { *s = Sensitive[T]{Masked: true} }

// SensitiveValue is a zero value of the wrapped type, for schema reflection.
func (s Sensitive[T]) SensitiveValue() any { return s.Value }

// Maskable is implemented by sensitive fields.
type Maskable interface {
	Mask()
	SensitiveValue() any
}
