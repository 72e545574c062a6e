package auth

import (
	"log/slog"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/access"
)

// Authority is what an issuer may say about people. The zero value lets it say
// nothing but who they are at that issuer.
type Authority struct {
	EmailDomains []string // an address at another domain is not verified
	Roles        []string // any other role is dropped
}

// maxReported bounds how many dropped domains and roles are logged, for each
// issuer and the life of the process.
const maxReported = 100

// limited drops what the issuer may not say, and logs each such thing once. The
// address is compared as a principal holds it: in lower case.
type limited struct {
	authority Authority
	issuer    string
	log       *slog.Logger

	mu       sync.Mutex
	reported map[string]bool
}

func (l *limited) apply(who access.Claims) access.Claims {
	if who.EmailVerified && !l.owns(who.Email) {
		_, domain, _ := strings.Cut(who.Email, "@")
		l.report("the issuer may not verify addresses of this domain: add it to email_domains", domain)
		who.Email, who.EmailVerified = "", false
	}
	who.Roles = slices.DeleteFunc(who.Roles, func(role string) bool {
		dropped := !slices.Contains(l.authority.Roles, role)
		if dropped {
			l.report("the issuer may not give this role: add it to roles_allowed", role)
		}
		return dropped
	})
	return who
}

// owns reports whether an address has one "@" and one of the issuer's domains.
func (l *limited) owns(email string) bool {
	name, domain, found := strings.Cut(strings.ToLower(email), "@")
	return found && name != "" && !strings.Contains(domain, "@") &&
		slices.ContainsFunc(l.authority.EmailDomains, func(own string) bool { return domain == strings.ToLower(own) })
}

func (l *limited) report(message, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reported[message+value] || len(l.reported) >= maxReported {
		return
	}
	l.reported[message+value] = true
	l.log.Warn(message, "issuer", l.issuer, "value", value)
}
