// Package config reads the one YAML file of the processes: strictly, with every
// problem and its line at once. It knows no domain and opens nothing but the
// file. Requirements of single commands are separate checks, such as ForGateway.
// Start with Load.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config is the one YAML file of `gateway` and `serve`. Unknown keys, wrong
// types and missing values are all reported at once, with their lines. A
// setting that would weaken a check does not exist.
type Config struct {
	Listen       string              `yaml:"listen"`
	PublicURL    string              `yaml:"public_url"`
	Origins      []string            `yaml:"allowed_origins"`
	Issuer       SigningIn           `yaml:"issuer"`
	Keys         Keys                `yaml:"keys"`
	TLS          TLS                 `yaml:"tls"`
	Proxies      []string            `yaml:"proxies"`
	Gateway      Gateway             `yaml:"gateway"`
	Redis        Redis               `yaml:"redis"`
	Models       Models              `yaml:"models"`
	SystemPrompt string              `yaml:"system_prompt"`
	History      History             `yaml:"history"`
	Retries      *int                `yaml:"retries"`
	RetryDelay   time.Duration       `yaml:"retry_delay"`
	Fallback     string              `yaml:"fallback"`
	Budgets      Budgets             `yaml:"budgets"`
	Servers      map[string]Server   `yaml:"servers"`
	MCPFile      string              `yaml:"mcp_file"` // path of the file of connected servers
	Databases    map[string]Database `yaml:"databases"`
	Tasks        Tasks               `yaml:"tasks"`
	CodeSearch   CodeSearch          `yaml:"codesearch"`
	Limits       Limits              `yaml:"limits"`
	Metrics      Metrics             `yaml:"metrics"`
	Audit        Audit               `yaml:"audit"`
	Log          Log                 `yaml:"log"`

	// ToolTimeout is that of a call of a connected server without timeoutMs; zero: the
	// default.
	ToolTimeout time.Duration `yaml:"-"`

	root      yaml.Node // of the file, for line numbers
	overrides []string
}

// Issuer is a trusted identity issuer, and the client that signs people in
// there.
type Issuer struct {
	URL           string   `yaml:"url"`
	Audience      string   `yaml:"audience"` // for `serve`, default: each server's own name
	ClientID      string   `yaml:"client_id"`
	ClientSecret  string   `yaml:"client_secret"`
	UsernameClaim string   `yaml:"username_claim"`
	RolesClaims   []string `yaml:"roles_claims"`
	TrustEmail    bool     `yaml:"trust_email"`

	ConfirmClients      []string `yaml:"confirm_clients"`
	ConfirmWithoutScope bool     `yaml:"confirm_without_scope"`
}

// SigningIn is the issuer that signs people in. It may say everything about
// them.
type SigningIn struct {
	Issuer     `yaml:",inline"`
	Scopes     []string     `yaml:"scopes"`   // asked for at sign-in; default: openid, profile, email
	Resource   string       `yaml:"resource"` // sent at sign-in (RFC 8707); default: nothing
	Additional []Additional `yaml:"additional_issuers"`
}

// Additional is one more issuer to believe: in what it may say, which is nothing
// by default.
type Additional struct {
	Issuer       `yaml:",inline"`
	EmailDomains []string `yaml:"email_domains"` // it verifies addresses at these only
	RolesAllowed []string `yaml:"roles_allowed"` // and gives these roles only
}

// Keys are the secrets of one process. Of each list the first signs or seals,
// and all verify or open.
type Keys struct {
	Signing []string            `yaml:"signing"` // PEM of EC P-256 private keys; the gateway's only
	Sealing map[string][]string `yaml:"sealing"` // by name ("gateway" or a server's): secrets of at least 32 bytes
}

// TLS is how a listener is protected: the files of its certificate and key, or a
// proxy in front of it. Empty: it speaks plain HTTP and is on loopback.
type TLS struct {
	Cert  string `yaml:"cert"`  // PEM, the chain too
	Key   string `yaml:"key"`   // PEM
	Proxy bool   `yaml:"proxy"` // a proxy ends TLS: plain HTTP beyond loopback is meant
}

// Serves reports whether the listener itself speaks TLS.
func (t TLS) Serves() bool { return t.Cert != "" }

// Gateway is where servers find the gateway's keys, and where people approve.
type Gateway struct {
	URL       string `yaml:"url"`
	PublicURL string `yaml:"public_url"`
}

// Redis is the store of confirmations, logs and limits.
type Redis struct {
	URL string `yaml:"url"`
}

// Models are the language models by name, and the name of the default.
type Models struct {
	Default string           `yaml:"default"`
	ByName  map[string]Model `yaml:",inline"`
}

// Model is one language model.
type Model struct {
	Provider     string        `yaml:"provider"`
	Model        string        `yaml:"model"`    // as the provider names it
	BaseURL      string        `yaml:"base_url"` // default: the provider's own
	APIKey       string        `yaml:"api_key"`
	MaxTokens    int           `yaml:"max_tokens"` // of one answer
	Temperature  *float64      `yaml:"temperature"`
	Timeout      time.Duration `yaml:"timeout"`
	BudgetTokens int           `yaml:"budget_tokens"`
	Tools        string        `yaml:"tools"`
	Price        Price         `yaml:"price"`

	KeyName string `yaml:"-"` // where the key came from, for errors
}

// Server is one domain server: where it is reached and where it listens.
type Server struct {
	URL          string        `yaml:"url"`
	Listen       string        `yaml:"listen"` // for `serve`; default 127.0.0.1 and the server's port
	PublicURL    string        `yaml:"public_url"`
	TLS          TLS           `yaml:"tls"` // default: that of the process
	Timeout      time.Duration `yaml:"timeout"`
	WriteTimeout time.Duration `yaml:"write_timeout"`

	ExecuteDirectly bool `yaml:"execute_directly"`
}

// Database is the store of one domain.
type Database struct {
	URL      string `yaml:"url"`       // the application's login: neither owner nor superuser
	AdminURL string `yaml:"admin_url"` // the owner's login; only `migrate` and `seed` use it

	Tasks    *Tasks      `yaml:"-"` // the task server only: what the key tasks says
	Code     *CodeSearch `yaml:"-"` // code search only: what the key codesearch says
	Maintain bool        `yaml:"-"` // code search only: the server keeps the indexes current, as in a demo
}

// Audit is the audit log.
type Audit struct {
	Path            string        `yaml:"path"`
	FailClosedReads bool          `yaml:"fail_closed_reads"` // a read that cannot be recorded is refused, as a change always is
	RotateSize      int64         `yaml:"rotate_size"`       // bytes; 0: not by size
	RotateAge       time.Duration `yaml:"rotate_age"`        // 0: not by age
}

// Log is the program's own log.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// Load reads a configuration file and checks it for what the command
// needs. getenv returns the values of ${NAME} and of the documented variables.
func Load(path string, getenv func(string) string, need func(*Config) []string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	c, problems := decodeConfig(text, getenv)
	c.override(getenv)
	c.defaults()
	problems = append(problems, c.problems()...)
	problems = append(problems, need(c)...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s is not valid:\n  %s", path, strings.Join(problems, "\n  "))
	}
	return c, nil
}

// decodeConfig decodes strictly and collects every problem.
func decodeConfig(text []byte, getenv func(string) string) (*Config, []string) {
	c := &Config{}
	if err := yaml.Unmarshal(text, &c.root); err != nil {
		return c, []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if c.root.Kind == 0 {
		return c, nil
	}
	problems := expand(&c.root, getenv)
	problems = append(problems, unknownKeys(&c.root, reflect.TypeFor[Config]())...)
	var wrong *yaml.TypeError
	if err := c.root.Decode(c); errors.As(err, &wrong) {
		for _, e := range wrong.Errors {
			problems = append(problems, plainTypeError(e))
		}
	} else if err != nil {
		problems = append(problems, err.Error())
	}
	return c, problems
}

var goType = regexp.MustCompile(` into [\w.\[\]]+$`)

// plainTypeError rewrites a decoder's error without Go's types and without the
// value, which may be a secret.
func plainTypeError(text string) string {
	line, _, _ := strings.Cut(text, ": ")
	if goType.MatchString(text) {
		return line + ": the value has the wrong type"
	}
	return text
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} inside values, after parsing, so that no value of the
// environment can become YAML.
func expand(n *yaml.Node, getenv func(string) string) (problems []string) {
	if n.Kind == yaml.ScalarNode {
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(ref string) string {
			value := getenv(ref[2 : len(ref)-1])
			if value == "" {
				problems = append(problems, fmt.Sprintf("line %d: the environment has no %s", n.Line, ref[2:len(ref)-1]))
			}
			return value
		})
	}
	for _, child := range n.Content {
		problems = append(problems, expand(child, getenv)...)
	}
	return problems
}

// unknownKeys compares the keys of a node with the type that they go into.
func unknownKeys(n *yaml.Node, t reflect.Type) (problems []string) {
	switch {
	case n.Kind == yaml.DocumentNode:
		return unknownKeys(n.Content[0], t)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			problems = append(problems, unknownKeys(item, t.Elem())...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 1; i < len(n.Content); i += 2 {
			problems = append(problems, unknownKeys(n.Content[i], t.Elem())...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		known, others := keysOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := known[key.Value]
			switch {
			case ok:
				problems = append(problems, unknownKeys(n.Content[i+1], field)...)
			case others != nil:
				problems = append(problems, unknownKeys(n.Content[i+1], others)...)
			case t == reflect.TypeFor[Config]() && successors[key.Value] != "":
				problems = append(problems, fmt.Sprintf("line %d: %s", key.Line, successors[key.Value]))
			default:
				problems = append(problems, fmt.Sprintf("line %d: unknown key %q", key.Line, key.Value))
			}
		}
	}
	return problems
}

// successors maps removed keys to what replaced them.
var successors = map[string]string{
	"internal_keys": "internal_keys was replaced by keys.signing, private keys of the gateway only, and by keys.sealing, secrets of the gateway and of each server (keys: {signing: [PEM], sealing: {gateway: [SECRET], hr: [SECRET]}})",
	"model":         "model was replaced by models, which names each model (models: {rehearsal: {provider: rehearsal, timeout: 60s}}), and by system_prompt",
}

// keysOf returns the keys of a type, and the type of every other key where any
// name is a key.
func keysOf(t reflect.Type) (keys map[string]reflect.Type, others reflect.Type) {
	keys = make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		switch key := t.Field(i).Tag.Get("yaml"); key {
		case "":
		case ",inline":
			if t.Field(i).Type.Kind() == reflect.Map {
				others = t.Field(i).Type.Elem()
				continue
			}
			inner, _ := keysOf(t.Field(i).Type)
			maps.Copy(keys, inner)
		default:
			keys[key] = t.Field(i).Type
		}
	}
	return keys, others
}

const defaultListen = "127.0.0.1:3100"

func (c *Config) defaults() {
	c.Listen = cmp.Or(c.Listen, defaultListen)
	c.Log.Level = cmp.Or(c.Log.Level, "info")
	c.Log.Format = cmp.Or(c.Log.Format, "text")
	c.Models.defaults()
	c.Issuer.ClientID = cmp.Or(c.Issuer.ClientID, "countersign")
	if len(c.Issuer.Scopes) == 0 {
		c.Issuer.Scopes = []string{"openid", "profile", "email"}
	}
	c.Tasks.defaults(c)
	c.CodeSearch.defaults(c)
	c.Issuer.defaults()
	for i := range c.Issuer.Additional {
		c.Issuer.Additional[i].defaults()
	}
}

// defaults let the tokens of our own client approve. An empty list in the file
// stays empty: then people answer with a browser only.
func (i *Issuer) defaults() {
	if i.ConfirmClients == nil && i.ClientID != "" {
		i.ConfirmClients = []string{i.ClientID}
	}
}

// defaults configure rehearsal when there is no model, and make an only model
// the default.
func (m *Models) defaults() {
	if len(m.ByName) == 0 {
		m.ByName = map[string]Model{"rehearsal": {Provider: "rehearsal"}}
	}
	if len(m.ByName) == 1 {
		for name := range m.ByName {
			m.Default = cmp.Or(m.Default, name)
		}
	}
}

func (c *Config) modelProblems() (problems []string) {
	if _, ok := c.Models.ByName[c.Models.Default]; !ok {
		problems = append(problems, c.line("models", "default")+"models.default must name one of the models")
	}
	for name, model := range c.Models.ByName {
		at := func(key string) string { return c.line("models", name, key) + "models." + name + "." + key }
		if model.Provider == "" {
			problems = append(problems, at("provider")+" is required")
		}
		if model.Timeout < 0 || model.BudgetTokens < 0 || model.MaxTokens < 0 {
			problems = append(problems, c.line("models", name)+"models."+name+": timeout, max_tokens and budget_tokens must not be negative")
		}
		if model.Temperature != nil && (*model.Temperature < 0 || *model.Temperature > 2) {
			problems = append(problems, at("temperature")+" must be between 0 and 2")
		}
		problems = append(problems, model.Price.problems(at("price"), c.line("models", name, "price", "currency")+"models."+name+".price.currency")...)
		if !slices.Contains([]string{"", "native", "blob"}, model.Tools) {
			problems = append(problems, at("tools")+" must be native or blob")
		}
		if model.Model == "" && model.Provider != "" && model.Provider != "rehearsal" {
			problems = append(problems, at("model")+" is required: the model's name at its provider")
		}
	}
	return problems
}

// problems checks the requirements of every command.
func (c *Config) problems() (problems []string) {
	for _, required := range []struct{ key, value string }{
		{"issuer.url", c.Issuer.URL}, {"redis.url", c.Redis.URL}, {"audit.path", c.Audit.Path},
	} {
		if required.value == "" {
			problems = append(problems, fmt.Sprintf("line 1: %s is required", required.key))
		}
	}
	problems = append(problems, c.sharedSecrets()...)
	problems = append(problems, c.plainTransport()...)
	problems = append(problems, c.plainListeners()...)
	problems = append(problems, c.foreignOrigins()...)
	problems = append(problems, c.badProxies()...)
	problems = append(problems, c.authorities()...)
	problems = append(problems, c.TLS.problems(c.line("tls")+"tls")...)
	for name, s := range c.Servers {
		problems = append(problems, s.TLS.problems(c.line("servers", name, "tls")+"servers."+name+".tls")...)
	}
	problems = append(problems, c.modelProblems()...)
	problems = append(problems, c.retryProblems()...)
	if c.ToolTimeout < 0 {
		problems = append(problems, "DEFAULT_TOOL_TIMEOUT_MS must be a whole number of milliseconds, from 1 to 600000")
	}
	problems = append(problems, c.Limits.problems()...)
	problems = append(problems, c.History.problems()...)
	problems = append(problems, c.Tasks.problems(c.line("tasks"))...)
	problems = append(problems, c.CodeSearch.problems()...)
	if !slices.Contains([]string{"text", "json"}, c.Log.Format) {
		problems = append(problems, "log.format must be text or json")
	}
	slices.Sort(problems)
	return problems
}

// authorities finds patterns, which would not be read as such.
func (c *Config) authorities() (problems []string) {
	for i, issuer := range c.Issuer.Additional {
		at := c.line("issuer", "additional_issuers", strconv.Itoa(i))
		if slices.ContainsFunc(issuer.EmailDomains, func(d string) bool { return d == "" || strings.ContainsAny(d, "@*/: ") }) {
			problems = append(problems, at+"email_domains must be domains such as example.com; a subdomain needs an entry of its own")
		}
	}
	return problems
}

func (t TLS) problems(key string) []string {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return []string{key + " needs both files, cert and key"}
	case t.Proxy && t.Serves():
		return []string{key + ": either the listener has a certificate, or a proxy ends TLS (proxy: true)"}
	}
	return nil
}

// sharedSecrets finds secrets that two names have: each has its own, so that
// one that was taken opens nothing of another.
func (c *Config) sharedSecrets() (problems []string) {
	owners := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Keys.Sealing)) {
		for _, secret := range c.Keys.Sealing[name] {
			if owner, taken := owners[secret]; taken && owner != name {
				problems = append(problems, fmt.Sprintf("%skeys.sealing.%s has a secret of keys.sealing.%s: each needs its own", c.line("keys", "sealing", name), name, owner))
			}
			owners[secret] = name
		}
	}
	return problems
}

// Weakened lists the settings of the file that weaken a check, each with what it
// allows. They are logged at start and printed by `check`.
func (c *Config) Weakened() (settings []string) {
	for i, issuer := range c.Issuers() {
		name := "issuer"
		if i > 0 {
			name = fmt.Sprintf("issuer.additional_issuers[%d]", i-1)
		}
		if issuer.TrustEmail {
			settings = append(settings, name+".trust_email: addresses that the issuer did not verify are believed")
		}
		if issuer.ConfirmWithoutScope {
			settings = append(settings, name+".confirm_without_scope: tokens without any scope can approve changes")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if c.Servers[name].ExecuteDirectly {
			settings = append(settings, "servers."+name+".execute_directly: people's own tokens can approve changes without the gateway")
		}
	}
	settings = append(settings, c.CodeSearch.weakened()...)
	for _, l := range c.listeners() {
		if l.tls.Proxy && !Loopback(l.address) {
			settings = append(settings, strings.Join(l.path, ".")+" with tls.proxy: other machines reach it without TLS, unless only the proxy can")
		}
	}
	return settings
}

// Overrides are the environment variables that replaced a value of the file.
func (c *Config) Overrides() []string { return c.overrides }

// Issuers are all identity issuers, the one that signs people in first.
func (c *Config) Issuers() []Issuer {
	all := []Issuer{c.Issuer.Issuer}
	for _, more := range c.Issuer.Additional {
		all = append(all, more.Issuer)
	}
	return all
}

// ForGateway checks the gateway's requirements beyond those of every command.
func ForGateway(c *Config) (problems []string) {
	if c.PublicURL == "" {
		problems = append(problems, "line 1: public_url is required for the gateway")
	}
	if len(c.Servers) == 0 {
		problems = append(problems, "line 1: servers names no server to reach")
	}
	for name, s := range c.Servers {
		if s.URL == "" {
			problems = append(problems, fmt.Sprintf("servers.%s.url is required for the gateway", name))
		}
	}
	if len(c.Keys.Signing) == 0 {
		problems = append(problems, c.line("keys")+"keys.signing is required for the gateway: it signs the tokens with which it calls the servers")
	}
	return slices.Concat(problems, c.needSealing("gateway"), ForTokens(c))
}

// needSealing requires the secrets of one name.
func (c *Config) needSealing(name string) []string {
	if len(c.Keys.Sealing[name]) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("%skeys.sealing.%s is required: what it seals (cursors, cookies, records) is sealed with keys derived from it", c.line("keys", "sealing"), name)}
}

// ForServers checks the requirements of serving the named servers.
func ForServers(names []string) func(*Config) []string {
	return func(c *Config) (problems []string) {
		for _, name := range names {
			if c.Databases[name].URL == "" {
				problems = append(problems, fmt.Sprintf("databases.%s.url is required to serve it", name))
			}
			problems = append(problems, c.needSealing(name)...)
		}
		if c.Gateway.URL == "" {
			problems = append(problems, "line 1: gateway.url is required: servers verify the gateway's tokens with its keys")
		}
		if len(c.Keys.Signing) > 0 {
			problems = append(problems, c.line("keys", "signing")+"keys.signing belongs in the gateway's file only: a process that has it can call every server as any person. Servers verify with the public keys at gateway.url")
		}
		return problems
	}
}

// ForChecking checks the requirements of the file of any process: who verifies
// tokens for the gateway must say which ones are.
func ForChecking(c *Config) []string {
	if len(c.Keys.Signing) == 0 {
		return nil
	}
	return ForTokens(c)
}

// ForTokens checks the requirements of verifying tokens for the gateway.
func ForTokens(c *Config) (problems []string) {
	for _, i := range c.Issuers() {
		if i.URL != "" && i.Audience == "" {
			problems = append(problems, fmt.Sprintf("issuer %s needs an audience", i.URL))
		}
	}
	return problems
}

// Loopback reports whether a host, with or without a port, is this machine:
// localhost, 127.0.0.0/8 or ::1.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip, _ := netip.ParseAddr(host) // the zero address is no loopback
	return strings.EqualFold(host, "localhost") || ip.Unmap().IsLoopback()
}
