package auth

import (
	"context"
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

// Dropped is what an issuer said about a person and may not say.
type Dropped struct {
	Issuer, Subject, Username string
	Domain                    string   // of an address; empty: none was dropped
	Roles                     []string // as the token has them
}

// maxReported bounds how many dropped domains and roles are logged, for each
// issuer and the life of the process.
const maxReported = 100

// limited drops what the issuer may not say, reports it for each token, and logs
// each such thing once. The address is compared as a principal holds it: in lower
// case.
type limited struct {
	authority Authority
	issuer    string
	dropped   func(context.Context, Dropped) // nil: not reported
	log       *slog.Logger

	mu       sync.Mutex
	reported map[string]bool
}

func (l *limited) apply(ctx context.Context, who access.Claims) access.Claims {
	d := Dropped{Issuer: l.issuer, Subject: who.Subject, Username: who.Username}
	if who.EmailVerified && !l.owns(who.Email) {
		_, d.Domain, _ = strings.Cut(who.Email, "@")
		l.report("the issuer may not verify addresses of this domain: add it to email_domains", d.Domain)
		who.Email, who.EmailVerified = "", false
	}
	who.Roles = slices.DeleteFunc(who.Roles, func(role string) bool {
		dropped := !slices.Contains(l.authority.Roles, role)
		if dropped {
			d.Roles = append(d.Roles, role)
			l.report("the issuer may not give this role: add it to roles_allowed", role)
		}
		return dropped
	})
	if l.dropped != nil && (d.Domain != "" || len(d.Roles) > 0) {
		l.dropped(ctx, d)
	}
	return who
}

// owns reports whether an address has one "@" and one of the issuer's domains.
func (l *limited) owns(email string) bool {
	name, domain, found := strings.Cut(access.FoldAddress(email), "@")
	return found && name != "" && !strings.Contains(domain, "@") &&
		slices.ContainsFunc(l.authority.EmailDomains, func(own string) bool { return domain == access.FoldAddress(own) })
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
