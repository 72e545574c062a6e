package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// Certificate is a certificate and its key in two PEM files. It is read again
// when a file changed, which a handshake notices: no restart, and no timer. It is
// safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]os.FileInfo // of the files when they were last read, well or not
}

// LoadCertificate reads the files. Its errors are sentences for the person who
// starts the program.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	files, err := c.files()
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	c.read = files
	if c.current, err = c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// Listener accepts TLS 1.3 connections on l, with HTTP/1.1.
func (c *Certificate) Listener(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.latest(), nil
		},
	})
}

// Leaf is the certificate that is served at the moment.
func (c *Certificate) Leaf() *x509.Certificate { return c.latest().Leaf }

// latest reads files that changed. A pair that cannot be used keeps the old
// one, and is logged once.
func (c *Certificate) latest() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	files, err := c.files()
	if err == nil && same(files, c.read) {
		return c.current
	}
	var fresh *tls.Certificate
	if err == nil {
		fresh, err = c.load()
	}
	changed := !same(files, c.read)
	c.read = files
	switch {
	case err == nil:
		c.current = fresh
		c.log.Info("the certificate was read again", "file", c.certFile, "expires", fresh.Leaf.NotAfter.UTC().Format(time.DateOnly))
	case changed:
		c.log.Error("the new certificate cannot be used, the old one stays", "file", c.certFile, "error", err)
	}
	return c.current
}

func (c *Certificate) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s and the key %s cannot be used together: %w", c.certFile, c.keyFile, err)
	}
	return &pair, nil
}

// files returns nil for a file that is not there.
func (c *Certificate) files() (found [2]os.FileInfo, err error) {
	if found[0], err = os.Stat(c.certFile); err != nil {
		return [2]os.FileInfo{}, err
	}
	if found[1], err = os.Stat(c.keyFile); err != nil {
		return [2]os.FileInfo{}, err
	}
	return found, nil
}

func same(a, b [2]os.FileInfo) bool {
	for i := range a {
		if a[i] == nil || b[i] == nil {
			if a[i] != b[i] {
				return false
			}
			continue
		}
		if !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() {
			return false
		}
	}
	return true
}
