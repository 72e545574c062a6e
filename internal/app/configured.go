package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
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
	return config.Load(o.File, o.Getenv, need)
}

// process runs a configured process until the context ends or a server of it
// stops by itself.
func (o ConfigOptions) process(ctx context.Context, conf *config.Config, start func(*platform) error) error {
	log, err := newLogger(o.Err, conf.Log.Level, conf.Log.Format)
	if err != nil {
		return err
	}
	for _, name := range conf.Overrides() {
		log.Info("taken from the environment", "variable", name)
	}
	keys, err := keysOf(conf)
	if err != nil {
		return err
	}
	life := newLifetime()
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if err := life.end(ending); err != nil {
			log.Error("ending", "error", err)
		}
	}()
	pl, err := newPlatform(ctx, life, log, keys, conf.Audit.Path, conf.Redis.URL)
	if err != nil {
		return err
	}
	if err := start(pl); err != nil {
		return err
	}
	log.Info("ready")
	return life.wait(ctx)
}

// newLogger logs to w, which must not be the standard output of a command.
func newLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", level)
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(telemetry.Handler{Handler: slog.NewJSONHandler(w, options)}), nil
	}
	return slog.New(telemetry.Handler{Handler: slog.NewTextHandler(w, options)}), nil
}

// serverOf is the configuration of one server, with its defaults.
func serverOf(conf *config.Config, d domain) config.Server {
	s := conf.Servers[d.name]
	s.Listen = cmp.Or(s.Listen, fmt.Sprintf("127.0.0.1:%d", d.port))
	return s
}

// issuersOf lists the trusted identity issuers.
func issuersOf(conf *config.Config) []auth.Config {
	var all []auth.Config
	for _, i := range conf.Issuers() {
		all = append(all, auth.Config{
			URL: i.URL, Audiences: []string{i.Audience}, UsernameClaim: i.UsernameClaim, RolesClaims: i.RolesClaims, TrustEmail: i.TrustEmail,
		})
	}
	return all
}

// keysOf parses the internal keys of the configuration.
func keysOf(conf *config.Config) (*auth.Keys, error) {
	pairs := make([]auth.KeyPair, len(conf.InternalKeys))
	for i, k := range conf.InternalKeys {
		pairs[i] = auth.KeyPair{PrivateKey: k.Key, Secret: k.Secret}
	}
	return auth.ParseKeys(pairs)
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
