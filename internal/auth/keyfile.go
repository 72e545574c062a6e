package auth

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretBlock is the PEM type of the secret beside the private key.
const secretBlock = "COUNTERSIGN SECRET"

// LoadOrCreateKeys reads one pair from a PEM file, or makes the file (mode
// 0600) with a fresh pair. A file that other users may read is refused.
func LoadOrCreateKeys(path string) (*Keys, error) {
	text, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKeys(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read internal keys: %w", err)
	}
	_, rest := pem.Decode(text)
	secret, _ := pem.Decode(rest)
	if secret == nil || secret.Type != secretBlock {
		return nil, fmt.Errorf("read internal keys: %s is not complete", path)
	}
	p, err := newPair(text, secret.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read internal keys %s: %w", path, err)
	}
	return &Keys{pairs: []pair{p}}, nil
}

func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read by other users; make it 0600", path)
	}
	return os.ReadFile(path)
}

func createKeys(path string) (*Keys, error) {
	k, err := GenerateKeys()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.pairs[0].signing.Key.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, fmt.Errorf("encode internal keys: %w", err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: secretBlock, Bytes: k.pairs[0].secret})...)
	if err := writeWhole(path, text); err != nil {
		return nil, fmt.Errorf("keep internal keys: %w", err)
	}
	return k, nil
}

// writeWhole writes the file atomically: a crash leaves no partial key.
// CreateTemp's mode is 0600.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
