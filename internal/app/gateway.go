package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/footprint"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/live"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/oversight"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/session"
	"countersign.dev/internal/state"
	"countersign.dev/internal/upstream"
	"countersign.dev/internal/usage"
	"countersign.dev/web"
)

// gatewayOptions are what a gateway needs besides the platform.
type gatewayOptions struct {
	listener net.Listener
	url      string        // public address
	issuers  []auth.Config // the first one signs people in
	origins  []string      // foreign origins whose pages may call
	clientID string
	secret   string   // of the client; empty for a public one
	scopes   []string // asked for at sign-in
	resource string   // sent at sign-in; empty: none
	servers  []upstream.Server
	files    connectedFiles
	models   *llm.Registry
	budget   usage.Budget
	system   string // the operator's system prompt, added to ours
	history  config.History
}

// serveGateway builds the chat host and serves it.
func (p *platform) serveGateway(o gatewayOptions) error {
	minter, err := auth.NewMinter(p.keys.signing, nil)
	if err != nil {
		return err
	}
	confirmations, err := p.confirmations(gatewayName, false)
	if err != nil {
		return err
	}
	refusals := audit.NewRefusals(p.audit, nil) // of people who have signed in: they cannot crowd out those of requests without a caller
	p.life.run("the record of refused calls", refusals.Run)
	servers, err := p.connect(o.servers, o.files, upstream.Options{
		Mint: minter.Token, Entries: state.NewEntries(p.redis), Confirm: confirmations, Audit: p.audit, Refusals: refusals, FailClosed: p.strict, Observe: p.metrics.Upstream, Limit: quota.NewToolCalls(p.quotas).Count, Log: p.log,
	})
	if err != nil {
		return err
	}
	p.metrics.WatchServers(servers)
	used := p.usage(o.budget)
	conversations, err := p.conversations(o, used, gateway.WithApproval(servers, approval.At(o.url)))
	if err != nil {
		return err
	}
	chatHost, err := p.newGateway(o, used, servers, conversations)
	if err != nil {
		return err
	}
	p.life.serve(o.listener, httpx.Behind(p.proxies, chatHost.Handler()), p.log, nil)
	p.life.onEnd(chatHost.Drain)
	p.life.onEnd(conversations.Shutdown) // before the server stops: streams end with a last event
	return nil
}

// conversations keeps conversations and runs their turns.
func (p *platform) conversations(o gatewayOptions, used *usage.Service, toolbox gateway.Servers) (*conversation.Service, error) {
	ring, err := p.keys.ring(gatewayName, "conversation")
	if err != nil {
		return nil, err
	}
	return conversation.New(conversation.Options{
		Models: o.models, Meter: used.Meter, System: o.system, Toolbox: toolbox, Redis: p.redis, Ring: ring, Audit: p.audit, Watch: p.revocations.Watch, Quotas: p.quotas, Admission: p.queue, Log: p.log,
		Limits: conversation.Limits{History: o.history.TokenBudget, Messages: o.history.MaxMessages, Retain: o.history.RetainNewest, SummariseAbove: o.history.SummariseAbove},
	})
}

// mcpEndpoint is an MCP endpoint of the gateway.
type mcpEndpoint struct {
	http.Handler
	server *mcpserver.Server
}

// Close ends its sessions.
func (e mcpEndpoint) Close() { e.server.Close() }

func (p *platform) newGateway(o gatewayOptions, used *usage.Service, servers *upstream.Upstream, conversations *conversation.Service) (*gateway.Gateway, error) {
	verifier, err := p.verifier(gatewayName, o.issuers, nil)
	if err != nil {
		return nil, err
	}
	sessions, err := p.sessions(o, verifier)
	if err != nil {
		return nil, err
	}
	jwks, err := p.keys.signing.JWKSHandler()
	if err != nil {
		return nil, err
	}
	edge := func(server string) (gateway.Endpoint, error) {
		var prompts mcpserver.Prompts
		if server == "" && o.files.file != "" {
			prompts = upstream.Texts{Upstream: servers}
		}
		made, err := mcpserver.New(approval.At(o.url).Toolbox(upstream.Catalogue{Upstream: servers, Server: server}), mcpserver.Options{
			Name: "countersign", Title: "Countersign", Version: Version(), Website: Website, Scopes: clientScopes(o.scopes),
			Instructions: "Tools over the company's data, as far as you may see it. A change answers pending_confirmation and waits for your approval.",
			Show:         approval.At(o.url).Shown(servers.Confirmation),
			Prompts:      prompts,
			Resources:    resourcesAt(server, o.servers),
			Surface:      access.SurfaceMCP, Verify: verifier.Verify, Watch: p.revocations.Watch, Resource: strings.TrimSuffix(o.url+"/mcp/"+server, "/"), AllowedOrigins: o.origins, AuthorizationServers: []string{o.issuers[0].URL}, Quotas: p.quotas, Refused: p.refused(gatewayName), Observer: p.metrics.Observer(gatewayName), Log: p.log,
		})
		if err != nil {
			return nil, err
		}
		return mcpEndpoint{made.MCP(), made}, nil
	}
	streams, err := p.keys.ring(gatewayName, "stream")
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		Connections: live.NewConnections(p.redis, streams), Tickets: &session.Tickets{Ring: streams, Keys: p.redis},
		PublicURL: o.url, Issuers: []string{o.issuers[0].URL}, Scopes: clientScopes(o.scopes), Origins: o.origins, Verify: verifier.Verify, Ready: verifier.Ready, Sessions: sessions, Revocations: p.revocations, Revocable: urlsOf(o.issuers), Audit: p.audit,
		Oversight:     oversight.New(oversight.Options{Logs: p.auditLogs, Audit: p.audit, Heads: auditHeads{p.redis}.Newest, Servers: servers, Held: upstream.Foreign{Upstream: servers}.EachHeld, Usage: used}),
		Roles:         widest(),
		Conversations: conversations, Models: o.models, Usage: used, Prompts: upstream.Texts{Upstream: servers}, Servers: servers, Confirmations: servers,
		Web: web.Files, MCP: edge, JWKS: jwks, Quotas: p.quotas, Admission: p.queue, Refused: p.refused(gatewayName), Observer: p.metrics.Observer(gatewayName), Log: p.log,
	})
}

// resourcesAt is what clients read by its address at the endpoint of a server, or at that
// of all of them. Only one of our own servers has addresses; to read one is a call of its
// tool, so that its rights hold. Those of connected servers are not offered.
func resourcesAt(server string, own []upstream.Server) mcpserver.Resources {
	for _, d := range domains() {
		here := server == "" || server == d.name
		if d.resources != nil && here && slices.ContainsFunc(own, func(s upstream.Server) bool { return s.Name == d.name }) {
			return d.resources
		}
	}
	return nil
}

// usage counts what each person uses.
func (p *platform) usage(b usage.Budget) *usage.Service {
	return usage.New(usage.Options{Store: state.NewCounters(p.redis), Budget: b, Log: p.log, Observe: func(model string, u agent.Usage) {
		p.metrics.Answer(model, u.InputTokens, u.OutputTokens, u.CachedTokens, u.Cost.Units(), u.Currency)
	}})
}

// sessions makes the service that signs people in at the issuer.
func (p *platform) sessions(o gatewayOptions, verifier *auth.Verifier) (*session.Service, error) {
	login, err := auth.NewLogin(auth.LoginConfig{
		Issuer: o.issuers[0].URL, ClientID: o.clientID, ClientSecret: o.secret, RedirectURL: o.url + "/callback",
		Scopes: o.scopes, Resource: o.resource,
	}, verifier)
	if err != nil {
		return nil, err
	}
	ring, err := p.keys.ring(gatewayName, "cookie")
	if err != nil {
		return nil, err
	}
	return session.New(session.Options{
		PublicURL: o.url, Issuer: login, Verify: verifier.VerifyBrowser, Revoke: p.revocations.RevokeToken, Ring: ring, Keys: p.redis, Audit: p.audit, Refusals: p.refusals, Log: p.log,
	})
}

// Gateway runs the chat host and gateway as a process of its own.
func Gateway(ctx context.Context, o ConfigOptions) error {
	conf, err := o.load(config.ForGateway)
	if err != nil {
		return err
	}
	if o.Getenv("GOGC") == "" { // the operator has not said how often to collect
		footprint.KeepSmall(ctx)
	}
	return o.process(ctx, gatewayName, conf, func(pl *platform) error {
		listener, err := pl.listen(ctx, conf.Listen, conf.TLS)
		if err != nil {
			return err
		}
		models, err := modelsOf(conf, pl.log)
		if err != nil {
			return err
		}
		return pl.serveGateway(gatewayOptions{
			listener: listener, url: strings.TrimSuffix(conf.PublicURL, "/"), issuers: issuersOf(conf), origins: conf.Origins,
			clientID: conf.Issuer.ClientID, secret: conf.Issuer.ClientSecret, scopes: conf.Issuer.Scopes, resource: conf.Issuer.Resource,
			servers: upstreamsOf(conf), files: connectedFilesOf(conf, o.Getenv), models: models, system: conf.SystemPrompt, budget: usage.Budget{Tokens: conf.Budgets.Tokens, Price: agent.Nanos(conf.Budgets.Price * 1e9), Currency: conf.Currency()}, history: conf.History,
		})
	})
}

// modelsOf makes the configured models.
func modelsOf(conf *config.Config, log *slog.Logger) (*llm.Registry, error) {
	options := make(map[string]llm.Options, len(conf.Models.ByName))
	for name, m := range conf.Models.ByName {
		options[name] = llm.Options{Provider: m.Provider, Timeout: m.Timeout, Budget: m.BudgetTokens, Price: priceOf(m.Price), Tools: m.Tools, Vendor: vendor.Options{
			Model: m.Model, BaseURL: m.BaseURL, APIKey: m.APIKey, KeyName: m.KeyName, MaxTokens: m.MaxTokens, Temperature: m.Temperature,
		}}
	}
	return llm.New(options, llm.Policy{Default: conf.Models.Default, Fallback: conf.Fallback, Retries: conf.Retries, Delay: conf.RetryDelay, Log: log})
}

func priceOf(p config.Price) agent.Price {
	return agent.Price{Input: p.Input, Output: p.Output, Cached: p.CachedInput(), Currency: p.Currency}
}
