package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"countersign.dev/internal/httpx"
)

// Where a request comes from is what the nearest proxy of ours says, and nothing
// that a client can write.
func TestOnlyProxiesSayWhereARequestComesFrom(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		connection string
		headers    []string
		want       string
	}{
		{"203.0.113.7:5000", []string{"198.51.100.1"}, "203.0.113.7:5000"}, // a client that wrote the header itself
		{"203.0.113.7:5000", nil, "203.0.113.7:5000"},
		{"10.0.0.1:5000", nil, "10.0.0.1:5000"},
		{"10.0.0.1:5000", []string{"198.51.100.1"}, "198.51.100.1:0"},
		{"[::ffff:10.0.0.1]:5000", []string{"198.51.100.1"}, "198.51.100.1:0"},
		{"10.0.0.1:5000", []string{"192.0.2.9, 198.51.100.1"}, "198.51.100.1:0"}, // the first was written by the client
		{"10.0.0.1:5000", []string{"192.0.2.9", "198.51.100.1, 10.0.0.2"}, "198.51.100.1:0"},
		{"[fd00::1]:5000", []string{"[2001:db8::1]:443"}, "[2001:db8::1]:443"},
		{"10.0.0.1:5000", []string{"192.0.2.9, unknown, 10.0.0.2"}, "10.0.0.2:0"},
		{"10.0.0.1:5000", []string{""}, "10.0.0.1:5000"},
		{"@", []string{"198.51.100.1"}, "@"}, // no address at all
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = c.connection, c.headers
		got := ""
		httpx.Behind(proxies, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s with %q: got %s, want %s", c.connection, c.headers, got, c.want)
		}
	}
}
