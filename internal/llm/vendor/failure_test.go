package vendor

import (
	"net/http"
	"testing"
	"time"
)

// The time that a provider asks for, in each form that vendors send.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":           {nil, 0},
		"seconds":        {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"a part of one":  {http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond},
		"milliseconds":   {http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"7"}}, 1500 * time.Millisecond},
		"a date":         {http.Header{"Retry-After": {"Sun, 22 Nov 2026 12:00:20 GMT"}}, 20 * time.Second},
		"a date before":  {http.Header{"Retry-After": {"Sun, 22 Nov 2026 11:00:00 GMT"}}, 0},
		"something else": {http.Header{"Retry-After": {"soon"}}, 0},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
