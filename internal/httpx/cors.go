package httpx

import (
	"net/http"
	"slices"
	"strings"
)

// What pages of allowed origins may send and read, besides what every page may.
var (
	sentHeaders = []string{
		"accept", "authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id",
		"traceparent", "tracestate", "x-request-id",
	}
	readHeaders = strings.Join([]string{"Allow", "Mcp-Protocol-Version", "Mcp-Session-Id", "Retry-After", "WWW-Authenticate", "X-Request-ID"}, ", ")
)

// paramHeader begins the headers in which MCP clients repeat arguments.
const paramHeader = "mcp-param-"

// preflightAge is how long a browser may keep the answer to a preflight: seconds.
const preflightAge = "600"

// CORS lets pages of the allowed origins send requests and read the answers, errors
// too. Credentials are never allowed: such a page sends a bearer token, and the
// cookie is our own page's. Other origins get no header, so that their browser
// keeps the answer from them.
func (p OriginPolicy) CORS(next http.Handler) http.Handler {
	if len(p.Origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := track(w)
		rec.set("Vary", "Origin")
		h, origins := rec.Header(), r.Header["Origin"]
		if len(origins) == 1 && slices.Contains(p.Origins, origins[0]) {
			h.Set(allowOrigin, origins[0])
			h.Set("Access-Control-Expose-Headers", readHeaders)
			if preflight(r) {
				h.Set("Access-Control-Allow-Headers", grantedHeaders(r.Header.Get("Access-Control-Request-Headers")))
				h.Set("Access-Control-Max-Age", preflightAge)
			}
		}
		next.ServeHTTP(rec, r)
	})
}

const allowOrigin = "Access-Control-Allow-Origin"

// preflight reports whether a browser asks before it sends a page's request.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// grantedHeaders are those of the headers that a page asks for which it may send.
func grantedHeaders(asked string) string {
	var granted []string
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(sentHeaders, name) || strings.HasPrefix(name, paramHeader) && tokenChars(name) {
			granted = append(granted, name)
		}
	}
	return strings.Join(granted, ", ")
}

// tokenChars reports whether a name has only letters, digits and hyphens.
func tokenChars(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && len(name) <= 128
}

// Options answers OPTIONS of a path that takes these methods.
func Options(w http.ResponseWriter, r *http.Request, methods ...string) {
	allow(w, r, append(methods, http.MethodOptions))
	w.WriteHeader(http.StatusNoContent)
}

// allow names the methods of a path, to any client and to the browser of an
// allowed origin.
func allow(w http.ResponseWriter, r *http.Request, methods []string) {
	list := strings.Join(methods, ", ")
	w.Header().Set("Allow", list)
	if preflight(r) && w.Header().Get(allowOrigin) != "" {
		w.Header().Set("Access-Control-Allow-Methods", list)
	}
}
