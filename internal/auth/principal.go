package auth

import (
	"cmp"
	"fmt"
	"os/user"

	"countersign.dev/internal/access"
)

// Server is a server's own principal, for work that no person asked for: it has
// no roles and sees no rows.
func Server(name string) *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: InternalIssuer, Subject: name, Username: name, Name: "The server " + name})
}

// LocalUser is the person whom the operating system names, for a server that runs for
// one person alone. mayConfirm is the right of one who sits at a terminal.
func LocalUser(mayConfirm bool) (*access.Principal, error) {
	who, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("the operating system does not say who runs this: %w", err)
	}
	return access.NewPrincipal(access.Claims{
		Issuer: "os", Subject: who.Uid, Username: who.Username, Name: cmp.Or(who.Name, who.Username),
		Roles: []string{string(access.Employee)}, MayConfirm: mayConfirm,
	}), nil
}
