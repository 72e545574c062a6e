package config

import (
	"fmt"
	"maps"
	"slices"
)

// Keys are the secrets of one process. Of each list the first signs or seals,
// and all verify or open.
type Keys struct {
	Signing []string            `yaml:"signing"` // PEM of EC P-256 private keys; the gateway's only
	Sealing map[string][]string `yaml:"sealing"` // by name ("gateway" or a server's): secrets of at least 32 bytes
}

// sharedSecrets finds secrets that two names have: each has its own, so that
// one that was taken opens nothing of another.
func (c *Config) sharedSecrets() (problems []string) {
	owners := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Keys.Sealing)) {
		for _, secret := range c.Keys.Sealing[name] {
			if owner, taken := owners[secret]; taken && owner != name {
				problems = append(problems, fmt.Sprintf("%skeys.sealing.%s has a secret of keys.sealing.%s: each needs its own", c.line("keys", "sealing", name), name, owner))
			}
			owners[secret] = name
		}
	}
	return problems
}

// needSealing requires the secrets of one name.
func (c *Config) needSealing(name string) []string {
	if len(c.Keys.Sealing[name]) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("%skeys.sealing.%s is required: what it seals (cursors, cookies, records) is sealed with keys derived from it", c.line("keys", "sealing"), name)}
}
