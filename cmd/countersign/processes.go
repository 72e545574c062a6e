package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"countersign.dev/internal/app"
	"countersign.dev/internal/client"
	"countersign.dev/internal/local"
)

func (p program) demoOptions() app.DemoOptions {
	return app.DemoOptions{LogLevel: p.getenv("LOG_LEVEL"), PostgresBin: p.getenv("COUNTERSIGN_POSTGRES_BIN"), Getenv: p.getenv, Out: p.out, Err: p.err}
}

// demo starts everything on this machine.
func demo(ctx context.Context, p program, c command) error {
	o := p.demoOptions()
	folder, err := os.Getwd() // not PWD, which can be anything
	if err != nil {
		return fmt.Errorf("the working folder: %w", err)
	}
	o.Folder = folder
	err = c.parseNone(p, func(fs *flag.FlagSet) {
		fs.IntVar(&o.Port, "port", app.DefaultPort, "`port` of the gateway; the servers follow it, the issuer is at port+80; 0: free ports")
		fs.StringVar(&o.Data, "data", "", "`folder` to keep and reuse; default: a fresh one, gone at the end")
		fs.StringVar(&o.Postgres, "postgres", "", "administrator's `URL` of a PostgreSQL to use instead of a private one")
		fs.StringVar(&o.Model, "model", "", "`name` of the model, or rehearsal; default: by the keys in the environment or a model on this machine, else rehearsal")
		fs.StringVar(&o.MCP, "mcp", "", "`file` of other MCP servers to connect (mcp.json)")
		fs.BoolVar(&o.JSON, "json", false, "print one line of JSON when everything answers")
	})
	if err != nil {
		return err
	}
	if o.Port < 0 || o.Port > app.HighestPort {
		return misused(fmt.Sprintf("--port is 0, for free ports, or at most %d", app.HighestPort))
	}
	return app.Demo(ctx, o)
}

// configured is a command that takes a configuration file and nothing else.
func configured(start func(context.Context, app.ConfigOptions) error) func(context.Context, program, command) error {
	return func(ctx context.Context, p program, c command) error {
		o := p.configOptions()
		if err := c.parseNone(p, defineConfig(&o)); err != nil {
			return err
		}
		return withFile(o, func() error { return start(ctx, o) })
	}
}

func (p program) configOptions() app.ConfigOptions {
	return app.ConfigOptions{Getenv: p.getenv, Out: p.out, Err: p.err}
}

func defineConfig(o *app.ConfigOptions) func(*flag.FlagSet) {
	return func(fs *flag.FlagSet) { fs.StringVar(&o.File, "config", "", "configuration `file`") }
}

// withFile starts what needs a configuration file.
func withFile(o app.ConfigOptions, start func() error) error {
	if o.File == "" {
		return misused("--config FILE is required")
	}
	return start()
}

func serve(ctx context.Context, p program, c command) error {
	o, stdio, folder := app.ServeOptions{ConfigOptions: p.configOptions()}, false, ""
	names, err := c.parse(p, func(fs *flag.FlagSet) {
		defineConfig(&o.ConfigOptions)(fs)
		fs.BoolVar(&stdio, "stdio", false, "serve one server to the client at standard input and output, as the person of COUNTERSIGN_TOKEN or the configuration's issuer.local_user")
		fs.StringVar(&folder, "local", "", "with --stdio: serve this `folder` alone, without configuration, as the user who runs it")
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return misused("name at least one server, such as hr")
	}
	if i := slices.IndexFunc(names, app.Unknown); i >= 0 {
		return misused(fmt.Sprintf("there is no server %q", names[i]))
	}
	switch {
	case stdio && len(names) > 1:
		return misused("--stdio takes one server")
	case stdio && folder != "":
		return local.Serve(ctx, local.Options{Server: names[0], Folder: folder, Version: app.Version(), Website: app.Website, In: p.in, Out: p.out, Err: p.err})
	case folder != "":
		return misused("--local needs --stdio")
	case stdio && o.File == "":
		return misused("--stdio needs --config FILE, or --local DIR for tasks and codesearch")
	}
	o.Servers = names
	if stdio {
		o.Stdio = &app.Stdio{Token: p.getenv("COUNTERSIGN_TOKEN"), In: p.in, Out: p.out}
	}
	return withFile(o.ConfigOptions, func() error { return app.Serve(ctx, o) })
}

// approve answers what waits at a local server, or lists all of it when nothing is
// named. It answers nothing without a terminal, which an agent does not have.
func approve(ctx context.Context, p program, c command) error {
	o := local.ApproveOptions{In: p.in, Out: p.out}
	operands, err := c.parse(p, func(fs *flag.FlagSet) { fs.StringVar(&o.Folder, "local", "", "`folder` that is served") })
	switch {
	case err != nil:
		return err
	case len(operands) > 1 || o.Folder == "":
		return misused("name the folder that is served with --local, and one change that waits, or none to list them")
	case len(operands) == 0:
		return local.List(ctx, o.Folder, p.out)
	case !client.IsTerminal(p.in) || !client.IsTerminal(p.out):
		return errors.New("approving needs a terminal: a person must see what waits")
	}
	o.ID = operands[0]
	return local.Approve(ctx, o)
}

func seed(ctx context.Context, p program, c command) error {
	o := app.SeedOptions{ConfigOptions: p.configOptions()}
	err := c.parseNone(p, func(fs *flag.FlagSet) {
		defineConfig(&o.ConfigOptions)(fs)
		fs.Float64Var(&o.Scale, "scale", 0, "fill with a company of this `size` instead; 1: 200,000 employees, 1 M invoices, deals and tickets")
	})
	if err != nil {
		return err
	}
	if o.Scale < 0 || o.Scale > app.MaxScale {
		return misused(fmt.Sprintf("--scale is between 0 and %d", app.MaxScale))
	}
	return withFile(o.ConfigOptions, func() error { return app.Seed(ctx, o) })
}

// indexCode builds or refreshes indexes of repositories.
func indexCode(ctx context.Context, p program, c command) (err error) {
	o := app.IndexOptions{ConfigOptions: p.configOptions(), Beside: local.IndexFolder}
	o.Folders, err = c.parse(p, func(fs *flag.FlagSet) {
		defineConfig(&o.ConfigOptions)(fs)
		fs.StringVar(&o.Index, "index", "", "`folder` of the indexes; default: codesearch.index of the configuration, else .countersign/code in each DIR")
		fs.BoolVar(&o.Watch, "watch", false, "go on, and update the indexes when files change")
	})
	if err != nil {
		return err
	}
	if len(o.Folders) == 0 && o.File == "" {
		return misused("name at least one folder, or a configuration with codesearch.repositories")
	}
	return app.Index(ctx, o)
}
