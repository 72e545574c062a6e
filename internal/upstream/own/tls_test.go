package own_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
	"countersign.dev/internal/upstream/own"
)

// No token is sent to a server whose certificate is not trusted, or has another
// name.
func TestTokensGoToTheNamedServerOnly(t *testing.T) {
	var received atomic.Int64
	url, roots, dial := certtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			received.Add(1)
		}
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	trusting := own.NewTransport() // as SSL_CERT_FILE does for a process
	trusting.TLSClientConfig, trusting.DialContext = &tls.Config{RootCAs: roots}, dial
	ask := func(url string, transport http.RoundTripper) error {
		s := own.New(own.Options{Name: "hr", URL: url, HTTP: transport, Timeout: testkit.Patience, Log: slog.New(slog.DiscardHandler), Mint: func(*access.Principal, string, access.Purpose) (string, error) {
			return "a-token", nil
		}})
		defer s.Close()
		_, err := s.Tools(testkit.As(t, "alice"))
		return err
	}
	if err := ask(url, nil); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("an unknown authority: got %v", err)
	}
	if err := ask("https://hr.test", trusting); !errors.As(err, new(x509.HostnameError)) {
		t.Errorf("another name: got %v", err)
	}
	if received.Load() != 0 {
		t.Error("it received a token")
	}
	if err := ask(url, trusting); err == nil || received.Load() == 0 {
		t.Errorf("a certificate that is trusted and has the name was refused: %v", err)
	}
}
