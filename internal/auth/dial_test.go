package auth

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/netguard"
)

// TestIssuersReachNoInnerAddress fetches what the answers of a public issuer may
// name: addresses in every spelling, and a name that resolves to this machine.
func TestIssuersReachNoInnerAddress(t *testing.T) {
	var touched atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { touched.Add(1) }))
	defer inside.Close()
	at, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	port := ":" + at.Port()
	client := newClient("https://id.example.com/realms/company")
	get := func(address string) error {
		resp, err := client.Get(address)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
	} {
		if err := get("http://" + host + port + "/jwks"); !errors.Is(err, netguard.ErrNotPublic) && !errors.As(err, new(*net.DNSError)) {
			t.Errorf("%s: got %v, want %v", host, err, netguard.ErrNotPublic)
		}
	}
	if touched.Load() != 0 {
		t.Errorf("the server inside was reached %d times", touched.Load())
	}
	client = newClient("http://" + at.Host) // what an operator configured is reached
	if err := get(inside.URL); err != nil || touched.Load() != 1 {
		t.Errorf("its own host: %v", err)
	}
}

func TestOnlyTheConfiguredHostMayBeInside(t *testing.T) {
	own := ownHosts("https://10.0.0.7:8443/realms/x")
	if !own["10.0.0.7"] || len(own) != 1 || ownHosts("http://localhost:3180") != nil {
		t.Errorf("got %v", own)
	}
}
