package session

import (
	"net/http"
	"strings"

	"countersign.dev/internal/httpx"
)

// cookies names and sets the cookies of a gateway.
type cookies struct {
	publicURL string
	origins   *httpx.OriginPolicy
}

func (c cookies) secure() bool { return strings.HasPrefix(c.publicURL, "https://") }

// session is the name of the session cookie. Over HTTPS it has the prefix with
// which browsers bind a cookie to this very host.
func (c cookies) session() string {
	if c.secure() {
		return "__Host-countersign"
	}
	return "countersign"
}

// flow is the name of the cookie of a sign-in under way.
func (c cookies) flow() string { return c.session() + "-flow" }

// set sets a cookie for so many seconds.
func (c cookies) set(w http.ResponseWriter, name, value string, seconds int, site http.SameSite) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: c.secure(), SameSite: site})
}

// remove removes a cookie from the browser.
func (c cookies) remove(w http.ResponseWriter, name string, site http.SameSite) {
	c.set(w, name, "", -1, site)
}
