// Package netguard keeps connections out of private networks. It checks the address
// that is dialled, after names were resolved, so that a name which resolves to
// another address than before gains nothing. Start with [PublicOnly].
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
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
