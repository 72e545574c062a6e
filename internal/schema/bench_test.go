package schema

import (
	"encoding/json"
	"testing"
)

// BenchmarkCheck asks what validating an input costs, in one walk and by the validator,
// against decoding it alone.
func BenchmarkCheck(b *testing.B) {
	s, err := Compile([]byte(everyKind), Options{Formats: true})
	if err != nil {
		b.Fatal(err)
	}
	raw := json.RawMessage(`{"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","limit":10,"day":"2026-02-28","state":"OPEN"}`)
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var values map[string]any
			if err := json.Unmarshal(raw, &values); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Wrong(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.Check(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
