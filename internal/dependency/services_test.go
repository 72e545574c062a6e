package dependency_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/dependency"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
)

// What is wrong with the certificate of another process, and what to do about it,
// is in the line about it.
func TestCheckSaysWhatToDoAboutACertificate(t *testing.T) {
	t.Parallel()
	url, roots, dial := certtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ready"}`)) }))
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: dial}}
	later := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Time: func() time.Time { return time.Now().Add(48 * time.Hour) }}}}
	for _, c := range []struct {
		name, url, want string
		client          *http.Client
	}{
		{"unknown authority", url, "SSL_CERT_FILE", http.DefaultClient},
		{"another name", "https://hr.test", "not for hr.test", trusting},
		{"ended", url, "renew it", later},
		{"not running", "http://127.0.0.1:" + testkit.FreePort(t), `Is "countersign serve hr" running?`, http.DefaultClient},
	} {
		_, err := dependency.Process(c.client, c.url, "/ready", "countersign serve hr")(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := dependency.Process(trusting, url, "/ready", "")(t.Context()); err != nil {
		t.Errorf("a certificate that is trusted: got %v", err)
	}
}
