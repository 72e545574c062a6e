package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/endpoint"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/tool"
)

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
	p.life.onClose("the store of "+d.name, closeStore)
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
	handler, err := p.handler(d, server, edge, o)
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
	confirmations, err := p.confirmations(d.name, !o.direct)
	if err != nil {
		return nil, err
	}
	log := p.log.With("server", d.name)
	tools, err := mounted(d, server, tool.Options{
		Server: d.name, Codes: d.codes, Policy: d.policy, Cursors: cursors, Confirmations: confirmations, Receipts: server.Receipts(), Audit: p.audit, FailClosed: p.strict, Observe: p.metrics.Calls(d.name), Log: log,
	})
	if err != nil {
		return nil, err
	}
	page := approval.At(o.approvals)
	return mcpserver.New(page.Toolbox(tools), mcpserver.Options{
		Name: "countersign-" + d.name, Title: "Countersign: " + d.title, Version: Version(), Website: Website, Instructions: d.instructions, Scopes: clientScopes(o.scopes),
		Verify: verifier.Verify, Watch: p.revocations.Watch, Resource: o.resource(), AuthorizationServers: urlsOf(o.issuers), AllowedHosts: o.hosts, AllowedOrigins: o.origins,
		Resources: d.resources, Ready: p.ready(server), Confirmations: tools, Show: page.Shown(tools.Confirmation), Quotas: p.quotas, Admission: p.queue, Refused: p.refused(d.name), Observer: p.metrics.Observer(d.name), Log: log,
	})
}

// ready is whether a server's calls can be answered: its data can be read, and callers can
// be checked. The gateway's calls need no issuer: while it is away, a server that restarts must serve them.
func (p *platform) ready(server storage.Server) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := p.revocations.Ready(); err != nil {
			return err
		}
		return server.Ready(ctx)
	}
}

func (p *platform) domainVerifier(d domain, o domainOptions) (*auth.Verifier, error) {
	internal := &auth.Internal{Audience: d.name, GatewayURL: o.gatewayURL}
	if o.gatewayURL == "" {
		internal.Keys = p.keys.signing
	}
	return p.verifier(d.name, audience(o.issuers, d.name), internal)
}

// clientScopes are the scopes of our own sign-in that MCP clients ask an issuer
// for, too. Answering confirmations is no right of theirs, and whether they need
// tokens that outlive a session is theirs to say.
func clientScopes(signIn []string) []string {
	return slices.DeleteFunc(slices.Clone(signIn), func(scope string) bool {
		return scope == auth.ScopeConfirm || scope == auth.ScopeOffline
	})
}

// toolbox is the tools of a domain, and the changes that wait there.
type toolbox interface {
	rest.Toolbox
	rest.Confirmations
}

// mounted runs the tools of a domain. One with a dialect of its own answers the
// gateway in envelopes all the same.
func mounted(d domain, server storage.Server, o tool.Options) (toolbox, error) {
	if s, ok := server.(interface {
		Invalid(context.Context, map[string]any, []tool.Violation) error
	}); ok {
		o.Invalid = s.Invalid
	}
	runner, err := tool.NewRunner(server.Tools(), o)
	if err != nil || d.dialect == nil {
		return service{runner}, err
	}
	o.Dialect = d.dialect
	own, err := tool.NewRunner(server.Tools(), o)
	if err != nil {
		return nil, err
	}
	return dialect.NewToolbox(runner, own, "workspace_path"), nil
}

// handler is that of a domain server: the MCP and REST edge, beside what
// the domain serves by itself.
func (p *platform) handler(d domain, server storage.Server, edge *mcpserver.Server, o domainOptions) (http.Handler, error) {
	s, ok := server.(*codesearch.Server)
	if !ok {
		return edge.Handler(), nil
	}
	log := p.log.With("server", d.name)
	p.life.run("the work of "+d.name, func(ctx context.Context) { s.Run(ctx, log) })
	verifier, err := p.domainVerifier(d, o)
	if err != nil {
		return nil, err
	}
	metadata, err := gate.MetadataURL(o.url + "/mcp")
	if err != nil {
		return nil, fmt.Errorf("the address of the metadata: %w", err)
	}
	origins := httpx.NewOriginPolicy(o.url)
	origins.Hosts, origins.AnyOrigin = append(origins.Hosts, o.hosts...), true
	local := o.local()
	options := gate.Options{Verify: verifier.Verify, Origins: origins, Metadata: metadata, Scopes: clientScopes(o.scopes), Quotas: p.quotas, Refused: p.refused(d.name)}
	if local {
		options.Anonymous = programs
	}
	own := p.queue.Bracket(s.Endpoint(endpoint.Options{
		Enter: gate.New(options).EnterReading, CheckHost: origins.CheckHost, Loopback: local, Observer: p.metrics.Observer(d.name), Log: log,
	}))
	return endpoint.Over(own, edge.Handler()), nil
}

// local reports whether this machine alone reaches the server: it listens on loopback, and its public address is there,
// too, so that it is no proxy's.
func (o domainOptions) local() bool {
	public, err := url.Parse(o.url)
	return err == nil && config.Loopback(public.Host) && config.Loopback(o.listener.Addr().String())
}

// programs is whose share programs of this machine use that search without a
// token: all of them together are one, and all pages another. What a proxy on this
// machine passes on is from elsewhere.
func programs(r *http.Request) (o access.Owner, ok bool) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() || slices.ContainsFunc(forwardedBy, func(name string) bool { return r.Header.Get(name) != "" }) {
		return access.Owner{}, false
	}
	if r.Header.Get("Origin") != "" {
		return access.Owner{Subject: "pages"}, true
	}
	return access.Owner{Subject: "programs"}, true
}

// forwardedBy are the headers by which proxies say that they pass a request on (RFC 7239, RFC 9110).
var forwardedBy = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host", "Via"}

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

// links links the callers of a domain's store, and records when someone's
// address belongs to another person.
func (p *platform) links(d domain) *access.Links {
	return &access.Links{Taken: func(ctx context.Context) {
		p.log.WarnContext(ctx, "a caller's address is linked to another person", "server", d.name)
		err := p.audit.Append(ctx, audit.Event{
			Kind: audit.Denial, Server: d.name, Step: audit.AddressTaken, Outcome: fault.Unproven.Name,
			Note: "the caller's verified address is linked to another person, so it does not tell who they are",
		})
		if err != nil {
			p.log.ErrorContext(ctx, "audit could not be written", "error", err)
		}
	}}
}

// endEvery is how often the accounts of all who have left are ended again: it
// makes up for a crash after a deletion and for a Redis that lost the list.
const endEvery = 30 * time.Second

// endAccounts makes a domain that knows whose employment has ended end their
// accounts: after each deletion, now, and from time to time.
func (p *platform) endAccounts(d domain, server storage.Server) {
	e, ok := server.(employer)
	if !ok {
		return
	}
	log := p.log.With("server", d.name)
	endAll := e.EndAccounts(p.revocations.End, log)
	p.life.run("the announcement of ended accounts", func(ctx context.Context) {
		ctx = access.With(ctx, auth.Server(d.name))
		tick := time.NewTicker(endEvery)
		defer tick.Stop()
		for {
			if err := endAll(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "the accounts of those who left could not be ended", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}
