package httpx

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/certtest"
)

// secured is a real server behind a certificate.
type secured struct {
	folder, cert, key, address string
	log                        *bytes.Buffer
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	folder := t.TempDir()
	s := &secured{folder: folder, log: &bytes.Buffer{}}
	s.put(t, "first")
	certificate, err := LoadCertificate(s.cert, s.key, slog.New(slog.NewTextHandler(s.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	go func() {
		ended <- Serve(ctx, NewServer(answer, slog.New(slog.DiscardHandler)), certificate.Listener(l), testkit.Patience)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *secured) put(t testing.TB, name string) {
	t.Helper()
	s.cert, s.key = certtest.Files(t, s.folder, name)
}

// name does a handshake and returns the name in the served certificate.
func (s *secured) name(t *testing.T, version uint16) (string, error) {
	t.Helper()
	conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, MaxVersion: version}) //nolint:gosec // the name is what is tested
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

func (s *secured) wants(t *testing.T, name string) {
	t.Helper()
	if got, err := s.name(t, 0); err != nil || got != name {
		t.Errorf("got %q, %v, want %q", got, err, name)
	}
}

func TestCertificateIsReadAgainWhenItsFilesChange(t *testing.T) {
	s := newSecured(t)
	s.wants(t, "first")
	s.put(t, "second")
	s.wants(t, "second")

	cert, key := certtest.Pair(t, "third") // first the certificate, then the key: in between they do not match
	certtest.Replace(t, s.cert, cert)
	s.wants(t, "second")
	s.wants(t, "second")
	if n := strings.Count(s.log.String(), "the old one stays"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
	certtest.Replace(t, s.key, key)
	s.wants(t, "third")

	if err := os.Remove(s.key); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "third")
	certtest.Replace(t, s.key, key)
	s.wants(t, "third")
}

func TestOnlyModernTLSIsAccepted(t *testing.T) {
	s := newSecured(t)
	if _, err := s.name(t, tls.VersionTLS12); err == nil {
		t.Error("TLS 1.2 was accepted")
	}
	roots := x509.NewCertPool()
	text, err := os.ReadFile(s.cert)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("https://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "HTTP/1.1" || resp.TLS.Version != tls.VersionTLS13 {
		t.Errorf("got %s, %v", body, err)
	}
}

func TestCertificateThatCannotBeUsedIsRefused(t *testing.T) {
	s := newSecured(t)
	_, other := certtest.Pair(t, "other")
	wrong := filepath.Join(t.TempDir(), "other.pem")
	certtest.Replace(t, wrong, other)
	for name, files := range map[string][2]string{
		"no certificate": {"/nowhere/cert.pem", s.key}, "no key": {s.cert, "/nowhere/key.pem"}, "another key": {s.cert, wrong}, "swapped": {s.key, s.cert},
	} {
		_, err := LoadCertificate(files[0], files[1], slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
