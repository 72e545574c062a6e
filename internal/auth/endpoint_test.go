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
	if own := ownHost("https://10.0.0.7:8443/realms/x"); own != "10.0.0.7" || ownHost("http://localhost:3180") != "" {
		t.Errorf("got %q", own)
	}
}

// TestIssuersReachNoInnerAddressThroughAProxy: a proxy is asked for the configured host
// and for public ones, and is no way to what else listens on its machine.
func TestIssuersReachNoInnerAddressThroughAProxy(t *testing.T) {
	var asked, touched atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { touched.Add(1) }))
	defer inside.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	choose := func(r *http.Request) (*url.URL, error) { // as the environment's: never for this machine
		if r.URL.Hostname() == at.Hostname() {
			return nil, nil
		}
		return at, nil
	}
	client := newProxiedClient("https://10.0.0.7/realms/company", choose)
	for _, address := range []string{"http://10.0.0.1/jwks", "http://169.254.169.254/latest", "http://[fd00::1]/jwks", "http://localhost/jwks", inside.URL + "/jwks", proxy.URL + "/jwks"} {
		if resp, err := client.Get(address); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s: got %v, want %v", address, err, netguard.ErrNotPublic)
			if err == nil {
				_ = resp.Body.Close()
			}
		}
	}
	if asked.Load() != 0 || touched.Load() != 0 {
		t.Errorf("the proxy was asked %d times, the server beside it reached %d times", asked.Load(), touched.Load())
	}
	for _, address := range []string{"http://10.0.0.7/keys", "http://8.8.8.8/keys"} {
		resp, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if asked.Load() != 2 {
		t.Errorf("the proxy was asked %d times, want twice", asked.Load())
	}
}
