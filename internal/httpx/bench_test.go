package httpx_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkMiddleware asks what every request pays for its ids, the line of the access
// log, the recovery of panics and the security headers, against its handler alone.
func BenchmarkMiddleware(b *testing.B) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for name, h := range map[string]http.Handler{"floor": handler, "middleware": plain(io.Discard).Middleware(handler)} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
