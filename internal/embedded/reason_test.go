package embedded

import "testing"

// TestReason: what ended a program, whatever it wrote after that.
func TestReason(t *testing.T) {
	for said, want := range map[string]string{
		"creating …\n2026-01-01 UTC [7] FATAL:  could not write to file \"x\": No space left on device\nchild process exited\ninitdb: removing contents\n": `could not write to file "x": No space left on device`,
		"FATAL:  the first\nFATAL:  the last\n": "the last",
		"ended\nat once\n":                      "at once",
		"":                                      "",
	} {
		if got := reason(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}
