package app

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/metrics"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/state"
)

// platform is what the parts of one process share: audit log, Redis, and the
// keys, of which each part uses its own.
type platform struct {
	life      *lifetime
	log       *slog.Logger
	keys      processKeys
	audit     *audit.Log
	auditLogs []string // paths: its own first
	strict    bool     // answers that cannot be recorded are withheld
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

	patience time.Duration // with Redis; 0: the defaults of state and quota

	proxies []netip.Prefix // in front, which say where requests come from
}

// newPlatform opens the audit log and Redis. What it opens ends with life.
func newPlatform(ctx context.Context, life *lifetime, log *slog.Logger, keys processKeys, o platformOptions) (*platform, error) {
	events, err := openAudit(life, keys, o.name, o.audit)
	if err != nil {
		return nil, err
	}
	redis, err := state.Open(ctx, o.redis, &state.Options{Timeout: o.patience})
	if err != nil {
		return nil, err
	}
	life.onClose("the connection to Redis", redis.Close)
	refusals := audit.NewRefusals(events, nil)
	revocations := revocation.New(state.NewList(redis, revocation.Name, revocation.Life), &revocation.Options{Log: log, Restored: restored(refusals, log)})
	if err := revocations.Refresh(ctx); err != nil {
		return nil, err
	}
	life.run("the revocation list", revocations.Run)
	life.run("the exchange of audit heads", audit.NewAnchors(events, auditHeads{redis}, log).Run)
	life.run("the record of refusals", refusals.Run)
	counts := metrics.New()
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Limits: o.limits, Timeout: o.patience, Log: log, Refused: func(k quota.Kind) { counts.Refusal(string(k)) }})
	life.onClose("the quotas", func() error { quotas.Close(); return nil })
	watchSlots(counts, quotas)
	return &platform{
		life: life, log: log, keys: keys, audit: events, auditLogs: o.audit.Logs(), strict: o.audit.FailClosedReads, refusals: refusals,
		redis: redis, quotas: quotas, queue: admission.New(admission.Options{Refused: counts.Refusal}), revocations: revocations, metrics: counts, proxies: o.proxies,
	}, nil
}

// confirmations makes the service of the confirmations that one server owns. No
// other server's secrets open their records. A server that people do not call directly
// takes their answers through the gateway.
func (p *platform) confirmations(server string, throughGateway bool) (*confirm.Service, error) {
	ring, err := p.keys.ring(server, "record")
	if err != nil {
		return nil, err
	}
	return confirm.NewService(state.NewConfirmations(p.redis, ring), p.audit, &confirm.Options{
		Notifier: conversation.NewChanges(p.redis, p.log), Observe: p.metrics.Confirmation, Quotas: p.quotas, ThroughGateway: throughGateway,
	}), nil
}

// watchSlots reports the slots that people hold in this process.
func watchSlots(m *metrics.Metrics, q *quota.Quotas) {
	m.WatchSlots(string(quota.Streams), "Open event streams.", func() int { return q.Held(quota.Streams) })
	m.WatchSlots(string(quota.Sessions), "MCP sessions of the handshake revisions.", func() int { return q.Held(quota.Sessions) })
	m.WatchSlots(string(quota.Turns), "Questions that are being answered.", func() int { return q.Held(quota.Turns) })
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

// audience sets the audience of the issuers that have none.
func audience(issuers []auth.Config, name string) []auth.Config {
	issuers = slices.Clone(issuers)
	for i := range issuers {
		if len(issuers[i].Audiences) == 0 {
			issuers[i].Audiences = []string{name}
		}
	}
	return issuers
}
