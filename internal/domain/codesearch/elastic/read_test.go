package elastic

import (
	"encoding/json"
	"testing"
)

// TestBytesOfEitherEngineAreRead: OpenSearch writes base64 for addresses, without
// padding; Elasticsearch the usual one.
func TestBytesOfEitherEngineAreRead(t *testing.T) {
	const want = "\xfb\xff\xfe?"
	for _, text := range []string{`"-__-Pw"`, `"-__-Pw=="`, `"+//+Pw"`, `"+//+Pw=="`} {
		var got encoded
		if err := json.Unmarshal([]byte(text), &got); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`"-/"`), new(encoded)); err == nil {
		t.Error("both alphabets in one text were read")
	}
}
