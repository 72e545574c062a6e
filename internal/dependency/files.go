package dependency

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"countersign.dev/internal/httpx"
)

// Writable opens an existing file for writing; for a missing one it creates and
// removes a temporary file in the same folder.
func Writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err = os.CreateTemp(filepath.Dir(path), ".countersign-check-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Certificate reads a certificate and its key, and checks dates and the host of
// an address.
func Certificate(cert, key, address string, now time.Time) (string, error) {
	pair, err := httpx.LoadCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	leaf, ends := pair.Leaf(), pair.Leaf().NotAfter.UTC().Format(time.DateOnly)
	switch {
	case now.After(leaf.NotAfter):
		return "", fmt.Errorf("%s ended on %s. Renew it", cert, ends)
	case now.Before(leaf.NotBefore):
		return "", fmt.Errorf("%s begins on %s only", cert, leaf.NotBefore.UTC().Format(time.DateOnly))
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if host := u.Hostname(); host != "" && leaf.VerifyHostname(host) != nil {
		return "", fmt.Errorf("%s is not for the host %s", cert, host)
	}
	return fmt.Sprintf("is valid until %s, days left: %d", ends, int(leaf.NotAfter.Sub(now).Hours()/24)), nil
}
