package config

import (
	"cmp"
	"net"
	"strconv"
	"time"
)

// variables are the variables of the environment that replace a value of the file,
// whatever it says. Those of models are in vendors: there the file comes first. A
// name of several parts of one value is followed by the others.
var variables = []struct {
	name string
	set  func(c *Config, value string, getenv func(string) string)
}{
	{"PORT", func(c *Config, v string, _ func(string) string) {
		c.Listen = net.JoinHostPort(hostOf(cmp.Or(c.Listen, defaultListen)), v)
	}},
	{"MCP_JSON_PATH", func(c *Config, v string, _ func(string) string) { c.MCPFile = v }},
	{"DEFAULT_TOOL_TIMEOUT_MS", func(c *Config, v string, _ func(string) string) { c.ToolTimeout = milliseconds(v) }},
	{"LOG_LEVEL", func(c *Config, v string, _ func(string) string) { c.Log.Level = v }},
	{"REDIS_HOST", setRedis},
	{"REDIS_PORT", setRedis},
	{"MAX_TOKEN_COUNT", func(c *Config, v string, _ func(string) string) { c.History.TokenBudget = numberOf(v) }},
}

// setRedis makes the whole address of either variable.
func setRedis(c *Config, _ string, getenv func(string) string) {
	c.Redis.URL = "redis://" + net.JoinHostPort(cmp.Or(getenv("REDIS_HOST"), "localhost"), cmp.Or(getenv("REDIS_PORT"), "6379"))
}

// numberOf is a number of the environment. A value that is none is -1, which is a
// problem of every key that takes one.
func numberOf(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return -1
	}
	return n
}

// Vendor names the variables that a vendor's own tools read.
type Vendor struct{ Key, URL string }

// Vendors are those variables by provider. The demo, which has no file, looks for
// them too.
var Vendors = map[string]Vendor{
	"anthropic": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
	"gemini":    {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
	"openai":    {"OPENAI_API_KEY", "OPENAI_BASE_URL"},
}

// override applies the variables that are set, and keeps their names for the log.
func (c *Config) override(getenv func(string) string) {
	for _, v := range variables {
		if value := getenv(v.name); value != "" {
			v.set(c, value, getenv)
			c.overrides = append(c.overrides, v.name)
		}
	}
	for name, model := range c.Models.ByName {
		c.Models.ByName[name] = model.override(name, func(variable string, set func(string)) {
			if value := getenv(variable); value != "" {
				set(value)
				c.overrides = append(c.overrides, variable)
			}
		})
	}
}

// override takes a key and an address that the file does not have.
func (m Model) override(name string, take func(variable string, set func(string))) Model {
	m.KeyName = "models." + name + ".api_key"
	vendor, known := Vendors[m.Provider]
	if !known {
		return m
	}
	if m.APIKey == "" && (m.BaseURL == "" || m.Provider != "openai") { // a key of OpenAI's goes to no other address
		m.KeyName = vendor.Key
		take(vendor.Key, func(v string) { m.APIKey = v })
	}
	if m.BaseURL == "" {
		take(vendor.URL, func(v string) { m.BaseURL = v })
	}
	return m
}

func hostOf(listen string) string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	return host
}

// MaxToolTimeout is the longest that one call of a connected server may be given.
const MaxToolTimeout = 10 * time.Minute

// milliseconds reads a positive whole number; anything else is negative, which
// problems rejects.
func milliseconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > int(MaxToolTimeout.Milliseconds()) {
		return -1
	}
	return time.Duration(n) * time.Millisecond
}
