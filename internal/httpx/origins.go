package httpx

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
)

// OriginPolicy rejects requests that a page of another origin, or a host name rebound
// to our address, makes a browser send.
type OriginPolicy struct {
	// Hosts are the names that the server is published under, with a port or,
	// for any port, without. Loopback names are always accepted.
	Hosts []string
	// Own is the origin of our own pages. The origin of the host that a request
	// names is ours, too.
	Own string
	// Origins are foreign origins that may call, as browsers write them.
	Origins []string
	// AnyOrigin lets pages of every origin call. It is for a surface that reads no
	// cookie, and gives a page nothing that it could not ask for itself.
	AnyOrigin bool
}

// NewOriginPolicy makes the policy of a server with the given public address.
func NewOriginPolicy(publicURL string) *OriginPolicy {
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" {
		return &OriginPolicy{}
	}
	return &OriginPolicy{Hosts: []string{u.Host}, Own: u.Scheme + "://" + u.Host}
}

// Check rejects with FORBIDDEN a Host that is not ours, and an Origin that is
// foreign, null or repeated. A request without an Origin comes from no page.
func (p OriginPolicy) Check(r *http.Request) error {
	if err := p.CheckHost(r); err != nil {
		return err
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0 || p.AnyOrigin:
		return nil
	case p.own(r) || len(origins) == 1 && slices.Contains(p.Origins, origins[0]):
		return nil
	}
	return fault.ForbiddenRequest.New("Requests from other origins are not accepted.")
}

// CheckHost rejects with FORBIDDEN a Host that is not ours. It is for a request
// to which another site may send a browser, such as the end of a sign-in.
func (p OriginPolicy) CheckHost(r *http.Request) error {
	if !p.ours(r.Host) {
		return fault.ForbiddenRequest.New("This host name is not served here.")
	}
	return nil
}

// SameOrigin rejects with FORBIDDEN what another page than our own may have
// sent: a browser adds cookies to such requests, too. It reads the headers in
// which browsers name the source of a request, and rejects a request that has
// none of them.
func (p OriginPolicy) SameOrigin(r *http.Request) error {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "same-origin" || site == "" && p.own(r) {
		return nil
	}
	return fault.ForbiddenRequest.New("This request did not come from our own page.")
}

// own reports whether the one Origin of a request is our own.
func (p OriginPolicy) own(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && (sameHost(origins[0], r.Host) || origins[0] != "" && origins[0] == p.Own)
}

func (p OriginPolicy) ours(host string) bool {
	if slices.ContainsFunc(p.Hosts, func(own string) bool { return strings.EqualFold(own, host) }) { // mostly it is written so
		return true
	}
	name := hostname(host)
	if name == "localhost" || net.ParseIP(name).IsLoopback() {
		return true
	}
	for _, own := range p.Hosts {
		if _, _, portless := net.SplitHostPort(own); portless != nil && name != "" && hostname(own) == name {
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
