package netguard

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"
)

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:80/x": true, "http://127.9.0.1": true, "https://[::1]:8": true, "http://[::ffff:127.0.0.1]/": true,
		"http://localhost.example": false, "http://10.0.0.1": false, "http://localhost@example": false, "file:///x": false, "http://0.0.0.0": false,
	} {
		u, err := url.Parse(address)
		if err != nil || Loopback(u) != want {
			t.Errorf("%s: %v (%v)", address, !want, err)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "172.15.255.255": true, "172.32.0.1": true, "100.128.0.1": true,
		"172.31.0.1": false, "100.127.255.255": false, "224.0.0.1": false, "255.255.255.255": false, "198.19.0.1": false, "::": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got public %v, want %v", address, got, want)
		}
	}
	for _, address := range []string{"10.0.0.1:80", "[::ffff:100.64.0.1]:80", "[::ffff:127.0.0.1]:80", "[::1]:80", "[fe80::1%eth0]:80"} {
		if err := PublicOnly("tcp", address, nil); !errors.Is(err, ErrNotPublic) {
			t.Errorf("dialling %s: got %v", address, err)
		}
	}
}
