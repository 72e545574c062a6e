package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
	problems = append(problems, c.publicPaths()...)
	problems = append(problems, c.authorities()...)
	problems = append(problems, c.Issuer.localUser(c.line("issuer", "local_user"))...)
	problems = append(problems, c.TLS.problems(c.line("tls")+"tls")...)
	for name, s := range c.Servers {
		problems = append(problems, s.TLS.problems(c.line("servers", name, "tls")+"servers."+name+".tls")...)
		problems = append(problems, s.problems(c, name)...)
	}
	problems = append(problems, c.modelProblems()...)
	problems = append(problems, c.retryProblems()...)
	if c.ToolTimeout < 0 {
		problems = append(problems, "DEFAULT_TOOL_TIMEOUT_MS must be a whole number of milliseconds, from 1 to 600000")
	}
	problems = append(problems, c.Audit.problems()...)
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
