package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Issuer is a trusted identity issuer, and the client that signs people in
// there.
type Issuer struct {
	URL           string   `yaml:"url"`
	Audience      string   `yaml:"audience"` // for `serve`, default: each server's own name
	ClientID      string   `yaml:"client_id"`
	ClientSecret  string   `yaml:"client_secret"`
	UsernameClaim string   `yaml:"username_claim"`
	RolesClaims   []string `yaml:"roles_claims"`
	TrustEmail    bool     `yaml:"trust_email"`

	ConfirmClients      []string `yaml:"confirm_clients"`
	ConfirmWithoutScope bool     `yaml:"confirm_without_scope"`
}

// SigningIn is the issuer that signs people in. It may say everything about
// them.
type SigningIn struct {
	Issuer     `yaml:",inline"`
	Scopes     []string     `yaml:"scopes"`     // asked for at sign-in; default: openid, profile, email
	Resource   string       `yaml:"resource"`   // sent at sign-in (RFC 8707); default: nothing
	LocalUser  string       `yaml:"local_user"` // of a development issuer: whose session `serve NAME --stdio` is without a token
	Additional []Additional `yaml:"additional_issuers"`
}

// Additional is one more issuer to believe: in what it may say, which is nothing
// by default.
type Additional struct {
	Issuer       `yaml:",inline"`
	EmailDomains []string `yaml:"email_domains"` // it verifies addresses at these only
	RolesAllowed []string `yaml:"roles_allowed"` // and gives these roles only
}

// defaults let the tokens of our own client approve. An empty list in the file
// stays empty: then people answer with a browser only.
func (i *Issuer) defaults() {
	if i.ConfirmClients == nil && i.ClientID != "" {
		i.ConfirmClients = []string{i.ClientID}
	}
}

// authorities finds patterns, which would not be read as such.
func (c *Config) authorities() (problems []string) {
	for i, issuer := range c.Issuer.Additional {
		at := c.line("issuer", "additional_issuers", strconv.Itoa(i))
		if slices.ContainsFunc(issuer.EmailDomains, func(d string) bool { return d == "" || strings.ContainsAny(d, "@*/: ") }) {
			problems = append(problems, at+"email_domains must be domains such as example.com; a subdomain needs an entry of its own")
		}
	}
	return problems
}

// localUser finds one of an issuer on another machine, which no development issuer is.
func (i *SigningIn) localUser(at string) []string {
	if u, err := url.Parse(i.URL); i.LocalUser == "" || err == nil && Loopback(u.Host) {
		return nil
	}
	return []string{at + "issuer.local_user needs a development issuer on this machine: people of any other have tokens of their own"}
}

// Issuers are all identity issuers, the one that signs people in first.
func (c *Config) Issuers() []Issuer {
	all := []Issuer{c.Issuer.Issuer}
	for _, more := range c.Issuer.Additional {
		all = append(all, more.Issuer)
	}
	return all
}
