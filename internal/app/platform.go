package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/tool"
)

// platform is what every process shares: keys, audit log, Redis.
type platform struct {
	life  *lifetime
	log   *slog.Logger
	keys  *auth.Keys
	audit *audit.Log
	redis *state.Redis

	confirmations *confirm.Service
}

// newPlatform opens the audit log and Redis. What it opens ends with life.
func newPlatform(ctx context.Context, life *lifetime, log *slog.Logger, keys *auth.Keys, auditPath, redisURL string) (*platform, error) {
	events, err := audit.Open(filepath.Clean(auditPath), nil)
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	life.onClose(events.Close)
	redis, err := state.Open(ctx, redisURL, nil)
	if err != nil {
		return nil, err
	}
	life.onClose(redis.Close)
	return &platform{
		life: life, log: log, keys: keys, audit: events, redis: redis,
		confirmations: confirm.NewService(state.NewConfirmations(redis), events, time.Now).Notifying(conversation.NewChanges(redis, log)),
	}, nil
}

// ring derives the sealing keys for one purpose.
func (p *platform) ring(purpose string) (*seal.Ring, error) { return p.keys.Ring(purpose) }

// domainOptions say where a domain server is served, and whose tokens it
// accepts: the gateway's internal ones, and the issuers' with the server's own
// name as audience, for clients that connect directly.
type domainOptions struct {
	listener   net.Listener
	url        string // public address
	issuers    []auth.Config
	gatewayURL string // where the gateway publishes its keys; empty: it runs in this process
}

// serveDomain opens a domain's store and serves its tools.
func (p *platform) serveDomain(ctx context.Context, d domain, db config.Database, o domainOptions) error {
	server, closeStore, err := d.store.open(ctx, db)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.onClose(closeStore)
	if warning, err := oversize(ctx, server); err != nil {
		p.log.Warn("the size of the store is not known", "server", d.name, "error", err)
	} else if warning != "" {
		p.log.Warn("the store is larger than it is meant to be", "server", d.name, "detail", warning)
	}
	edge, err := p.edge(d, server, o)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.serve(o.listener, edge.Handler(), p.log, edge.Close)
	return nil
}

// edge makes the MCP and REST server of a domain's tools.
func (p *platform) edge(d domain, server domainServer, o domainOptions) (*mcpserver.Server, error) {
	verifier, err := p.domainVerifier(d, o)
	if err != nil {
		return nil, err
	}
	cursors, err := p.ring("cursor")
	if err != nil {
		return nil, err
	}
	log := p.log.With("server", d.name)
	runner, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: d.name, Policy: d.policy, Cursors: cursors, Confirmations: p.confirmations, Receipts: server.Receipts(), Audit: p.audit, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return mcpserver.New(service{runner}, mcpserver.Options{
		Name: "countersign-" + d.name, Title: d.title, Version: Version(), Instructions: d.instructions,
		Verify: verifier.Verify, Resource: o.url + "/mcp", AuthorizationServers: urlsOf(o.issuers),
		Ready: server.Ready, Confirmations: true, Log: log,
	})
}

func (p *platform) domainVerifier(d domain, o domainOptions) (*auth.Verifier, error) {
	internal := &auth.Internal{Audience: d.name, GatewayURL: o.gatewayURL}
	if o.gatewayURL == "" {
		internal.Keys = p.keys
	}
	issuers := slices.Clone(o.issuers)
	for i := range issuers {
		issuers[i].Audiences = []string{d.name}
	}
	return newVerifier(issuers, internal, p.log)
}

// newVerifier verifies tokens of the issuers and, unless internal is nil, of the
// gateway. Every command makes its verifiers here.
func newVerifier(issuers []auth.Config, internal *auth.Internal, log *slog.Logger) (*auth.Verifier, error) {
	return auth.NewVerifier(issuers, &auth.Options{Internal: internal, Log: log})
}

func urlsOf(issuers []auth.Config) []string {
	urls := make([]string, len(issuers))
	for i, issuer := range issuers {
		urls[i] = issuer.URL
	}
	return urls
}

// service adapts a runner to the MCP edge.
type service struct{ *tool.Runner }

// Tools lists what the principal in the context may call.
func (s service) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	return s.Visible(who), nil
}
