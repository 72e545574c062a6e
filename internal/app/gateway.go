package app

import (
	"context"
	"net"
	"strings"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/session"
	"countersign.dev/internal/state"
	"countersign.dev/internal/upstream"
	"countersign.dev/web"
)

// gatewayOptions are what a gateway needs besides the platform.
type gatewayOptions struct {
	listener net.Listener
	url      string        // public address
	issuers  []auth.Config // the first one signs people in
	clientID string
	secret   string // of the client; empty for a public one
	servers  []upstream.Server
	models   *llm.Registry
	system   string // the operator's system prompt, added to ours
}

// serveGateway builds the chat host and serves it.
func (p *platform) serveGateway(o gatewayOptions) error {
	minter, err := auth.NewMinter(p.keys, nil)
	if err != nil {
		return err
	}
	servers := upstream.New(o.servers, upstream.Options{
		Mint: minter.Token, Records: state.NewConfirmations(p.redis), Audit: p.audit, Log: p.log,
	})
	p.life.onClose(func() error { servers.Close(); return nil })
	conversations, err := p.conversations(o, gateway.WithApproval(servers, o.url))
	if err != nil {
		return err
	}
	chatHost, err := p.newGateway(o, servers, conversations)
	if err != nil {
		return err
	}
	p.life.serve(o.listener, chatHost.Handler(), p.log, nil)
	p.life.onEnd(conversations.Shutdown) // before the server stops: streams end with a last event
	return nil
}

// conversations keeps conversations and runs their turns.
func (p *platform) conversations(o gatewayOptions, toolbox gateway.Servers) (*conversation.Service, error) {
	ring, err := p.ring("conversation")
	if err != nil {
		return nil, err
	}
	return conversation.New(conversation.Options{
		Models: o.models, System: o.system, Toolbox: toolbox, Redis: p.redis, Ring: ring, Audit: p.audit, Log: p.log,
	})
}

func (p *platform) newGateway(o gatewayOptions, servers *upstream.Upstream, conversations *conversation.Service) (*gateway.Gateway, error) {
	verifier, err := newVerifier(o.issuers, nil, p.log)
	if err != nil {
		return nil, err
	}
	sessions, err := p.sessions(o, verifier)
	if err != nil {
		return nil, err
	}
	jwks, err := p.keys.JWKSHandler()
	if err != nil {
		return nil, err
	}
	edge, err := mcpserver.New(gateway.Approvable(upstream.Catalogue{Upstream: servers}, o.url), mcpserver.Options{
		Name: "countersign", Title: "Countersign", Version: Version(),
		Instructions: "Tools over the company's data, as far as you may see it. A change answers pending_confirmation and waits for your approval.",
		Verify:       verifier.Verify, Resource: o.url + "/mcp", AuthorizationServers: []string{o.issuers[0].URL}, Log: p.log,
	})
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		PublicURL: o.url, Issuers: []string{o.issuers[0].URL}, Verify: verifier.Verify, Sessions: sessions,
		Conversations: conversations, Models: o.models, Servers: gateway.WithApproval(servers, o.url), Confirmations: p.confirmations,
		Web: web.Files, MCP: edge.MCP(), JWKS: jwks, Log: p.log,
	})
}

// sessions makes the service that signs people in at the issuer.
func (p *platform) sessions(o gatewayOptions, verifier *auth.Verifier) (*session.Service, error) {
	login, err := auth.NewLogin(auth.LoginConfig{
		Issuer: o.issuers[0].URL, ClientID: o.clientID, ClientSecret: o.secret, RedirectURL: o.url + "/callback",
	}, verifier)
	if err != nil {
		return nil, err
	}
	ring, err := p.ring("cookie")
	if err != nil {
		return nil, err
	}
	return session.New(session.Options{
		PublicURL: o.url, Issuer: login, Verify: verifier.Verify, Ring: ring, Keys: p.redis, Audit: p.audit, Log: p.log,
	})
}

// Gateway runs the chat host and gateway as a process of its own.
func Gateway(ctx context.Context, o ConfigOptions) error {
	conf, err := o.load(config.ForGateway)
	if err != nil {
		return err
	}
	return o.process(ctx, conf, func(pl *platform) error {
		listener, err := httpx.Listen(ctx, conf.Listen)
		if err != nil {
			return err
		}
		models, err := modelsOf(conf)
		if err != nil {
			return err
		}
		return pl.serveGateway(gatewayOptions{
			listener: listener, url: strings.TrimSuffix(conf.PublicURL, "/"), issuers: issuersOf(conf),
			clientID: conf.Issuer.ClientID, secret: conf.Issuer.ClientSecret,
			servers: upstreamsOf(conf), models: models, system: conf.SystemPrompt,
		})
	})
}

// modelsOf makes the configured models.
func modelsOf(conf *config.Config) (*llm.Registry, error) {
	options := make(map[string]llm.Options, len(conf.Models.ByName))
	for name, m := range conf.Models.ByName {
		options[name] = llm.Options{Provider: m.Provider, Timeout: m.Timeout, Budget: m.BudgetTokens}
	}
	return llm.New(options, conf.Models.Default)
}
