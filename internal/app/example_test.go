package app

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
)

// The example configuration and its page are compared with the code.

const (
	repository  = "../.."
	exampleFile = repository + "/deploy/countersign.example.yaml"
)

// exampleEnvironment has the variables that the example uses.
func exampleEnvironment(t *testing.T) func(string) string {
	t.Helper()
	key, err := auth.NewKey()
	must(t, err)
	values := map[string]string{
		"COUNTERSIGN_SIGNING_KEY":       key,
		"COUNTERSIGN_GATEWAY_SECRET":    rand.Text() + rand.Text(),
		"COUNTERSIGN_HR_SECRET":         rand.Text() + rand.Text(),
		"COUNTERSIGN_FINANCE_SECRET":    rand.Text() + rand.Text(),
		"COUNTERSIGN_SALES_SECRET":      rand.Text() + rand.Text(),
		"COUNTERSIGN_SUPPORT_SECRET":    rand.Text() + rand.Text(),
		"COUNTERSIGN_TASKS_SECRET":      rand.Text() + rand.Text(),
		"COUNTERSIGN_CLIENT_SECRET":     "client",
		"COUNTERSIGN_REDIS_URL":         "redis://localhost:6379",
		"COUNTERSIGN_HR_PASSWORD":       "hr",
		"COUNTERSIGN_FINANCE_PASSWORD":  "finance",
		"COUNTERSIGN_ADMIN_PASSWORD":    "admin",
		"COUNTERSIGN_AUDIT":             "audit.jsonl",
		"COUNTERSIGN_CODESEARCH_SECRET": rand.Text() + rand.Text(),
	}
	return func(name string) string { return values[name] }
}

// needEverything checks the requirements of all commands together. A server's
// file has no signing key, and is otherwise the same.
func needEverything(c *config.Config) []string {
	var names []string
	for _, d := range domains() {
		names = append(names, d.name)
	}
	server := *c
	server.Keys.Signing = nil
	return slices.Concat(config.ForGateway(c), config.ForServers(names)(&server), needAdmin(c))
}

func TestExampleConfigurationServesEveryCommand(t *testing.T) {
	c, err := config.Load(exampleFile, exampleEnvironment(t), needEverything)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keysOf(c); err != nil {
		t.Error(err)
	}
	for _, d := range domains() {
		if c.Servers[d.name].URL == "" || c.Databases[d.name].URL == "" {
			t.Errorf("%s is not in the example", d.name)
		}
	}
	if c.Issuer.Additional[0].Audience != "gateway" || c.Servers["hr"].WriteTimeout.Seconds() != 10 {
		t.Errorf("got %+v", c)
	}
}

// A configuration of when one list held user names and roles says what to change.
func TestRoleAmongPeopleIsRefused(t *testing.T) {
	text := read(t, "deploy/countersign.example.yaml")
	for people, want := range map[string]string{
		"[nina.patel, marcus.johnson]":                    "",
		"[nina.patel, executive]":                         "tasks.workspaces[0].people has the role executive: list it under tasks.workspaces[0].roles",
		"[support-read]":                                  "tasks.workspaces[0].people has the role support-read",
		"[executives, employee.of.the.month, hr-readers]": "",
	} {
		file := filepath.Join(t.TempDir(), "countersign.yaml")
		changed := strings.Replace(text, "people: [nina.patel, marcus.johnson]", "people: "+people, 1)
		must(t, os.WriteFile(file, []byte(changed), 0o600))
		_, err := ConfigOptions{File: file, Getenv: exampleEnvironment(t)}.load(config.ForChecking)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", people, err, want)
		}
	}
}

func TestExampleConfigurationAndItsPageNameEveryKey(t *testing.T) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(read(t, "deploy/countersign.example.yaml")), &root); err != nil {
		t.Fatal(err)
	}
	page := read(t, "docs/configuration.md")
	for _, path := range keyPaths(reflect.TypeFor[config.Config](), "") {
		if !present(root.Content[0], strings.Split(path, ".")) {
			t.Errorf("%s is not in the example", path)
		}
		if !strings.Contains(page, "`"+path+"`") {
			t.Errorf("%s is not in docs/configuration.md", path)
		}
	}
}

// keyPaths lists every key of a type, as people write them: "servers.NAME.url",
// and "additional_issuers[].url". A type within itself is entered once.
func keyPaths(t reflect.Type, prefix string) (paths []string) {
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		path, inner := prefix+key, t.Field(i).Type
		switch {
		case key == ",inline" && inner.Kind() == reflect.Struct:
			if !strings.Contains(prefix, "[]") { // else the keys are those of another entry
				paths = append(paths, keyPaths(inner, prefix)...)
			}
			continue
		case key == ",inline": // any other name is a key, too
			path, inner = prefix+"NAME", inner.Elem()
		case inner.Kind() == reflect.Map:
			path, inner = path+".NAME", inner.Elem()
		case inner.Kind() == reflect.Slice:
			path, inner = path+"[]", inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != t {
			paths = append(paths, keyPaths(inner, path+".")...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

// present reports whether a path leads to a value.
func present(n *yaml.Node, path []string) bool {
	if len(path) == 0 {
		return true
	}
	key, list := strings.CutSuffix(path[0], "[]")
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key && key != "NAME" {
			continue
		}
		value := n.Content[i+1]
		if list {
			if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
				return false
			}
			value = value.Content[0]
		}
		if present(value, path[1:]) {
			return true
		}
	}
	return false
}

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(fmt.Errorf("a document is missing: %w", err))
	}
	return string(text)
}
