package connected

import (
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/upstream/foreign"
)

func overHTTP(one mcpfile.Server) foreign.Connection {
	h := foreign.HTTP{URL: one.URL, Header: one.Header, Next: foreign.NewTransport(one.AllowPrivate)}
	if o := one.OAuth; o != nil {
		h.OAuth = &foreign.OAuth{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Scopes: o.Scopes}
	}
	return h
}
