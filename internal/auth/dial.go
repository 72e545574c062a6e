package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
)

// errNotPublic is returned by dialing for an address inside of a network.
var errNotPublic = errors.New("an issuer may only name public addresses besides its own host")

// newClient makes the HTTP client for one configured address. It follows no
// redirect. Other hosts, which only the answers from that address can name, must
// be public when they are dialled: a name that resolves to another address than
// before gains nothing. An issuer on loopback is a development issuer, and may
// name anything.
func newClient(home string) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = fetchTimeout
	transport.DialContext = dial(home)
	return &http.Client{
		Timeout:       2 * fetchTimeout,
		Transport:     bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func dial(home string) func(ctx context.Context, network, address string) (net.Conn, error) {
	own := ownHosts(home)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: fetchTimeout}
		if host, _, err := net.SplitHostPort(address); err == nil && own != nil && !own[host] {
			d.Control = publicOnly
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

// publicOnly is a net.Dialer's Control: it sees the address that is really
// dialled, after names were resolved.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr().Unmap()) {
		return fmt.Errorf("%s: %w", address, errNotPublic)
	}
	return nil
}

// inner are the networks that are not public and that netip has no method for:
// "this network", carriers' NAT, protocol assignments, tests, NAT64 and 6to4
// (which lead to IPv4 addresses), and what is reserved.
var inner = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
}

func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, network := range inner {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}
