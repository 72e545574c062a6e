package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func noEnvironment(string) string { return "" }

func loadText(t *testing.T, text string, getenv func(string) string, need func(*Config) []string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, getenv, need)
}

const wholeConfig = `listen: 127.0.0.1:3100
public_url: http://localhost:3100
issuer:
  url: http://localhost:3180
  audience: gateway
keys:
  signing: ["${KEY}"]
  sealing: {gateway: ["${SECRET}"]}
redis: {url: "redis://localhost:6379"}
servers:
  hr: {url: "http://127.0.0.1:3101", timeout: 5s}
audit: {path: /tmp/audit.jsonl}
`

func keysFromEnvironment(name string) string {
	return map[string]string{"KEY": "pem", "SECRET": "long enough to be one of our secrets"}[name]
}

func TestWholeConfigurationIsRead(t *testing.T) {
	c, err := loadText(t, wholeConfig, keysFromEnvironment, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	if c.Servers["hr"].Timeout.Seconds() != 5 || c.Keys.Signing[0] != "pem" || len(c.Keys.Sealing["gateway"]) != 1 || c.Models.Default != "rehearsal" || c.Models.ByName["rehearsal"].Provider != "rehearsal" {
		t.Errorf("got %+v", c)
	}
}

// TestBrokenYAMLIsTheOnlyProblem: what a file that cannot be read lacks is not known.
func TestBrokenYAMLIsTheOnlyProblem(t *testing.T) {
	_, err := loadText(t, wholeConfig+"extra: [\n", keysFromEnvironment, ForGateway)
	if err == nil || strings.Contains(err.Error(), "required") || !strings.Contains(err.Error(), "line ") {
		t.Errorf("got %v", err)
	}
	if _, err := loadText(t, "", keysFromEnvironment, ForGateway); err == nil || !strings.Contains(err.Error(), "audit.path is required") {
		t.Errorf("an empty file: got %v", err)
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	text := strings.Replace(wholeConfig, "listen:", "lisen:", 1)
	text = strings.Replace(text, "timeout: 5s", "timeout: soon, retries: 3", 1)
	text = strings.Replace(text, "audit: {path: /tmp/audit.jsonl}\n", "", 1)
	text = strings.Replace(text, "  audience: gateway\n", "", 1)
	text += "model: {timeout: 1s}\nlimits: {requests_per_second: 9}\nmodels: {default: other, fast: {timeout: -1s, speed: 3}}\nhistory: {retain_newest: 20, max_messages: 10, token_budget: -1}\n"
	_, err := loadText(t, text, noEnvironment, ForGateway)
	if err == nil {
		t.Fatal("a wrong configuration was accepted")
	}
	for _, want := range []string{
		`line 1: unknown key "lisen"`, `line 10: unknown key "retries"`, "line 10: servers.hr.timeout must be a duration such as 30s",
		"line 6: the environment has no KEY", "line 7: the environment has no SECRET", "audit.path is required", "needs an audience",
		"line 11: model was replaced by models", "limits.requests_per_second must be at least 10", "history.retain_newest must not be larger", "history.token_budget must be a number", `line 13: unknown key "speed"`, "models.default must name one",
		"models.fast.provider is required", "models.fast: timeout, max_tokens and budget_tokens must not be negative",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%s", want, err)
		}
	}
}

func TestWrongTypesNameTheirKeyAndTheForm(t *testing.T) {
	last := fmt.Sprintf("line %d: ", strings.Count(wholeConfig, "\n")+1)
	for text, want := range map[string]string{
		"retries: many":                           "retries must be a whole number",
		"retry_delay: 5":                          "retry_delay must be a duration such as 30s",
		"budgets: {price: cheap}":                 "budgets.price must be a number",
		"tls: {proxy: maybe}":                     "tls.proxy must be true or false",
		"proxies: 10.0.0.5":                       "proxies must be a list such as [a, b]",
		"allowed_origins: [{a: b}]":               "allowed_origins[0] must be one text",
		"metrics: hunter2":                        "metrics must be keys with values (key: value)",
		"models: {fast: {max_tokens: [1]}}":       "models.fast.max_tokens must be a whole number",
		"mcp_file: {path: hunter2}":               "mcp_file must be one text",
		"databases: {hr: \"postgres://hunter2\"}": "databases.hr must be keys with values (key: value)",
		"tasks: {workspaces: [{people: ann}]}":    "tasks.workspaces[0].people must be a list such as [a, b]",
	} {
		_, err := loadText(t, wholeConfig+text+"\n", keysFromEnvironment, ForGateway)
		if err == nil || !strings.Contains(err.Error(), last+want+"\n") && !strings.HasSuffix(err.Error(), last+want) {
			t.Errorf("%s: %q is missing in %v", text, want, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "wrong type")) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestUnknownNamesOfServers(t *testing.T) {
	text := strings.Replace(wholeConfig, "  hr: {", "  Hr: {", 1)
	text = strings.Replace(text, `sealing: {gateway: ["${SECRET}"]`, `sealing: {gateway: ["${SECRET}"], hrr: [x]`, 1) + "databases: {github: {url: sqlite:x}}\n"
	c, err := loadText(t, text, keysFromEnvironment, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.UnknownNames([]string{"hr", "sales"}), "\n")
	for _, want := range []string{
		`line 11: servers.Hr: there is no server "Hr" of ours, which are hr, sales. Connected servers are in the file that mcp_file names`,
		`line 13: databases.github: there is no server "github"`, `line 8: keys.sealing.hrr: there is no server "hrr" of ours, which are gateway, hr, sales`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Count(got, "\n") != 2 {
		t.Errorf("got:\n%s\nwant three", got)
	}
}

// TestADuplicateKeyIsTheOnlyProblem: the rest of its mapping is still read.
func TestADuplicateKeyIsTheOnlyProblem(t *testing.T) {
	for text, want := range map[string]string{
		wholeConfig + "listen: 127.0.0.1:3200\n": `line 13: the key "listen" is there already, in line 1: leave one out`,
		strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  url: http://localhost:3181\n", 1): `line 6: the key "url" is there already, in line 4: leave one out`,
	} {
		_, err := loadText(t, text, keysFromEnvironment, ForGateway)
		if err == nil || !strings.HasSuffix(err.Error(), "is not valid:\n  "+want) {
			t.Errorf("got %v, want only %q", err, want)
		}
	}
}

func TestEnvironmentCannotBecomeYAML(t *testing.T) {
	c, err := loadText(t, wholeConfig, func(name string) string {
		if name == "SECRET" {
			return "x\nlisten: 0.0.0.0:1 # a secret with yaml inside"
		}
		return keysFromEnvironment(name)
	}, ForGateway)
	if err != nil || c.Listen != "127.0.0.1:3100" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestDocumentedVariablesOverrideAndAreReported(t *testing.T) {
	c, err := loadText(t, wholeConfig, func(name string) string {
		switch name {
		case "PORT":
			return "4100"
		case "REDIS_HOST":
			return "127.0.0.2"
		case "MAX_TOKEN_COUNT":
			return "9000"
		}
		return keysFromEnvironment(name)
	}, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:4100" || c.Redis.URL != "redis://127.0.0.2:6379" || !slices.Equal(c.Overrides(), []string{"PORT", "REDIS_HOST", "MAX_TOKEN_COUNT"}) || c.History.TokenBudget != 9000 {
		t.Errorf("got %s, %s, %v", c.Listen, c.Redis.URL, c.Overrides())
	}
}

// A model's key and address come from the file, else from the variables of its
// vendor; OpenAI's key goes to no other address.
func TestModelsTakeKeysOfTheEnvironment(t *testing.T) {
	environment := map[string]string{"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key", "GEMINI_API_KEY": "g-key", "ANTHROPIC_BASE_URL": "https://proxy.example"}
	text := wholeConfig + `
models:
  default: mine
  mine: {provider: anthropic, model: c-1}
  filed: {provider: anthropic, model: c-2, api_key: f-key, base_url: "https://own.example", temperature: 0.2, max_tokens: 9}
  google: {provider: gemini, model: g-2}
  theirs: {provider: openai, model: g-1}
  local: {provider: openai, model: q-1, base_url: "http://127.0.0.1:11434/v1"}
`
	c, err := loadText(t, text, func(name string) string { return cmp.Or(environment[name], keysFromEnvironment(name)) }, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mine": "a-key ANTHROPIC_API_KEY https://proxy.example", "filed": "f-key models.filed.api_key https://own.example",
		"google": "g-key GEMINI_API_KEY ", "theirs": "o-key OPENAI_API_KEY ", "local": " models.local.api_key http://127.0.0.1:11434/v1",
	} {
		if m := c.Models.ByName[name]; m.APIKey+" "+m.KeyName+" "+m.BaseURL != want {
			t.Errorf("%s: got %s %s %s, want %s", name, m.APIKey, m.KeyName, m.BaseURL, want)
		}
	}
	last := fmt.Sprintf("line %d: ", strings.Count(wholeConfig, "\n")+1)
	for _, wrong := range []struct{ text, want string }{
		{"retries: 11", "retries must be between 0 and 10"},
		{"retry_delay: 31s", "retry_delay must be between 0 and 30s"},
		{"fallback: nobody", "fallback must name one of the models"},
		{"models: {default: a, a: {provider: rehearsal, price: {currency: USD}}, b: {provider: rehearsal, price: {currency: EUR}}}", "in one currency"},
		{"models: {m: {provider: rehearsal, price: {input: 3}}}", last + "models.m.price.currency must be a code"},
		{"models: {m: {provider: rehearsal, price: {input: -3, currency: USD}}}", "models.m.price must not be negative"},
		{"models: {m: {provider: rehearsal, tools: none}}", last + "models.m.tools must be native or blob"},
		{"models: {m: {provider: openai}}", "models.m.model is required"},
		{"models: {m: {provider: openai, model: x, temperature: 3}}", "between 0 and 2"},
		{"models: {m: {provider: openai, model: x, base_url: \"http://models.example\"}}", "models.m.base_url"},
	} {
		if _, err := loadText(t, wholeConfig+wrong.text+"\n", keysFromEnvironment, ForGateway); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: got %v, want %q", wrong.text, err, wrong.want)
		}
	}
}

// TestOwnClientMayConfirmByDefault: an empty list in the file stays empty.
func TestOwnClientMayConfirmByDefault(t *testing.T) {
	for more, want := range map[string]string{
		"": "[countersign] []", "  client_id: page\n": "[page] []", "  confirm_clients: []\n": "[] []",
		"  confirm_clients: [a, b]\n":                               "[a b] []",
		"  additional_issuers: [{url: \"https://p\", audience: a}]": "[countersign] [[]]",
	} {
		text := strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n"+strings.TrimSuffix(more, "\n")+"\n", 1)
		c, err := loadText(t, text, keysFromEnvironment, ForGateway)
		if err != nil {
			t.Fatal(err)
		}
		additional := make([][]string, len(c.Issuer.Additional))
		for i, issuer := range c.Issuer.Additional {
			additional[i] = issuer.ConfirmClients
		}
		if got := fmt.Sprint(c.Issuer.ConfirmClients, " ", additional); got != want {
			t.Errorf("%q: got %s, want %s", more, got, want)
		}
	}
}

func TestWeakeningSettingsAreListed(t *testing.T) {
	c, err := loadText(t, wholeConfig, keysFromEnvironment, ForGateway)
	if err != nil || len(c.Weakened()) != 0 {
		t.Fatalf("got %v, %v, want none", c.Weakened(), err)
	}
	text := strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  trust_email: true\n  confirm_without_scope: true\n"+
		"  additional_issuers: [{url: \"https://p\", audience: a, trust_email: true}]\n", 1)
	text = strings.Replace(text, "timeout: 5s}", "timeout: 5s, execute_directly: true}", 1)
	c, err = loadText(t, text, keysFromEnvironment, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, setting := range c.Weakened() {
		name, _, _ := strings.Cut(setting, ":")
		names = append(names, name)
	}
	want := []string{"issuer.trust_email", "issuer.confirm_without_scope", "issuer.additional_issuers[0].trust_email", "servers.hr.execute_directly"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// A person without a password is of this machine alone.
func TestLocalUserNeedsAnIssuerOnThisMachine(t *testing.T) {
	named := strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  local_user: nina.patel\n", 1)
	for issuer, allowed := range map[string]bool{"http://localhost:3180": true, "https://127.0.0.1": true, "https://id.example.com": false, "https://localhost.example.com": false} {
		c, err := loadText(t, strings.Replace(named, "http://localhost:3180", issuer, 1), keysFromEnvironment, ForGateway)
		switch {
		case allowed && (err != nil || c.Issuer.LocalUser != "nina.patel"):
			t.Errorf("%s: got %+v, %v", issuer, c, err)
		case !allowed && (err == nil || !strings.Contains(err.Error(), "line 6: issuer.local_user needs a development issuer on this machine")):
			t.Errorf("%s: got %v", issuer, err)
		}
	}
}

func TestErrorsNeverContainValues(t *testing.T) {
	text := strings.Replace(wholeConfig, "listen: 127.0.0.1:3100", "log: hunter2-secret", 1)
	_, err := loadText(t, text, keysFromEnvironment, ForGateway)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(wholeConfig)
	f.Add("a: [")
	f.Add("listen: {a: b}\nservers: [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, problems := decodeConfig([]byte(text), keysFromEnvironment)
		if len(problems) == 0 {
			c.defaults()
			_ = c.problems()
		}
	})
}

func TestEachProcessHasItsOwnKeys(t *testing.T) {
	hr := strings.Replace(wholeConfig, `  signing: ["${KEY}"]`+"\n", "", 1)
	hr = strings.Replace(hr, "gateway: [", "hr: [", 1) + "gateway: {url: http://localhost:3100}\ndatabases: {hr: {url: sqlite:x}, sales: {url: sqlite:y}}\n"
	if _, err := loadText(t, hr, keysFromEnvironment, ForServers([]string{"hr"})); err != nil {
		t.Errorf("a server's own file: %v", err)
	}
	for name, test := range map[string]struct {
		text string
		need func(*Config) []string
		want string
	}{
		"successor":               {wholeConfig + "internal_keys: []\n", ForTokens, "line 13: internal_keys was replaced by keys.signing, private keys of the gateway only, and by keys.sealing"},
		"gateway without signing": {hr, ForGateway, "line 6: keys.signing is required"},
		"gateway without secret":  {hr, ForGateway, "line 7: keys.sealing.gateway is required"},
		"server without secret":   {hr, ForServers([]string{"hr", "sales"}), "line 7: keys.sealing.sales is required"},
		"server with signing":     {wholeConfig, ForServers([]string{"gateway"}), "line 7: keys.signing belongs in the gateway's file only"},
		"origin with a path":      {wholeConfig + "allowed_origins: [https://a.example.com, https://b.example.com/x]\n", ForTokens, "line 13: allowed_origins must be origins"},
		"authority of the first":  {strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  roles_allowed: [x]\n", 1), ForTokens, `line 6: unknown key "roles_allowed"`},
		"pattern of domains":      {strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  additional_issuers:\n    - {url: https://a.example, audience: x, email_domains: ['*.example']}\n", 1), ForTokens, "line 7: email_domains must be domains"},
		"empty domain":            {strings.Replace(wholeConfig, "  audience: gateway\n", "  audience: gateway\n  additional_issuers:\n    - {url: https://a.example, audience: x, email_domains: ['']}\n", 1), ForTokens, "line 7: email_domains must be domains"},
		"path of the address":     {strings.Replace(wholeConfig, "public_url: http://localhost:3100", "public_url: http://localhost:3100/chat", 1), ForTokens, "line 2: public_url must be a scheme and a host"},
		"query of the address":    {strings.Replace(wholeConfig, "public_url: http://localhost:3100", "public_url: http://localhost:3100/?a=b", 1), ForTokens, "line 2: public_url must be a scheme and a host"},
		"path of the pages":       {wholeConfig + "gateway: {public_url: http://localhost:3100/chat}\n", ForTokens, "line 13: gateway.public_url must be a scheme and a host"},
		"negative deadline":       {strings.Replace(wholeConfig, "timeout: 5s", "timeout: -5s", 1), ForTokens, "line 11: servers.hr.timeout must not be negative"},
		"negative for writes":     {strings.Replace(wholeConfig, "timeout: 5s", "write_timeout: -5s", 1), ForTokens, "line 11: servers.hr.write_timeout must not be negative"},
		"one address of two":      {strings.Replace(wholeConfig, "servers:\n", "servers:\n  finance: {url: \"http://127.0.0.1:3101/\"}\n", 1), ForTokens, "line 12: servers.hr.url is that of servers.finance"},
		"negative size":           {strings.Replace(wholeConfig, "path: /tmp/audit.jsonl", "path: /tmp/audit.jsonl, rotate_size: -1", 1), ForTokens, "audit.rotate_size and audit.rotate_age must not be negative"},
		"log twice":               {strings.Replace(wholeConfig, "path: /tmp/audit.jsonl", "path: /tmp/audit.jsonl, others: [/tmp/hr.jsonl, /tmp/./audit.jsonl]", 1), ForTokens, "audit.others[1] must be the path"},
		"log without a path":      {strings.Replace(wholeConfig, "path: /tmp/audit.jsonl", "path: /tmp/audit.jsonl, others: ['']", 1), ForTokens, "audit.others[0] must be the path"},
		"half of a certificate":   {wholeConfig + "tls: {cert: x}\n", ForTokens, "line 13: tls needs both files, cert and key"},
		"shared secret":           {strings.Replace(wholeConfig, `gateway: ["${SECRET}"]`, `gateway: ["${SECRET}"], hr: [x, "${SECRET}"]`, 1), ForTokens, "line 8: keys.sealing.hr has a secret of keys.sealing.gateway"},
	} {
		_, err := loadText(t, test.text, keysFromEnvironment, test.need)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q is missing in %v", name, test.want, err)
		}
		if err != nil && strings.Contains(err.Error(), "long enough") {
			t.Errorf("%s: the error has a secret: %v", name, err)
		}
	}
}

func TestTheFileOfConnectedServersByDocumentNames(t *testing.T) {
	with := func(path, timeout string) func(string) string {
		return func(name string) string {
			return cmp.Or(keysFromEnvironment(name), map[string]string{"MCP_JSON_PATH": path, "DEFAULT_TOOL_TIMEOUT_MS": timeout}[name])
		}
	}
	c, err := loadText(t, wholeConfig, with("/srv/mcp.json", "7000"), ForGateway)
	if err != nil || c.MCPFile != "/srv/mcp.json" || c.ToolTimeout.Seconds() != 7 {
		t.Errorf("got %v and %+v", err, c)
	}
	for _, bad := range []string{"0", "-1", "1.5", "7s", "600001"} {
		if _, err := loadText(t, wholeConfig, with("", bad), ForGateway); err == nil || !strings.Contains(err.Error(), "DEFAULT_TOOL_TIMEOUT_MS must be") {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}
