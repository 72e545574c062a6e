package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/tool"
)

// platform is what every process of ours stands on.
type platform struct {
	life  *lifetime
	log   *slog.Logger
	keys  *auth.Keys
	audit *audit.Log
	redis *state.Redis
	desk  *confirm.Desk
}

// newPlatform opens the audit log and Redis. What it opens ends with life.
func newPlatform(ctx context.Context, life *lifetime, log *slog.Logger, keys *auth.Keys, auditPath, redisURL string) (*platform, error) {
	journal, err := audit.Open(filepath.Clean(auditPath), nil)
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	life.closing(journal.Close)
	redis, err := state.Open(ctx, redisURL, nil)
	if err != nil {
		return nil, err
	}
	life.closing(redis.Close)
	return &platform{
		life: life, log: log, keys: keys, audit: journal, redis: redis,
		desk: confirm.NewDesk(state.NewConfirmations(redis), journal, time.Now),
	}, nil
}

// ring derives the sealing keys for one purpose.
func (p *platform) ring(purpose string) (*seal.Ring, error) { return p.keys.Ring(purpose) }

// place is where a domain server is served, and whose tokens it believes.
type place struct {
	listener net.Listener
	url      string // public address
	verify   func(context.Context, string) (*access.Principal, error)
	issuers  []string
}

// serveDomain opens a domain's store and serves its tools.
func (p *platform) serveDomain(ctx context.Context, d domain, db config.Database, at place) error {
	server, closeStore, err := d.store.open(ctx, db)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.closing(closeStore)
	cursors, err := p.ring("cursor")
	if err != nil {
		return err
	}
	runner, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: d.name, Cursors: cursors, Desk: p.desk, Receipts: server.Receipts(), Audit: p.audit, Log: p.log.With("server", d.name),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	edge, err := mcpserver.New(service{runner}, mcpserver.Options{
		Name: "countersign-" + d.name, Title: d.title, Version: Version(), Instructions: d.instructions,
		Verify: at.verify, Resource: at.url + "/mcp", AuthorizationServers: at.issuers,
		Ready: server.Ready, Confirmations: true, Log: p.log.With("server", d.name),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.serve(at.listener, edge.Handler(), p.log, edge.Close)
	return nil
}

// service is a runner as the MCP edge mounts it.
type service struct{ *tool.Runner }

// Tools lists what the principal in the context may call.
func (s service) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	return s.Visible(who), nil
}
