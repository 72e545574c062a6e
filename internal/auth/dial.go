package auth

import (
	"net/http"
	"net/url"

	"countersign.dev/internal/netguard"
)

// newClient makes the HTTP client for one configured address. It follows no
// redirect. Other hosts, which only the answers from that address can name, must
// be public when they are dialled: a name that resolves to another address than
// before gains nothing. An issuer on loopback is a development issuer, and may
// name anything.
func newClient(home string) *http.Client {
	return newProxiedClient(home, http.ProxyFromEnvironment)
}

// newProxiedClient is newClient with the proxies that choose names.
func newProxiedClient(home string, choose func(*http.Request) (*url.URL, error)) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = fetchTimeout
	own := ownHost(home)
	netguard.Guard(transport, fetchTimeout, choose, func(host string) bool { return own == "" || host == own })
	return &http.Client{
		Timeout:       2 * fetchTimeout,
		Transport:     bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ownHost is the host of an address; empty on loopback.
func ownHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || loopback(u) {
		return ""
	}
	return u.Hostname()
}
