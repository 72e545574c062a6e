package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/testkit/certtest"
)

// A server asks nothing of a gateway whose certificate is not trusted, or has
// another name: the keys of internal tokens come from there.
func TestGatewayKeysComeFromTheNamedGatewayOnly(t *testing.T) {
	var asked atomic.Int64
	url, roots, dial := certtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"keys":[]}`))
	}))
	fetch := func(url string, trusted bool) error {
		client := newClient(url)
		transport := client.Transport.(bounded).next.(*http.Transport)
		if trusted { // as SSL_CERT_FILE does for a process
			transport.TLSClientConfig, transport.DialContext = &tls.Config{RootCAs: roots}, dial
		}
		_, err := gatewayKeys(client, url)(t.Context())
		return err
	}
	if err := fetch(url, false); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("an unknown authority: got %v", err)
	}
	if err := fetch("https://gateway.test", true); !errors.As(err, new(x509.HostnameError)) {
		t.Errorf("another name: got %v", err)
	}
	if asked.Load() != 0 {
		t.Error("it was asked all the same")
	}
	if _ = fetch(url, true); asked.Load() != 1 { // what it answers is no matter of this test
		t.Error("a certificate that is trusted and has the name was refused")
	}
}
