package issuer

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/netguard"
)

// tokenLife is how long ID and access tokens are valid, unless an option says it.
const tokenLife = time.Hour

// Options lists the people and clients. The zero value has none.
type Options struct {
	People  []Person
	Clients []Client
	KeyFile string           // PEM file of the signing key, made when missing; empty: a fresh key for this process
	Now     func() time.Time // nil: time.Now
	Life    time.Duration    // of ID and access tokens, in whole seconds; 0: an hour

	TerminalClient string   // the client that tokens for terminals are issued to; empty: none
	Audiences      []string // the servers that these tokens may be for; empty: any name of a server
}

// Issuer serves one issuer URL. It is safe for concurrent use.
type Issuer struct {
	url      string
	people   []Person
	terminal string   // the client of tokens for terminals
	servers  []string // the audiences of these tokens; empty: any
	signer   *signer
	codes    *codes
	families *families // of refresh tokens
	life     time.Duration
	now      func() time.Time

	mu      sync.RWMutex
	clients map[string]Client
}

// New makes an issuer with the given URL, which must name a loopback host. Use [Start] to serve one.
func New(issuerURL string, o Options) (*Issuer, error) {
	if err := loopbackURL(issuerURL); err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	signer, err := newSigner(o.KeyFile)
	if err != nil {
		return nil, err
	}
	i := &Issuer{
		url: issuerURL, people: slices.Clone(o.People), terminal: o.TerminalClient, servers: slices.Clone(o.Audiences), signer: signer,
		codes: newCodes(now), families: newFamilies(now), life: cmp.Or(o.Life, tokenLife), now: now, clients: make(map[string]Client),
	}
	if err := i.checkPeople(); err != nil {
		return nil, err
	}
	for _, c := range o.Clients {
		if err := i.Register(c); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// URL is the issuer's URL, the value of iss.
func (i *Issuer) URL() string { return i.url }

// Register adds or replaces a client. It fails for a client without an ID and
// for a redirect address that is not on loopback.
func (i *Issuer) Register(c Client) error {
	if c.ID == "" {
		return errors.New("issuer: a client needs an ID")
	}
	for _, uri := range slices.Concat(c.RedirectURIs, c.LogoutURIs) {
		if err := loopbackURL(uri); err != nil {
			return fmt.Errorf("client %s: %w", c.ID, err)
		}
	}
	if c.Audience == "" {
		c.Audience = c.ID
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clients[c.ID] = c
	return nil
}

// contentPolicy allows only our style sheet, and forms to ourselves and, because
// browsers apply form-action to redirects too, to the client.
func contentPolicy(client string) string {
	return strings.TrimSpace("default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' " + client)
}

func (i *Issuer) client(id string) (Client, bool) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	c, ok := i.clients[id]
	return c, ok
}

func (i *Issuer) person(username string) (Person, bool) {
	at := slices.IndexFunc(i.people, func(p Person) bool { return p.Username == username })
	if at < 0 {
		return Person{}, false
	}
	return i.people[at], true
}

func (i *Issuer) checkPeople() error {
	seen := make(map[string]bool, 2*len(i.people))
	for _, p := range i.people {
		if p.Username == "" || p.Subject == "" {
			return fmt.Errorf("issuer: person %q needs a user name and a subject", p.Name)
		}
		if seen["u "+p.Username] || seen["s "+p.Subject] {
			return fmt.Errorf("issuer: %s is configured twice", p.Username)
		}
		seen["u "+p.Username], seen["s "+p.Subject] = true, true
	}
	return nil
}

func loopbackURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Fragment != "" || !netguard.Loopback(u) {
		return fmt.Errorf("issuer: %q is not an address on loopback; the development issuer serves loopback only", raw)
	}
	return nil
}
