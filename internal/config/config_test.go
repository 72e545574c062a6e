package config

import (
	"os"
	"path/filepath"
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
internal_keys:
  - key: ${KEY}
    secret: ${SECRET}
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
	if c.Servers["hr"].Timeout.Seconds() != 5 || c.InternalKeys[0].Key != "pem" || c.Models.Default != "rehearsal" || c.Models.ByName["rehearsal"].Provider != "rehearsal" {
		t.Errorf("got %+v", c)
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	text := strings.Replace(wholeConfig, "listen:", "lisen:", 1)
	text = strings.Replace(text, "timeout: 5s", "timeout: soon, retries: 3", 1)
	text = strings.Replace(text, "audit: {path: /tmp/audit.jsonl}\n", "", 1)
	text = strings.Replace(text, "  audience: gateway\n", "", 1)
	text += "model: {timeout: 1s}\nmodels: {default: other, fast: {timeout: -1s, speed: 3}}\n"
	_, err := loadText(t, text, noEnvironment, ForGateway)
	if err == nil {
		t.Fatal("a wrong configuration was accepted")
	}
	for _, want := range []string{
		`line 1: unknown key "lisen"`, `line 10: unknown key "retries"`, "line 10: the value has the wrong type",
		"line 6: the environment has no KEY", "line 7: the environment has no SECRET", "audit.path is required", "needs an audience",
		"line 11: model was replaced by models", `line 12: unknown key "speed"`, "models.default must name one",
		"models.fast.provider is required", "models.fast: timeout and budget_tokens must not be negative",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%s", want, err)
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
			return "cache"
		}
		return keysFromEnvironment(name)
	}, ForGateway)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:4100" || c.Redis.URL != "redis://cache:6379" || len(c.Overrides()) != 3 {
		t.Errorf("got %s, %s, %v", c.Listen, c.Redis.URL, c.Overrides())
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
