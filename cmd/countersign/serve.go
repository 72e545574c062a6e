package main

import (
	"context"
	"flag"
	"fmt"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/upstream"
)

// serve runs domain servers as a process of their own.
func serve(ctx context.Context, p program, c command) error {
	var path string
	names, err := c.parse(p, func(fs *flag.FlagSet) { fs.StringVar(&path, "config", "", "configuration `file`") })
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return usageError{"name at least one server, such as hr"}
	}
	chosen := make([]domain, len(names))
	for i, name := range names {
		d, known := domainNamed(name)
		if !known {
			return usageError{fmt.Sprintf("there is no server %q", name)}
		}
		chosen[i] = d
	}
	conf, err := loadConfig(path, p.getenv, func(c *config) []string { return needServers(c, names) })
	if err != nil {
		return err
	}
	return p.process(ctx, conf, func(pl *platform) error {
		for _, d := range chosen {
			if err := pl.serveConfigured(ctx, d, conf); err != nil {
				return err
			}
		}
		return nil
	})
}

func needServers(c *config, names []string) (problems []string) {
	for _, name := range names {
		if c.Databases[name].URL == "" {
			problems = append(problems, fmt.Sprintf("databases.%s.url is required to serve it", name))
		}
	}
	if c.Gateway.URL == "" {
		problems = append(problems, "line 1: gateway.url is required: servers verify the gateway's tokens with its keys")
	}
	return append(problems, needIssuer(c)...)
}

// serveConfigured serves one domain as the configuration says.
func (p *platform) serveConfigured(ctx context.Context, d domain, conf *config) error {
	s := conf.server(d)
	listener, err := httpx.Listen(ctx, s.Listen)
	if err != nil {
		return err
	}
	issuers := conf.issuers()
	for i := range issuers { // clients that connect directly name this server as their audience
		issuers[i].Audiences = []string{d.name}
	}
	verifier, err := auth.NewVerifier(issuers, &auth.Options{
		Internal: &auth.Internal{Audience: d.name, GatewayURL: conf.Gateway.URL}, Log: p.log,
	})
	if err != nil {
		return err
	}
	url := orDefault(s.PublicURL, orDefault(s.URL, "http://"+listener.Addr().String()))
	return p.serveDomain(ctx, d, conf.Databases[d.name], place{listener: listener, url: url, verify: verifier.Verify, issuers: conf.issuerURLs()})
}

// server is the configuration of one server, with its defaults.
func (c *config) server(d domain) serverConfig {
	s := c.Servers[d.name]
	s.Listen = orDefault(s.Listen, fmt.Sprintf("127.0.0.1:%d", d.port))
	return s
}

// issuers are the identity issuers that are believed.
func (c *config) issuers() []auth.Config {
	var all []auth.Config
	for _, i := range append([]issuerConfig{c.Issuer}, c.Issuer.Additional...) {
		all = append(all, auth.Config{
			URL: i.URL, Audiences: []string{i.Audience}, UsernameClaim: i.UsernameClaim, RolesClaims: i.RolesClaims, TrustEmail: i.TrustEmail,
		})
	}
	return all
}

func (c *config) issuerURLs() []string {
	var urls []string
	for _, i := range c.issuers() {
		urls = append(urls, i.URL)
	}
	return urls
}

// keys are the internal keys of the configuration.
func (c *config) keys() (*auth.Keys, error) {
	pairs := make([]auth.KeyPair, len(c.InternalKeys))
	for i, k := range c.InternalKeys {
		pairs[i] = auth.KeyPair{PrivateKey: k.Key, Secret: k.Secret}
	}
	return auth.ParseKeys(pairs)
}

// upstreams are the servers that the gateway reaches, in the order of the list
// of domains.
func (c *config) upstreams() []upstream.Server {
	var servers []upstream.Server
	for _, d := range domains() {
		if s, ok := c.Servers[d.name]; ok {
			servers = append(servers, upstream.Server{Name: d.name, URL: s.URL, Timeout: s.Timeout, WriteTimeout: s.WriteTimeout})
		}
	}
	return servers
}
