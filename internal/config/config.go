// Package config reads the one YAML file of the processes: strictly, with every
// problem and its line at once. It knows no domain and opens nothing but the
// file. Requirements of single commands are separate checks, such as ForGateway.
// Start with Load.
package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config is the one YAML file of `gateway` and `serve`. Unknown keys, wrong
// types and missing values are all reported at once, with their lines.
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

// Gateway is where servers find the gateway's keys, and where people approve.
type Gateway struct {
	URL       string `yaml:"url"`
	PublicURL string `yaml:"public_url"`
}

// Redis is the store of confirmations, logs and limits.
type Redis struct {
	URL string `yaml:"url"`
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

// problems checks the deadlines, and that no other server has the address.
func (s Server) problems(c *Config, name string) (problems []string) {
	for _, deadline := range []struct {
		key   string
		value time.Duration
	}{{"timeout", s.Timeout}, {"write_timeout", s.WriteTimeout}} {
		if deadline.value < 0 {
			problems = append(problems, fmt.Sprintf("%sservers.%s.%s must not be negative; leave it out for the default", c.line("servers", name, deadline.key), name, deadline.key))
		}
	}
	for _, other := range slices.Sorted(maps.Keys(c.Servers)) {
		if s.URL != "" && other < name && sameAddress(c.Servers[other].URL, s.URL) {
			problems = append(problems, fmt.Sprintf("%sservers.%s.url is that of servers.%s: each server has an address of its own", c.line("servers", name, "url"), name, other))
		}
	}
	return problems
}

func sameAddress(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// UnknownNames finds names of servers that are not among the known ones, which this room
// does not know. The gateway has a secret, too.
func (c *Config) UnknownNames(known []string) (problems []string) {
	check := func(section, name string, known []string) {
		if !slices.Contains(known, name) {
			path := append(strings.Split(section, "."), name)
			problems = append(problems, fmt.Sprintf("%s%s.%s: there is no server %q of ours, which are %s. Connected servers are in the file that mcp_file names", c.line(path...), section, name, name, strings.Join(known, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		check("servers", name, known)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Databases)) {
		check("databases", name, known)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Keys.Sealing)) {
		check("keys.sealing", name, slices.Concat([]string{"gateway"}, known))
	}
	return problems
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
	Others          []string      `yaml:"others"`            // gateway: paths of other processes' logs, which auditors read in the page too
}

// Logs are the paths of the log and of the others.
func (a Audit) Logs() (paths []string) {
	for _, path := range append([]string{a.Path}, a.Others...) {
		paths = append(paths, filepath.Clean(path))
	}
	return paths
}

// problems checks when the log is rotated, and that each log is named once.
func (a Audit) problems() (problems []string) {
	if a.RotateSize < 0 || a.RotateAge < 0 {
		problems = append(problems, "audit.rotate_size and audit.rotate_age must not be negative; leave them out to rotate by neither")
	}
	logs := a.Logs()
	for i, path := range logs[1:] {
		if a.Others[i] == "" || slices.Contains(logs[:i+1], path) {
			problems = append(problems, fmt.Sprintf("audit.others[%d] must be the path of another process's log, and each once", i))
		}
	}
	return problems
}

// Log is the program's own log.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

const defaultListen = "127.0.0.1:3100"

// Overrides are the environment variables that replaced a value of the file.
func (c *Config) Overrides() []string { return c.overrides }

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
