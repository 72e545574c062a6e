package mcpsession

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLinesOfAStreamAreBounded, in whatever pieces they arrive.
func TestLinesOfAStreamAreBounded(t *testing.T) {
	const most = 10
	line := func(n int) string { return strings.Repeat("x", n) + "\n" }
	for text, tooLarge := range map[string]bool{
		"": false, line(most): false, line(most) + line(0) + line(most): false, strings.Repeat(line(3), 20): false, line(most)[:most]: false,
		line(most + 1): true, line(3) + line(most+1): true, line(most) + line(3*most): true, line(most + 1)[:most+1]: true,
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text))} {
			got, err := io.ReadAll(LimitLines(t.Context(), io.NopCloser(in), most))
			if errors.Is(err, ErrTooLarge) != tooLarge || err == nil && string(got) != text {
				t.Errorf("%q in %s: got %q, %v", text, name, got, err)
			}
		}
	}
}
