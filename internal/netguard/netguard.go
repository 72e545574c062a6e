// Package netguard keeps connections out of private networks. It checks the address
// that is dialled, after names were resolved, so that a name which resolves to
// another address than before gains nothing. Start with [PublicOnly].
package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
)

// ErrNotPublic is the error of dialling an address inside of a private network, or
// of this machine.
var ErrNotPublic = errors.New("the address is not public")

// PublicOnly is the Control of a net.Dialer that reaches public addresses only.
func PublicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr().Unmap()) {
		return fmt.Errorf("%s: %w", address, ErrNotPublic)
	}
	return nil
}

// Proxy is the Proxy of an http.Transport that may use one, chosen by choose. A proxy
// dials by itself, where PublicOnly sees nothing: so a request through one is refused
// when its host is an address that is not public, or a name that resolves here to
// one, unless the host is allowed. A name that only the proxy can resolve is the
// proxy's to check.
func Proxy(choose func(*http.Request) (*url.URL, error), allowed func(host string) bool) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		proxy, err := choose(r)
		host := r.URL.Hostname()
		if err != nil || proxy == nil || allowed(host) {
			return proxy, err
		}
		addresses, err := net.DefaultResolver.LookupNetIP(r.Context(), "ip", host)
		if err != nil {
			return proxy, nil
		}
		for _, ip := range addresses {
			if !public(ip.Unmap()) {
				return nil, fmt.Errorf("%s: %w", host, ErrNotPublic)
			}
		}
		return proxy, nil
	}
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
