package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"countersign.dev/internal/config"
	"countersign.dev/internal/connected"
	"countersign.dev/internal/dependency"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/upstream"
)

// connectedFiles are where a gateway's file of connected servers is, and what goes
// with it. Without a file it has none.
type connectedFiles struct {
	file    string
	lock    string // the accepted definitions of their tools
	seen    string // the servers of earlier starts
	timeout time.Duration
	getenv  func(string) string
}

// connectedFilesOf are those of a configuration: the lock is beside the file, fit
// for version control, and the list of servers beside the audit log.
func connectedFilesOf(conf *config.Config, getenv func(string) string) connectedFiles {
	return connectedFiles{
		file: conf.MCPFile, lock: filepath.Join(filepath.Dir(conf.MCPFile), lockName), seen: conf.Audit.Path + ".servers",
		timeout: conf.ToolTimeout, getenv: getenv,
	}
}

const lockName = "mcp.lock.json"

// open reads the files; nil: there are no connected servers.
func (c connectedFiles) open(log *slog.Logger) (*connected.Set, error) {
	if c.file == "" {
		return nil, nil
	}
	return connected.Open(connected.Options{
		File: c.file, Lock: c.lock, Seen: c.seen, Getenv: c.getenv, Log: log,
		Read: mcpfile.Options{Getenv: c.getenv, Reserved: reservedNames(), Timeout: c.timeout},
	})
}

// reservedNames are the names that no connected server may have: those of our own
// servers.
func reservedNames() []string {
	names := []string{gatewayName, "countersign", "issuer"}
	for _, d := range domains() {
		names = append(names, d.name)
	}
	return names
}

// connect makes the coordinator of our own servers and the connected ones, and
// follows changes of their files.
func (p *platform) connect(own []upstream.Server, files connectedFiles, o upstream.Options) (*upstream.Upstream, error) {
	set, err := files.open(p.log)
	if err != nil {
		return nil, err
	}
	if set == nil {
		servers := upstream.New(own, o)
		p.life.onClose("the connections to servers", func() error { servers.Close(); return nil })
		return servers, nil
	}
	set.Warn()
	o.Pins = set.Lock()
	servers := upstream.New(append(own, set.Servers()...), o)
	p.life.onClose("the connections to servers", func() error { servers.Close(); return nil })
	p.life.run("the watch of connected servers", func(ctx context.Context) { set.Watch(ctx, upstream.Foreign{Upstream: servers}) })
	return servers, nil
}

// AcceptOptions name a connected server's tool, and the files of a gateway or of a
// demo with a data folder.
type AcceptOptions struct {
	ConfigOptions
	Tool      string // server.tool, or server.* for all of its tools
	MCP, Data string // of a demo
}

// Accept accepts the definition of a connected server's tool, and prints how it
// differs from the one that was accepted before.
func Accept(ctx context.Context, o AcceptOptions) error {
	server, tool, _ := strings.Cut(o.Tool, ".")
	switch {
	case server == "" || tool == "":
		return errors.New("--accept takes server.tool, or server.* for all tools of a server")
	case o.MCP != "" && o.Data != "":
		return accept(ctx, o.ConfigOptions, demoFiles(o.MCP, o.Data, o.Getenv), o.Tool)
	case o.File == "":
		return errors.New("--accept needs --config FILE, or the --mcp FILE and --data DIR of a demo")
	}
	conf, err := o.load(config.ForChecking)
	if err != nil {
		return err
	}
	if conf.MCPFile == "" {
		return errNoMCPFile
	}
	return accept(ctx, o.ConfigOptions, connectedFilesOf(conf, o.Getenv), o.Tool)
}

func demoFiles(file, data string, getenv func(string) string) connectedFiles {
	return connectedFiles{file: file, lock: filepath.Join(data, lockName), seen: filepath.Join(data, "servers-seen.json"), getenv: getenv}
}

func accept(ctx context.Context, o ConfigOptions, files connectedFiles, tool string) error {
	set, err := files.open(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return set.Accept(ctx, tool, o.Out)
}

// connectedServers are the checks of all connected servers: each lists its tools.
func connectedServers(set *connected.Set) (all []dependency.Check) {
	for _, name := range set.Names() {
		all = append(all, dependency.Check{Name: "connected server " + name, Run: func(ctx context.Context) (string, error) { return set.Check(ctx, name) }})
	}
	return all
}

var errNoMCPFile = errors.New("the configuration names no mcp_file")
