package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/llm/discovery"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/upstream"
)

// DemoOptions say where a demo listens and keeps its data.
type DemoOptions struct {
	Port        int    // of the gateway; the servers follow it, the issuer is at port+80; 0: free ports
	Data        string // folder to keep and reuse; empty: a fresh one, removed at the end
	Postgres    string // administrator's URL of a PostgreSQL to use instead of a private one
	PostgresBin string // folder of PostgreSQL's programs; empty: found or fetched
	LogLevel    string // empty: warn
	Model       string // rehearsal, or a model's name; empty: what the environment and this machine offer
	MCP         string // file of connected servers; empty: none
	Folder      string // where it was started; a repository there is indexed for code search
	Getenv      func(string) string
	JSON        bool // announce with one line of JSON
	Out, Err    io.Writer
}

// Demo runs everything in one process: the gateway, the domain servers, a
// development issuer, Redis in memory and a private PostgreSQL, filled with the
// sample company.
func Demo(ctx context.Context, o DemoOptions) error {
	return runDemo(ctx, o, func(d *demonstration, life *lifetime) error {
		if err := d.announce(); err != nil {
			return err
		}
		return life.wait(ctx)
	})
}

// DuringDemo runs a demo while use runs, which gets the address of its gateway,
// and ends it afterwards. Nothing is announced.
func DuringDemo(ctx context.Context, o DemoOptions, use func(gateway string) error) error {
	return runDemo(ctx, o, func(d *demonstration, _ *lifetime) error { return use(d.ports["gateway"]) })
}

func runDemo(ctx context.Context, o DemoOptions, use func(*demonstration, *lifetime) error) error {
	d := demonstration{DemoOptions: o, ports: map[string]string{}}
	life := newLifetime()
	err := d.start(ctx, life)
	if err == nil {
		err = use(&d, life)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if ended := life.end(ending); ended != nil && err == nil {
		err = ended
	}
	if ctx.Err() != nil {
		return nil // ended as requested
	}
	return err
}

// demonstration is a demo while it is built and runs.
type demonstration struct {
	DemoOptions
	listeners map[string]net.Listener // by server; "gateway" and "issuer" too
	ports     map[string]string       // addresses by server
	auditPath string
	model     discovery.Model
}

// start builds the demo, engines first.
func (d *demonstration) start(ctx context.Context, life *lifetime) error {
	log, flush, err := newLogger(d.Err, cmp.Or(d.LogLevel, "warn"), "text")
	if err != nil {
		return err
	}
	life.onClose("the log", func() error { flush(); return nil })
	if d.model, err = discovery.Find(ctx, d.Model, d.Getenv); err != nil {
		return err
	}
	if err := d.folder(ctx, life); err != nil {
		return err
	}
	if err := d.listen(ctx, life); err != nil {
		return err
	}
	keys, err := demoKeys(d.Data)
	if err != nil {
		return err
	}
	redis, err := embedded.StartRedis()
	if err != nil {
		return err
	}
	life.onClose("the embedded Redis", func() error { redis.Close(); return nil })
	people, err := d.issuer(life)
	if err != nil {
		return err
	}
	d.auditPath = filepath.Join(d.Data, "audit.jsonl")
	pl, err := newPlatform(ctx, life, log, keys, platformOptions{
		name: gatewayName, audit: config.Audit{Path: d.auditPath}, redis: redis.URL(), limits: quota.Limits{Requests: demoRequests},
	})
	if err != nil {
		return err
	}
	databases, err := d.databases(ctx, life)
	if err != nil {
		return err
	}
	for _, domain := range domains() {
		if err := d.serve(ctx, pl, domain, databases[domain.name], people.URL()); err != nil {
			return err
		}
	}
	return d.gateway(pl, people.URL())
}

// demoRequests is how many requests a second a person of the demo may send, large
// answers counted as several, so a measurement shows the program and not the limit.
const demoRequests = 2000

// folder opens the data folder. It is private: others on the machine can
// neither list nor enter it.
func (d *demonstration) folder(ctx context.Context, life *lifetime) error {
	folder, err := embedded.OpenFolder(ctx, embedded.FolderOptions{Dir: d.Data, Postgres: d.Postgres == ""})
	if err != nil {
		return err
	}
	life.onClose("the data folder", folder.Close)
	d.Data = folder.Path()
	return nil
}

// listen opens every port before anything is built, so that a port in use is
// reported at once.
func (d *demonstration) listen(ctx context.Context, life *lifetime) error {
	d.listeners = map[string]net.Listener{}
	take := func(name string, port int) error {
		if d.Port == 0 {
			port = 0
		}
		l, err := httpx.Listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return err
		}
		life.onClose("the listener of "+name, func() error { _ = l.Close(); return nil }) // usually closed by its server already
		d.listeners[name] = l
		_, opened, _ := net.SplitHostPort(l.Addr().String())
		d.ports[name] = "http://localhost:" + opened
		return nil
	}
	if err := take("gateway", d.Port); err != nil {
		return err
	}
	for _, domain := range domains() {
		if err := take(domain.name, d.Port+domain.port-DefaultPort); err != nil {
			return err
		}
	}
	return nil
}

// DefaultPort is the gateway's port in the documents; the other ports are
// relative to it.
const (
	DefaultPort = 3100
	issuerPort  = 80 // above the gateway's
	HighestPort = 65_535 - issuerPort
)

// issuer starts the development issuer with the sample people.
func (d *demonstration) issuer(life *lifetime) (*issuer.Server, error) {
	port := "0"
	if d.Port != 0 {
		port = strconv.Itoa(d.Port + issuerPort)
	}
	var people []issuer.Person
	for _, a := range company.Accounts() {
		people = append(people, issuer.Person(a))
	}
	audiences := []string{gatewayAudience}
	for _, domain := range domains() {
		audiences = append(audiences, domain.name)
	}
	server, err := issuer.Start("localhost:"+port, issuer.Options{
		People: people, KeyFile: filepath.Join(d.Data, "issuer-key.pem"), TerminalClient: demoClient, Audiences: audiences,
		Clients: []issuer.Client{{
			ID: demoClient, Audience: gatewayAudience,
			RedirectURIs: []string{d.ports["gateway"] + "/callback"}, LogoutURIs: []string{d.ports["gateway"] + "/"},
		}},
	})
	if err != nil {
		return nil, err
	}
	life.onEnd(server.Close)
	d.ports["issuer"] = server.URL()
	return server, nil
}

// The names under which the demo's issuer knows the gateway.
const (
	demoClient      = "countersign"
	gatewayAudience = "gateway"
)

// demoScopes are what a sign-in asks the demo's issuer for.
func demoScopes() []string { return []string{"openid", "profile", "email", "mcp"} }

// databases starts the private PostgreSQL, unless a URL was given, and fills it.
func (d *demonstration) databases(ctx context.Context, life *lifetime) (map[string]config.Database, error) {
	admin := d.Postgres
	if admin == "" {
		pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{
			Bin: d.PostgresBin, Dir: filepath.Join(d.Data, "postgres"),
			Fetch: embedded.Download(embedded.DownloadFolder(), func(text string) { fmt.Fprintln(d.Err, text) }),
		})
		if err != nil {
			return nil, err
		}
		life.onEnd(pg.Stop)
		life.runWhile("the private PostgreSQL", pg.Exited())
		admin = pg.AdminURL("postgres")
	}
	sample := company.At(today())
	all := map[string]config.Database{}
	for _, domain := range domains() {
		db, err := domain.store.Demo(ctx, storage.Engines{AdminURL: admin, Folder: d.Data, Issuer: d.ports["issuer"], Code: storage.RepositoryAt(d.Folder)})
		if err != nil {
			return nil, err
		}
		if err := domain.store.Seed(ctx, db, sample); err != nil {
			return nil, fmt.Errorf("%s: %w", domain.name, err)
		}
		all[domain.name] = db
	}
	return all, nil
}

// serve serves one domain.
func (d *demonstration) serve(ctx context.Context, pl *platform, domain domain, db config.Database, issuerURL string) error {
	if db.Code != nil {
		logWeakened(pl.log, (&config.Config{CodeSearch: *db.Code}).Weakened())
	}
	return pl.serveDomain(ctx, domain, db, domainOptions{
		listener: d.listeners[domain.name], url: d.ports[domain.name], issuers: []auth.Config{{URL: issuerURL}}, approvals: d.ports["gateway"], scopes: demoScopes(),
	})
}

func (d *demonstration) gateway(pl *platform, issuerURL string) error {
	var servers []upstream.Server
	for _, domain := range domains() {
		servers = append(servers, upstream.Server{Name: domain.name, URL: d.ports[domain.name]})
	}
	models, err := llm.New(map[string]llm.Options{llm.Rehearsal: {Provider: llm.Rehearsal}, d.model.Name: d.model.Options}, llm.Policy{Default: d.model.Name, Log: pl.log})
	if err != nil {
		return err
	}
	return pl.serveGateway(gatewayOptions{
		listener: d.listeners["gateway"], url: d.ports["gateway"], issuers: []auth.Config{{URL: issuerURL, Audiences: []string{gatewayAudience}, ConfirmClients: []string{demoClient}}},
		clientID: demoClient, scopes: demoScopes(), servers: servers, files: demoFiles(d.MCP, d.Data, d.Getenv), models: models,
	})
}

// ready is the one line of `demo --json`.
type ready struct {
	Event   string            `json:"event"`
	Gateway string            `json:"gateway"`
	Issuer  string            `json:"issuer"`
	Servers map[string]string `json:"servers"`
	People  []readyPerson     `json:"people"`
	Model   string            `json:"model"`
	Audit   string            `json:"audit"`
}

type readyPerson struct {
	Username string   `json:"username"`
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Roles    []string `json:"roles"`
}

// announce prints the addresses and how to use them.
func (d *demonstration) announce() error {
	r := ready{Event: "ready", Gateway: d.ports["gateway"], Issuer: d.ports["issuer"], Servers: map[string]string{}, Model: d.model.Name, Audit: d.auditPath}
	for _, domain := range domains() {
		r.Servers[domain.name] = d.ports[domain.name]
	}
	for _, a := range company.Accounts() {
		r.People = append(r.People, readyPerson{a.Username, a.Name, a.Title, a.Roles})
	}
	if d.JSON {
		return json.NewEncoder(d.Out).Encode(r)
	}
	fmt.Fprintf(d.Out, "Answers come from %s.\n\nCountersign is at %s\n\nSign in there as one of these people, and ask:\n\n", d.model.Said, r.Gateway)
	w := tabwriter.NewWriter(d.Out, 0, 4, 2, ' ', 0)
	for _, person := range r.People {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", person.Username, person.Title, strings.Join(person.Roles, ", "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	url := ""
	if r.Gateway != fmt.Sprintf("http://localhost:%d", DefaultPort) {
		url = " --url " + r.Gateway
	}
	if code := storage.RepositoryAt(d.Folder); code != "" {
		fmt.Fprintf(d.Out, "\nThe code in %s is being indexed: ask \"Where is the function main?\", or for another name.\n", code)
	}
	fmt.Fprintf(d.Out, `
In a terminal:
  countersign chat --once "Who is on my team?" --as nina.patel%[1]s
  TOKEN=$(countersign token alice.chen%[1]s)
  curl -N -H "Authorization: Bearer $TOKEN" %[2]s/api/query -d '{"query":"List all employees"}' -H 'Content-Type: application/json'

Nothing here is for production. Ctrl-C ends it.
`, url, r.Gateway)
	return nil
}
