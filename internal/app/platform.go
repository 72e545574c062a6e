package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/metrics"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/state"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/tool"
)

// platform is what the parts of one process share: audit log, Redis, and the
// keys, of which each part uses its own.
type platform struct {
	life      *lifetime
	log       *slog.Logger
	keys      processKeys
	audit     *audit.Log
	auditPath string
	strict    bool // answers that cannot be recorded are withheld
	redis     *state.Redis
	quotas    *quota.Quotas
	queue     *admission.Queue
	metrics   *metrics.Metrics

	revocations *revocation.List
	refusals    *audit.Refusals
	proxies     []netip.Prefix
}

// platformOptions are what a process shares.
type platformOptions struct {
	name   string // whose sealing secret signs the audit log: the gateway's or a server's
	audit  config.Audit
	redis  string // URL
	limits quota.Limits

	proxies []netip.Prefix // in front, which say where requests come from
}

// newPlatform opens the audit log and Redis. What it opens ends with life.
func newPlatform(ctx context.Context, life *lifetime, log *slog.Logger, keys processKeys, o platformOptions) (*platform, error) {
	events, err := openAudit(life, keys, o)
	if err != nil {
		return nil, err
	}
	redis, err := state.Open(ctx, o.redis, nil)
	if err != nil {
		return nil, err
	}
	life.onClose(redis.Close)
	refusals := audit.NewRefusals(events, nil)
	revocations := revocation.New(state.NewList(redis, revocation.Name, revocation.Life), &revocation.Options{Log: log, Restored: restored(refusals, log)})
	if err := revocations.Refresh(ctx); err != nil {
		return nil, err
	}
	life.run(revocations.Run)
	life.run(audit.NewAnchors(events, auditHeads{redis}, log).Run)
	life.run(refusals.Run)
	counts := metrics.New()
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Limits: o.limits, Log: log, Refused: func(k quota.Kind) { counts.Refusal(string(k)) }})
	life.onClose(func() error { quotas.Close(); return nil })
	watchPlaces(counts, quotas)
	return &platform{
		life: life, log: log, keys: keys, audit: events, auditPath: filepath.Clean(o.audit.Path), strict: o.audit.FailClosedReads, refusals: refusals,
		redis: redis, quotas: quotas, queue: admission.New(admission.Options{Refused: func() { counts.Refusal("share") }}), revocations: revocations, metrics: counts, proxies: o.proxies,
	}, nil
}

// confirmations makes the service of the confirmations that one server owns. No
// other server's secrets open their records.
func (p *platform) confirmations(server string) (*confirm.Service, error) {
	ring, err := p.keys.ring(server, "record")
	if err != nil {
		return nil, err
	}
	service := confirm.NewService(state.NewConfirmations(p.redis, ring), p.audit, time.Now)
	return service.Notifying(conversation.NewChanges(p.redis, p.log)).Observing(p.metrics.Confirmation).Bounded(p.quotas), nil
}

// watchPlaces reports the places that people hold in this process.
func watchPlaces(m *metrics.Metrics, q *quota.Quotas) {
	m.WatchPlaces(string(quota.Streams), "Open event streams.", func() int { return q.Held(quota.Streams) })
	m.WatchPlaces(string(quota.Sessions), "MCP sessions of the handshake revisions.", func() int { return q.Held(quota.Sessions) })
	m.WatchPlaces(string(quota.Turns), "Questions that are being answered.", func() int { return q.Held(quota.Turns) })
}

// domainOptions say where a domain server is served, and whose tokens it
// accepts: the gateway's internal ones, and the issuers' with the server's own
// name as audience, for clients that connect directly.
type domainOptions struct {
	listener   net.Listener
	url        string   // public address; empty: it has none, over standard streams
	hosts      []string // other names that it is reached under
	origins    []string // foreign origins whose pages may call
	scopes     []string // asked for at sign-in
	issuers    []auth.Config
	gatewayURL string // where the gateway publishes its keys; empty: it runs in this process
	approvals  string // public address of the gateway, whose page answers confirmations
	direct     bool   // answers to confirmations are taken from people's own tokens too
}

// resource is the public address of the MCP endpoint.
func (o domainOptions) resource() string {
	if o.url == "" {
		return ""
	}
	return o.url + "/mcp"
}

// openDomain opens a domain's store and makes the edge of its tools.
func (p *platform) openDomain(ctx context.Context, d domain, db config.Database, o domainOptions) (storage.Server, *mcpserver.Server, error) {
	server, closeStore, err := d.store.Open(ctx, db, p.links(d))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.onClose(closeStore)
	p.endAccounts(d, server)
	if warning, err := storage.Oversize(ctx, server); err != nil {
		p.log.Warn("the size of the store is not known", "server", d.name, "error", err)
	} else if warning != "" {
		p.log.Warn("the store is larger than it is meant to be", "server", d.name, "detail", warning)
	}
	edge, err := p.edge(d, server, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.name, err)
	}
	return server, edge, nil
}

// serveDomain opens a domain's store and serves its tools.
func (p *platform) serveDomain(ctx context.Context, d domain, db config.Database, o domainOptions) error {
	server, edge, err := p.openDomain(ctx, d, db, o)
	if err != nil {
		return err
	}
	handler, err := p.surface(d, server, edge, o)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	p.life.serve(o.listener, httpx.Behind(p.proxies, handler), p.log, edge.Close)
	return nil
}

// edge makes the MCP and REST server of a domain's tools.
func (p *platform) edge(d domain, server storage.Server, o domainOptions) (*mcpserver.Server, error) {
	verifier, err := p.domainVerifier(d, o)
	if err != nil {
		return nil, err
	}
	cursors, err := p.keys.ring(d.name, "cursor")
	if err != nil {
		return nil, err
	}
	confirmations, err := p.confirmations(d.name)
	if err != nil {
		return nil, err
	}
	log := p.log.With("server", d.name)
	if !o.direct {
		confirmations = confirmations.ThroughGateway()
	}
	tools, err := mounted(d, server, tool.Options{
		Server: d.name, Codes: d.codes, Policy: d.policy, Cursors: cursors, Confirmations: confirmations, Receipts: server.Receipts(), Audit: p.audit, FailClosed: p.strict, Observe: p.metrics.Calls(d.name), Log: log,
	})
	if err != nil {
		return nil, err
	}
	page := approval.At(o.approvals)
	return mcpserver.New(page.Toolbox(tools), mcpserver.Options{
		Name: "countersign-" + d.name, Title: "Countersign: " + d.title, Version: Version(), Website: website, Instructions: d.instructions, Scopes: clientScopes(o.scopes),
		Verify: verifier.Verify, Watch: p.revocations.Watch, Resource: o.resource(), AuthorizationServers: urlsOf(o.issuers), AllowedHosts: o.hosts, AllowedOrigins: o.origins,
		Ready: server.Ready, Confirmations: tools, Show: page.Shown(tools.Confirmation), Quotas: p.quotas, Admission: p.queue, Refused: p.refused(d.name), Observer: p.metrics.Surface(d.name), Log: log,
	})
}

func (p *platform) domainVerifier(d domain, o domainOptions) (*auth.Verifier, error) {
	internal := &auth.Internal{Audience: d.name, GatewayURL: o.gatewayURL}
	if o.gatewayURL == "" {
		internal.Keys = p.keys.signing
	}
	return p.verifier(d.name, audience(o.issuers, d.name), internal)
}

// verifier verifies tokens of the issuers and, unless internal is nil, of the
// gateway, for one server.
func (p *platform) verifier(server string, issuers []auth.Config, internal *auth.Internal) (*auth.Verifier, error) {
	return newVerifier(issuers, &auth.Options{Internal: internal, Revoked: p.revocations.Check, Dropped: p.dropped(server), Log: p.log})
}

// newVerifier makes the verifiers of every command, so that check rejects what
// another command would.
func newVerifier(issuers []auth.Config, o *auth.Options) (*auth.Verifier, error) {
	return auth.NewVerifier(issuers, o)
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
