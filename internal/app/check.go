package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/config"
	"countersign.dev/internal/dependency"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/storage"
)

// Check tests every dependency that the configuration names and prints one line
// for each. It changes nothing and takes no lock that a running process holds.
func Check(ctx context.Context, o ConfigOptions) error {
	conf, err := o.load(config.ForChecking)
	if err != nil {
		return err
	}
	if _, err := keysOf(conf); err != nil {
		return err
	}
	if _, err := newVerifier(audience(issuersOf(conf), "checked"), nil); err != nil {
		return err
	}
	servers, err := connectedFilesOf(conf, o.Getenv).open(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	fmt.Fprintln(o.Out, "the configuration is valid")
	weakened, all := conf.Weakened(), dependencies(conf)
	if servers != nil {
		weakened, all = append(weakened, servers.Weakened()...), append(all, connectedServers(servers)...)
	}
	for _, setting := range weakened {
		fmt.Fprintln(o.Out, "it weakens a check: "+setting)
	}
	if !dependency.Print(ctx, o.Out, all) {
		return errors.New("not everything can be used")
	}
	return nil
}

// dependencies lists those that the configuration names.
func dependencies(c *config.Config) []dependency.Check {
	client := dependency.Client()
	all := []dependency.Check{
		{Name: "audit log", Run: func(context.Context) (string, error) { return auditState(c) }},
		{Name: "redis", Run: func(ctx context.Context) (string, error) { return dependency.Redis(ctx, c.Redis.URL) }},
	}
	for _, path := range c.Audit.Others {
		all = append(all, dependency.Check{Name: "audit log " + path, Run: func(context.Context) (string, error) { return auditReadable(path) }})
	}
	all = append(all, certificates(c)...)
	for _, url := range urlsOf(issuersOf(c)) {
		all = append(all, dependency.Check{Name: "issuer " + url, Run: func(ctx context.Context) (string, error) { return dependency.Issuer(ctx, client, url) }})
	}
	if name := c.Issuer.LocalUser; name != "" {
		all = append(all, dependency.Check{Name: "local user " + name, Run: func(ctx context.Context) (string, error) { return localUser(ctx, c) }})
	}
	if url := cmp.Or(c.Gateway.URL, c.PublicURL); url != "" {
		all = append(all, dependency.Check{Name: "gateway", Run: dependency.Process(client, url, "/readyz", "countersign gateway")})
	}
	if e := c.CodeSearch.Embeddings; e.BaseURL != "" {
		all = append(all, dependency.Check{Name: "embeddings", Run: func(ctx context.Context) (string, error) { return storage.Embeddings(ctx, e) }})
	}
	for _, d := range domains() {
		if url := c.Servers[d.name].URL; url != "" {
			all = append(all, dependency.Check{Name: "server " + d.name, Run: dependency.Process(client, url, "/ready", "countersign serve "+d.name)})
		}
		if db, configured := c.Databases[d.name]; configured {
			all = append(all, dependency.Check{Name: "data of " + d.name, Run: func(ctx context.Context) (string, error) { return d.store.Check(ctx, db) }})
		}
	}
	return all
}

// localUser proves that the issuer knows the local user.
func localUser(ctx context.Context, c *config.Config) (string, error) {
	user, err := issuer.NewSession(c.Issuer.URL, c.Issuer.LocalUser, cmp.Or(c.Issuer.Audience, "checked"), nil)
	if err == nil {
		_, err = user.Token(ctx)
	}
	return "has a token of the issuer", err
}

// auditState checks that the log can be written, and names the public keys that
// verify it.
func auditState(c *config.Config) (string, error) {
	said, err := auditWritable(c.Audit.Path)
	if err != nil {
		return "", err
	}
	keys, err := keysOf(c)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(keys.sealing)) {
		signer, err := keys.signer(name)
		if err != nil {
			return "", err
		}
		said += fmt.Sprintf("; %s signs it with the key %s", name, signer.PublicKey())
	}
	return said, nil
}

// auditWritable checks that a process may write the log and its head. It takes
// no lock, because a running process holds it.
func auditWritable(path string) (string, error) {
	for _, file := range []string{path, path + ".head"} {
		if err := dependency.Writable(file); err != nil {
			return "", fmt.Errorf("%w. Let the program's user write there, or change audit.path", err)
		}
	}
	return "can be written", nil
}

// auditReadable checks that the gateway may read another process's log, when there is one yet.
func auditReadable(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "is not there yet: its process makes it", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w. Let the gateway's user read it and PATH.head, or change audit.others", err)
	}
	_ = f.Close()
	head, err := audit.About(path)
	if err == nil && head.Seq == 0 {
		return "can be read; it has no event yet", nil
	}
	return fmt.Sprintf("is that of %s and can be read up to event %d", cmp.Or(head.Name, "another process"), head.Seq), err
}

// certificates lists the certificates of those whose keys the file has, which it
// therefore runs, with the host that each must be for.
func certificates(c *config.Config) (all []dependency.Check) {
	add := func(name string, t config.TLS, address string) {
		if t.Serves() {
			all = append(all, dependency.Check{Name: "certificate of " + name, Run: func(context.Context) (string, error) {
				return dependency.Certificate(t.Cert, t.Key, address, time.Now())
			}})
		}
	}
	if len(c.Keys.Signing) > 0 {
		add(gatewayName, c.TLS, c.PublicURL)
	}
	for _, d := range domains() {
		if s := c.Servers[d.name]; len(c.Keys.Sealing[d.name]) > 0 {
			add(d.name, serverOf(c, d).TLS, cmp.Or(s.PublicURL, s.URL))
		}
	}
	return all
}
