// Package netguard keeps connections out of private networks. It checks the address
// that is dialled, after names were resolved, so that a name which resolves to
// another address than before gains nothing. Start with [Guard].
package netguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrNotPublic is the error of dialling an address inside of a private network, or
// of this machine.
var ErrNotPublic = errors.New("the address is not public")

// Loopback reports whether the host of an address is this machine by its name: localhost, 127.0.0.0/8 or ::1. Other names
// may resolve to it, too: see [PublicOnly].
func Loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// PublicOnly is the Control of a net.Dialer that reaches public addresses only.
func PublicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr().Unmap()) {
		return fmt.Errorf("%s: %w", address, ErrNotPublic)
	}
	return nil
}

// Guard keeps a transport, that may use the proxies that choose names, to public
// addresses and to the allowed hosts. A proxy is reached wherever it is, and dials by
// itself, where PublicOnly sees nothing: so a request through one is refused when its
// host is an address that is not public, or a name that resolves here to one. A name
// that only the proxy can resolve is the proxy's to check. Requests to a proxy's own
// address are refused: it is dialled for what goes through it.
func Guard(t *http.Transport, timeout time.Duration, choose func(*http.Request) (*url.URL, error), allowed func(host string) bool) {
	proxies := proxiesOf(choose)
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		proxy, err := choose(r)
		if err != nil || allowed(r.URL.Hostname()) {
			return proxy, err
		}
		if proxy != nil {
			return proxy, checkHost(r.Context(), r.URL.Hostname())
		}
		if proxies[hostPort(r.URL)] {
			return nil, fmt.Errorf("%s: %w", r.URL.Host, ErrNotPublic)
		}
		return nil, nil
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: timeout}
		if host, _, err := net.SplitHostPort(address); err != nil || !proxies[address] && !allowed(host) {
			d.Control = PublicOnly
		}
		return d.DialContext(ctx, network, address)
	}
}

// checkHost refuses a host that is not public, as far as it resolves here.
func checkHost(ctx context.Context, host string) error {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, ip := range addresses {
		if !public(ip.Unmap()) {
			return fmt.Errorf("%s: %w", host, ErrNotPublic)
		}
	}
	return nil
}

// proxiesOf are the addresses of the proxies, as a transport dials them.
func proxiesOf(choose func(*http.Request) (*url.URL, error)) map[string]bool {
	found := map[string]bool{}
	for _, scheme := range []string{"https", "http"} {
		if proxy, err := choose(&http.Request{URL: &url.URL{Scheme: scheme, Host: "countersign.invalid"}}); err == nil && proxy != nil {
			found[hostPort(proxy)] = true
		}
	}
	return found
}

// hostPort is the address that a transport dials for a URL.
func hostPort(u *url.URL) string {
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme]))
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

// public reports whether an address is outside of every private network.
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
