package session

import (
	"net/http"
	"net/url"
	"strings"

	"countersign.dev/internal/fault"
)

// cookies names and sets the cookies of a gateway.
type cookies struct{ publicURL string }

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

// sameOrigin rejects requests of foreign pages: the browser adds the cookie to
// them, too. It reads the headers in which browsers name the origin of a
// request, and rejects a request that has none of them.
func (c cookies) sameOrigin(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site == "same-origin":
		return nil
	case site == "" && origin != "" && (origin == originOf(c.publicURL) || origin == "http://"+r.Host || origin == "https://"+r.Host):
		return nil
	}
	return fault.ForbiddenRequest.New("This request did not come from our own page.")
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
