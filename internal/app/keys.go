package app

import (
	"crypto/rand"
	"fmt"
	"path/filepath"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/seal"
)

// gatewayName is the gateway's name among those that seal.
const gatewayName = "gateway"

// processKeys are the secrets of one process.
type processKeys struct {
	signing *auth.Keys          // the gateway's; nil in a process of servers only
	sealing map[string][][]byte // by name: "gateway" or a server's; the first seals, all open
}

// ring derives the sealing keys of the gateway or of one server for a purpose,
// such as "cursor". What one of them seals, the others cannot open.
func (k processKeys) ring(name, purpose string) (*seal.Ring, error) {
	ring, err := seal.NewRing(purpose, k.sealing[name]...)
	if err != nil {
		return nil, fmt.Errorf("keys.sealing.%s: %w", name, err)
	}
	return ring, nil
}

// keysOf reads the keys of the configuration. Errors name the key that is
// wrong, never its content.
func keysOf(conf *config.Config) (processKeys, error) {
	keys := processKeys{sealing: map[string][][]byte{}}
	if len(conf.Keys.Signing) > 0 {
		signing, err := auth.ParseKeys(conf.Keys.Signing...)
		if err != nil {
			return keys, fmt.Errorf("keys.signing: %w", err)
		}
		keys.signing = signing
	}
	for name, secrets := range conf.Keys.Sealing {
		for _, secret := range secrets {
			keys.sealing[name] = append(keys.sealing[name], []byte(secret))
		}
		if _, err := keys.ring(name, "check"); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// demoKeys reads the keys of a demo from its data folder, or makes them: one
// file for each, mode 0600.
func demoKeys(folder string) (processKeys, error) {
	keys := processKeys{sealing: map[string][][]byte{}}
	text, err := embedded.KeyFile(filepath.Join(folder, "signing-key.pem"), auth.NewKey)
	if err != nil {
		return keys, err
	}
	if keys.signing, err = auth.ParseKeys(text); err != nil {
		return keys, fmt.Errorf("%s: %w", folder, err)
	}
	names := []string{gatewayName}
	for _, d := range domains() {
		names = append(names, d.name)
	}
	for _, name := range names {
		secret, err := embedded.KeyFile(filepath.Join(folder, "sealing-"+name+".secret"), newSecret)
		if err != nil {
			return keys, err
		}
		keys.sealing[name] = [][]byte{[]byte(secret)}
	}
	return keys, nil
}

// newSecret makes 52 characters of random text.
func newSecret() (string, error) { return rand.Text() + rand.Text(), nil }
