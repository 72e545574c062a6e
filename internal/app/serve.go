package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/mcpserver"
)

// ServeOptions name the domain servers that a process of their own serves.
type ServeOptions struct {
	ConfigOptions
	Servers []string
	Stdio   *Stdio // one server to one client; nil: over HTTP
}

// Stdio is a client at the program's standard streams.
type Stdio struct {
	Token string // of its person; empty: the configuration's local user
	In    io.Reader
	Out   io.Writer
}

// Serve runs domain servers as a process of their own.
func Serve(ctx context.Context, o ServeOptions) error {
	chosen := make([]domain, len(o.Servers))
	for i, name := range o.Servers {
		d, known := domainNamed(name)
		if !known {
			return fmt.Errorf("there is no server %q", name)
		}
		chosen[i] = d
	}
	conf, err := o.load(config.ForServers(o.Servers))
	if err != nil {
		return err
	}
	return o.process(ctx, chosen[0].name, conf, func(pl *platform) error {
		if o.Stdio != nil {
			return pl.serveStdio(ctx, chosen[0], conf, *o.Stdio)
		}
		for _, d := range chosen {
			if err := pl.serveConfigured(ctx, d, conf); err != nil {
				return err
			}
		}
		return nil
	})
}

// serveConfigured serves one domain as the configuration says.
func (p *platform) serveConfigured(ctx context.Context, d domain, conf *config.Config) error {
	s := serverOf(conf, d)
	listener, err := p.listen(ctx, s.Listen, s.TLS)
	if err != nil {
		return err
	}
	scheme := "http://"
	if s.TLS.Serves() {
		scheme = "https://"
	}
	o := configuredDomain(conf, s)
	o.listener, o.url = listener, cmp.Or(s.PublicURL, s.URL, scheme+listener.Addr().String())
	return p.serveDomain(ctx, d, conf.Databases[d.name], o)
}

func configuredDomain(conf *config.Config, s config.Server) domainOptions {
	return domainOptions{
		hosts: hostsOf(s.URL), origins: conf.Origins, scopes: conf.Issuer.Scopes, issuers: issuersOf(conf), gatewayURL: conf.Gateway.URL, approvals: cmp.Or(conf.Gateway.PublicURL, conf.Gateway.URL), direct: s.ExecuteDirectly,
	}
}

// serveStdio serves one domain to the client at standard input and output. Changes
// wait for the gateway's page, as they do over HTTP.
func (p *platform) serveStdio(ctx context.Context, d domain, conf *config.Config, client Stdio) error {
	token, err := client.tokens(conf, d.name)
	if err != nil {
		return err
	}
	o := configuredDomain(conf, conf.Servers[d.name])
	_, edge, err := p.openDomain(ctx, d, conf.Databases[d.name], o)
	if err != nil {
		return err
	}
	p.life.task(func(ctx context.Context) error {
		return mcpserver.Stdio{Server: edge, Token: token}.Serve(ctx, client.In, client.Out)
	})
	return nil
}

// tokens returns the source of the tokens of the client's person.
func (c Stdio) tokens(conf *config.Config, server string) (func(context.Context) (string, error), error) {
	switch {
	case c.Token != "":
		return func(context.Context) (string, error) { return c.Token, nil }, nil
	case conf.Issuer.LocalUser == "":
		return nil, errors.New("no person is named: set their token in COUNTERSIGN_TOKEN or, with a development issuer, issuer.local_user in the configuration")
	}
	user, err := issuer.NewSession(conf.Issuer.URL, conf.Issuer.LocalUser, cmp.Or(conf.Issuer.Audience, server), nil)
	if err != nil {
		return nil, err
	}
	return user.Token, nil
}

// hostsOf is the host of an address, under which the gateway calls a server that
// clients know by its public one.
func hostsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host}
}
