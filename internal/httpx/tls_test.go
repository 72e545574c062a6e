package httpx

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/fault"
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

// h2 is what begins a connection of HTTP/2: the preface, SETTINGS, and HEADERS without an end
// that CONTINUATION goes on with. A request of HTTP/1.1 follows, as after a downgrade.
const h2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" +
	"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82" + "\x00\x00\x01\x09\x00\x00\x00\x00\x01\x86" + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// TestHTTP2IsNotSpoken: floods of resets, headers without end and headers that mean more in
// HTTP/1.1 need a listener that speaks HTTP/2. Ours does with TLS neither by agreement nor without,
// and without TLS neither by the preface nor by an upgrade.
func TestHTTP2IsNotSpoken(t *testing.T) {
	s := newSecured(t)
	dial := func(protocols ...string) (*tls.Conn, error) {
		return tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}) //nolint:gosec // it is no matter whose it is
	}
	if c, err := dial("h2"); err == nil {
		t.Errorf("a client of HTTP/2 alone got %q", c.ConnectionState().NegotiatedProtocol)
		_ = c.Close()
	}
	agreed, err := dial("h2", "http/1.1")
	if err != nil {
		t.Fatal(err)
	}
	if got := agreed.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("agreed on %q", got)
	}
	unasked, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	var served atomic.Int32
	mux := NewMux(ErrorWriter{Log: slog.New(slog.DiscardHandler), Write: func(w http.ResponseWriter, _ *http.Request, f *fault.Error) { w.WriteHeader(f.Code.Status) }})
	mux.HandleFunc("GET /", func(http.ResponseWriter, *http.Request) error { served.Add(1); return nil })
	clear := httptest.NewUnstartedServer(nil)
	clear.Config = NewServer(mux, slog.New(slog.DiscardHandler))
	clear.Start()
	defer clear.Close()
	plain, err := net.Dial("tcp", clear.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"agreed on HTTP/1.1": agreed, "without an agreement": unasked, "without TLS": plain} {
		_ = c.SetDeadline(time.Now().Add(testkit.Patience))
		_, _ = io.WriteString(c, h2)
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
		got, err := io.ReadAll(c)
		if err != nil || !bytes.HasPrefix(got, []byte("HTTP/1.1 ")) || bytes.Count(got, []byte("HTTP/1.1 ")) != 1 {
			t.Errorf("%s: got %q, %v, want one answer of HTTP/1.1 and the end", name, got, err)
		}
		_ = c.Close()
	}
	if n := served.Load(); n != 0 {
		t.Errorf("%d requests behind the preface were served", n)
	}
	upgrade, err := http.NewRequest(http.MethodGet, clear.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	upgrade.Header = http.Header{"Connection": {"Upgrade, HTTP2-Settings"}, "Upgrade": {"h2c"}, "Http2-Settings": {"AAMAAABkAAQAAP__"}}
	resp, err := testkit.Client.Do(upgrade)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 1 || served.Load() != 1 {
		t.Errorf("an upgrade: got %s in %s", resp.Status, resp.Proto)
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
