package auth

import (
	"context"
	"net"
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
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = fetchTimeout
	own := ownHosts(home)
	transport.DialContext = dial(own)
	transport.Proxy = netguard.Proxy(http.ProxyFromEnvironment, func(host string) bool { return own == nil || own[host] })
	return &http.Client{
		Timeout:       2 * fetchTimeout,
		Transport:     bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func dial(own map[string]bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: fetchTimeout}
		if host, _, err := net.SplitHostPort(address); err == nil && own != nil && !own[host] {
			d.Control = netguard.PublicOnly
		}
		return d.DialContext(ctx, network, address)
	}
}

// ownHosts are the host of an address and of the proxy that leads there; nil on
// loopback.
func ownHosts(address string) map[string]bool {
	u, err := url.Parse(address)
	if err != nil || loopback(u) {
		return nil
	}
	own := map[string]bool{u.Hostname(): true}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		own[proxy.Hostname()] = true
	}
	return own
}
