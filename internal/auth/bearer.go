package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// Bearer takes the bearer token out of a request. It fails with UNAUTHENTICATED
// when there is none, when there are two Authorization headers, and when a
// token stands in the address, where logs and histories would keep it.
func Bearer(r *http.Request) (string, error) {
	if tokenInQuery(r.URL) {
		return "", missing("A token may not stand in the address. Send it in the Authorization header.")
	}
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return "", missing("Nobody is signed in: the request carries no bearer token.")
	}
	if len(headers) > 1 {
		return "", invalid(errSecondKey)
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", missing("The Authorization header carries no bearer token.")
	}
	return token, nil
}

func tokenInQuery(u *url.URL) bool {
	if !strings.Contains(u.RawQuery, "token") {
		return false
	}
	q := u.Query()
	return q.Has("access_token") || q.Has("token")
}
