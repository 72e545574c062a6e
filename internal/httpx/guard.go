package httpx

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
)

// Guard rejects requests that a page of another origin, or a host name rebound
// to our address, makes a browser send.
type Guard struct {
	// Hosts are the names that the server is published under, with a port or,
	// for any port, without. Loopback names are always accepted.
	Hosts []string
	// Origins are foreign origins that may call, as browsers write them.
	Origins []string
}

// Check rejects with FORBIDDEN a Host that is not ours, and an Origin that is
// foreign, null or repeated. A request without an Origin comes from no page.
func (g Guard) Check(r *http.Request) error {
	if !g.ours(r.Host) {
		return fault.ForbiddenRequest.New("This host name is not served here.")
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0:
		return nil
	case len(origins) == 1 && (sameHost(origins[0], r.Host) || slices.Contains(g.Origins, origins[0])):
		return nil
	}
	return fault.ForbiddenRequest.New("Requests from other origins are not accepted.")
}

func (g Guard) ours(host string) bool {
	name := hostname(host)
	if name == "localhost" || net.ParseIP(name).IsLoopback() {
		return true
	}
	for _, own := range g.Hosts {
		_, _, portless := net.SplitHostPort(own)
		if strings.EqualFold(own, host) || (portless != nil && name != "" && hostname(own) == name) {
			return true
		}
	}
	return false
}

// hostname is a host without its port and brackets, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return false
	}
	return origin == u.Scheme+"://"+u.Host && strings.EqualFold(u.Host, host)
}
