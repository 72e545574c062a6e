package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/config"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/state"
)

const (
	checkTimeout = 8 * time.Second // for one dependency; all are checked concurrently
	maxChecked   = 1 << 20         // bytes of an answer that are read
)

// dependency is something outside of the program that a process needs. Its
// check returns a short status, or an error that says why it cannot be used.
type dependency struct {
	name  string
	check func(context.Context) (string, error)
}

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
	if !printChecks(ctx, o.Out, all) {
		return errors.New("not everything can be used")
	}
	return nil
}

// printChecks runs all checks concurrently, prints their results in order, and
// reports whether all succeeded.
func printChecks(ctx context.Context, out io.Writer, all []dependency) (well bool) {
	lines := make([]string, len(all))
	failed := make([]bool, len(all))
	var asked sync.WaitGroup
	for i, d := range all {
		asked.Go(func() {
			ctx, done := context.WithTimeout(ctx, checkTimeout)
			defer done()
			said, err := d.check(ctx)
			if failed[i] = err != nil; failed[i] {
				said = "failed: " + fault.Sentence(err)
			}
			lines[i] = strings.Join(strings.Fields(said), " ")
		})
	}
	asked.Wait()
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	well = true
	for i, d := range all {
		fmt.Fprintf(w, "%s\t%s\n", d.name, lines[i])
		well = well && !failed[i]
	}
	return well
}

// dependencies lists those that the configuration names.
func dependencies(c *config.Config) []dependency {
	client := &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // as the program itself does
	}
	all := []dependency{
		{"audit log", func(context.Context) (string, error) { return auditState(c) }},
		{"redis", func(ctx context.Context) (string, error) { return redisAnswers(ctx, c.Redis.URL) }},
	}
	all = append(all, certificates(c)...)
	for _, url := range urlsOf(issuersOf(c)) {
		all = append(all, dependency{"issuer " + url, func(ctx context.Context) (string, error) { return issuerAnswers(ctx, client, url) }})
	}
	if url := cmp.Or(c.Gateway.URL, c.PublicURL); url != "" {
		all = append(all, dependency{"gateway", processReady(client, url, "/readyz", "countersign gateway")})
	}
	for _, d := range domains() {
		if url := c.Servers[d.name].URL; url != "" {
			all = append(all, dependency{"server " + d.name, processReady(client, url, "/ready", "countersign serve "+d.name)})
		}
		if db, configured := c.Databases[d.name]; configured {
			all = append(all, dependency{"data of " + d.name, func(ctx context.Context) (string, error) { return rowsRead(ctx, d, db) }})
		}
	}
	return all
}

// ---- local files

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
		if err := writable(file); err != nil {
			return "", fmt.Errorf("%w. Let the program's user write there, or change audit.path", err)
		}
	}
	return "can be written", nil
}

// writable opens an existing file for writing; for a missing one it creates and
// removes a temporary file in the same folder.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err = os.CreateTemp(filepath.Dir(path), ".countersign-check-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// certificates lists the certificates of those whose keys the file has, which it
// therefore runs, with the host that each must be for.
func certificates(c *config.Config) (all []dependency) {
	add := func(name string, t config.TLS, address string) {
		if t.Serves() {
			all = append(all, dependency{"certificate of " + name, func(context.Context) (string, error) { return certificateValid(t, address, time.Now()) }})
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

// certificateValid reads a pair of files, and checks dates and the host.
func certificateValid(t config.TLS, address string, now time.Time) (string, error) {
	pair, err := httpx.LoadCertificate(t.Cert, t.Key, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	leaf, ends := pair.Leaf(), pair.Leaf().NotAfter.UTC().Format(time.DateOnly)
	switch {
	case now.After(leaf.NotAfter):
		return "", fmt.Errorf("%s ended on %s. Renew it", t.Cert, ends)
	case now.Before(leaf.NotBefore):
		return "", fmt.Errorf("%s begins on %s only", t.Cert, leaf.NotBefore.UTC().Format(time.DateOnly))
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if host := u.Hostname(); host != "" && leaf.VerifyHostname(host) != nil {
		return "", fmt.Errorf("%s is not for the host %s", t.Cert, host)
	}
	return fmt.Sprintf("is valid until %s, days left: %d", ends, int(leaf.NotAfter.Sub(now).Hours()/24)), nil
}

// ---- network services

func redisAnswers(ctx context.Context, url string) (string, error) {
	redis, err := state.Open(ctx, url, nil)
	if err != nil {
		return "", fmt.Errorf("%s Start it, or change redis.url", fault.Sentence(err))
	}
	return "answers", redis.Close()
}

// issuerAnswers reads what sign-ins and tokens need: the discovery document,
// whose issuer must be exactly the configured one, and the keys.
func issuerAnswers(ctx context.Context, client *http.Client, issuer string) (string, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := fetch(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return "", fmt.Errorf("%w. %s", err, cmp.Or(httpx.CertificateAdvice(err), "Start the issuer, or change issuer.url"))
	}
	if about.Issuer != issuer {
		return "", fmt.Errorf("its issuer is %q: issuer.url must be exactly the same", about.Issuer)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := fetch(ctx, client, about.Keys, &set); err != nil {
		return "", fmt.Errorf("its keys cannot be fetched: %w", err)
	}
	if len(set.Keys) == 0 {
		return "", fmt.Errorf("%s holds no keys: no token of it can be verified", about.Keys)
	}
	return fmt.Sprintf("answers; keys: %d", len(set.Keys)), nil
}

// processReady checks the readiness endpoint of one of our own processes.
func processReady(client *http.Client, url, path, start string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var said struct{ Status string }
		if err := fetch(ctx, client, strings.TrimSuffix(url, "/")+path, &said); err != nil {
			return "", fmt.Errorf("%w. %s", err, cmp.Or(httpx.CertificateAdvice(err), `Is "`+start+`" running?`))
		}
		if said.Status != "ready" {
			return "", fmt.Errorf("something else answers at %s: change its address", url)
		}
		return "ready", nil
	}
}

// fetch decodes the JSON at an address; its error says what came instead.
func fetch(ctx context.Context, client *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxChecked))
	if err != nil {
		return fmt.Errorf("%s ended early: %w", address, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s%s", address, resp.Status, reasonIn(body))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s answered no JSON: change its address", address)
	}
	return nil
}

// reasonIn is the message of an error body, after a colon.
func reasonIn(body []byte) string {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(said.Message, ".")
}

// rowsRead opens a store as a server does, and reads rows. A missing file is
// reported, because opening would create it.
func rowsRead(ctx context.Context, d domain, db config.Database) (string, error) {
	if path, ok := sqlitePath(db.URL); ok {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf(`%w. "countersign migrate" and "seed" make it`, err)
		}
	}
	server, closeStore, err := d.store.open(ctx, db, &access.Links{})
	if err != nil {
		return "", err
	}
	defer func() { _ = closeStore() }()
	if err := server.Ready(ctx); err != nil {
		return "", err
	}
	if whole, ok := server.(interface {
		Check(context.Context) (string, error)
	}); ok {
		return whole.Check(ctx)
	}
	warning, err := oversize(ctx, server)
	if err != nil {
		return "", err
	}
	if warning != "" {
		return "rows were read; warning: " + warning, nil
	}
	return "rows were read", nil
}
