package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/footprint"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream"
)

// ConfigOptions are what every command with a configuration file is given.
type ConfigOptions struct {
	File   string
	Getenv func(string) string // values of ${NAME} and of the documented variables
	Out    io.Writer           // results only
	Err    io.Writer           // logs
}

func (o ConfigOptions) load(need func(*config.Config) []string) (*config.Config, error) {
	return config.Load(o.File, o.Getenv, func(c *config.Config) []string {
		return slices.Concat(need(c), c.UnknownNames(domainNames()), c.Tasks.RolesAmongPeople(isRole))
	})
}

// process runs a configured process, of that name, until the context ends or a server of it
// stops by itself.
func (o ConfigOptions) process(ctx context.Context, name string, conf *config.Config, start func(*platform) error) error {
	log, flush, err := newLogger(o.Err, conf.Log.Level, conf.Log.Format)
	if err != nil {
		return err
	}
	defer flush()
	for _, name := range conf.Overrides() {
		log.Info("taken from the environment", "variable", name)
	}
	logWeakened(log, conf.Weakened())
	if warning := conf.UnknownCallers(); warning != "" {
		log.Warn(warning)
	}
	keys, err := keysOf(conf)
	if err != nil {
		return err
	}
	life := newLifetime()
	life.hangups(log, conf.MCPFile != "")
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if err := life.end(ending); err != nil {
			log.Error("ending", "error", err)
		}
	}()
	pl, err := newPlatform(ctx, life, log, keys, platformOptions{
		name: name, audit: conf.Audit, redis: conf.Redis.URL, limits: quota.Limits(conf.Limits), proxies: conf.ProxyAddresses(),
	})
	if err != nil {
		return forOperator(err)
	}
	if err := start(pl); err != nil {
		return forOperator(err)
	}
	if err := pl.serveMetrics(ctx, conf); err != nil {
		return err
	}
	log.Info("ready")
	footprint.Trim()
	life.run("the watch of memory", footprint.Watch)
	return life.wait(ctx)
}

// forOperator words why a process does not start: its cause is for who starts it.
func forOperator(err error) error { return errors.New(fault.Operator(err)) }

func logWeakened(log *slog.Logger, settings []string) {
	for _, setting := range settings {
		log.Warn("a setting weakens a check", "setting", setting)
	}
}

// serveMetrics serves Prometheus' metrics on an address of their own, when one is
// configured.
func (p *platform) serveMetrics(ctx context.Context, conf *config.Config) error {
	if conf.Metrics.Listen == "" {
		return nil
	}
	listener, err := p.listen(ctx, conf.Metrics.Listen, conf.TLS)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.metrics.Handler())
	p.life.serve(listener, mux, p.log, nil)
	return nil
}

// newLogger logs to w, which must not be the standard output of a command. flush
// writes what waits, at the end.
func newLogger(w io.Writer, level, format string) (log *slog.Logger, flush func(), err error) {
	l, err := telemetry.ParseLevel(level)
	if err != nil {
		return nil, nil, err
	}
	out := telemetry.NewOutput(w)
	options := &slog.HandlerOptions{Level: l, ReplaceAttr: telemetry.NameLevels}
	inner := slog.Handler(slog.NewTextHandler(out, options))
	if format == "json" {
		inner = slog.NewJSONHandler(out, options)
	}
	return slog.New(telemetry.Handler{Handler: inner, Output: out}), func() { _ = out.Flush() }, nil
}

// listen listens on an address, with TLS when a certificate is configured.
func (p *platform) listen(ctx context.Context, addr string, t config.TLS) (net.Listener, error) {
	if !t.Serves() {
		return httpx.Listen(ctx, addr)
	}
	certificate, err := httpx.LoadCertificate(t.Cert, t.Key, p.log)
	if err != nil {
		return nil, err
	}
	listener, err := httpx.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	return certificate.Listener(listener), nil
}

// serverOf is the configuration of one server, with its defaults.
func serverOf(conf *config.Config, d domain) config.Server {
	s := conf.Servers[d.name]
	s.TLS = cmp.Or(s.TLS, conf.TLS)
	s.Listen = cmp.Or(s.Listen, fmt.Sprintf("127.0.0.1:%d", d.port))
	return s
}

// issuersOf lists the trusted identity issuers.
func issuersOf(conf *config.Config) []auth.Config {
	var all []auth.Config
	for at, i := range conf.Issuers() {
		var authority *auth.Authority // of the first: everything
		if at > 0 {
			more := conf.Issuer.Additional[at-1]
			authority = &auth.Authority{EmailDomains: more.EmailDomains, Roles: more.RolesAllowed}
		}
		all = append(all, auth.Config{
			Authority: authority,
			URL:       i.URL, UsernameClaim: i.UsernameClaim, RolesClaims: i.RolesClaims, TrustEmail: i.TrustEmail,
			ConfirmClients: i.ConfirmClients, ConfirmWithoutScope: i.ConfirmWithoutScope,
		})
		if i.Audience != "" {
			all[at].Audiences = []string{i.Audience}
		}
	}
	return all
}

// upstreamsOf lists the servers that the gateway connects to, in the order of
// the list of domains.
func upstreamsOf(conf *config.Config) []upstream.Server {
	var servers []upstream.Server
	for _, d := range domains() {
		if s, ok := conf.Servers[d.name]; ok {
			servers = append(servers, upstream.Server{Name: d.name, URL: s.URL, Timeout: s.Timeout, WriteTimeout: s.WriteTimeout})
		}
	}
	return servers
}
