// Package certtest makes certificates for tests, in memory and in files. It
// knows no package of ours, so that any test may use it.
package certtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Pair makes a certificate that signs itself, for 127.0.0.1 and localhost, and
// its key: PEM texts, valid for a day from an hour ago.
func Pair(t testing.TB, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// Files writes a pair into a folder, as cert.pem and key.pem.
func Files(t testing.TB, folder, name string) (certFile, keyFile string) {
	t.Helper()
	cert, key := Pair(t, name)
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	Replace(t, certFile, cert)
	Replace(t, keyFile, key)
	return certFile, keyFile
}

// Replace writes a file as a careful program does: beside it, then renamed.
func Replace(t testing.TB, path string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path+".new", text, 0o600))
	must(t, os.Rename(path+".new", path))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Serve serves a handler with a certificate for localhost that nothing trusts but
// roots. dial leads any address to it, so that a test can reach it by a name that
// the certificate does not have.
func Serve(t testing.TB, h http.Handler) (url string, roots *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) {
	t.Helper()
	cert, key := Pair(t, "server")
	pair, err := tls.X509KeyPair(cert, key)
	must(t, err)
	server := httptest.NewUnstartedServer(h)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	address := server.Listener.Addr().String()
	return server.URL, roots, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}
