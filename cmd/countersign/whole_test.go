package main

import (
	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
)

// catalogue is a principal that sees every tool, and may call none.
func catalogue() *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "catalogue", Purpose: access.PurposeCatalogue})
}

// roleNames are the roles as tokens spell them.
func roleNames() []string {
	var names []string
	for _, r := range access.Roles() {
		names = append(names, string(r))
	}
	return names
}
