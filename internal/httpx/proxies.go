package httpx

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Behind finds out where requests come from when proxies are in front: of a
// connection from one of their addresses it is the last address in
// X-Forwarded-For that is not theirs. The header of any other connection is not
// believed, because its client wrote it.
func Behind(proxies []netip.Prefix, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = clientOf(r, proxies)
		next.ServeHTTP(w, r)
	})
}

// clientOf follows the chain from its end, which the nearest proxy wrote, to the
// first address that is no proxy's. It does not go beyond what cannot be read.
func clientOf(r *http.Request, proxies []netip.Prefix) (remote string) {
	remote = r.RemoteAddr
	at, err := netip.ParseAddrPort(remote)
	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(chain) - 1; i >= 0 && err == nil && isProxy(at.Addr(), proxies); i-- {
		if at, err = forwarded(chain[i]); err == nil {
			remote = at.String()
		}
	}
	return remote
}

func isProxy(ip netip.Addr, proxies []netip.Prefix) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
}

// forwarded reads an address as proxies write it: with a port or without.
func forwarded(entry string) (netip.AddrPort, error) {
	entry = strings.TrimSpace(entry)
	if at, err := netip.ParseAddrPort(entry); err == nil {
		return at, nil
	}
	ip, err := netip.ParseAddr(strings.Trim(entry, "[]"))
	return netip.AddrPortFrom(ip, 0), err
}
