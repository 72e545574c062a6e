package testkit_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"os"
)

const module = "countersign.dev/"

// arrows is the map of the house: what each room may import of ours, and which
// outside libraries (by prefix) are its own business. A room that needs another
// arrow changes this table and says why in one sentence.
var arrows = map[string]struct{ ours, outside []string }{
	"internal/fault":  {},
	"internal/access": {ours: []string{"fault"}},
	"internal/result": {ours: []string{"access", "fault"}},
	// seal is a leaf of its own because cursors, cookies and state handles of four rooms share one way of sealing.
	"internal/seal": {},
	// bodies, tool inputs and arguments of foreign tools are read by the same rules.
	"internal/strictjson": {outside: []string{"github.com/go-json-experiment/json"}},
	"internal/company":    {},
	// confirm journals each step of a confirmation's life itself, so that own and third-party tools leave the same record.
	"internal/confirm":        {ours: []string{"access", "audit", "fault"}},
	"internal/tool":           {ours: []string{"access", "audit", "confirm", "fault", "result", "seal", "strictjson", "telemetry"}, outside: []string{"github.com/invopop/jsonschema", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	"internal/mcpserver":      {ours: []string{"access", "fault", "httpx", "result", "seal", "telemetry", "tool"}, outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/domain/hr":      {ours: []string{"access", "company", "confirm", "database", "fault", "result", "tool"}},
	"internal/domain/finance": {ours: []string{"access", "company", "confirm", "database", "fault", "result", "tool"}},
	"internal/domain/sales":   {ours: []string{"access", "company", "confirm", "fault", "result", "sqlite", "tool"}, outside: []string{"go.mongodb.org/mongo-driver/v2"}},
	"internal/domain/support": {ours: []string{"access", "company", "confirm", "fault", "result", "sqlite", "tool"}, outside: []string{"github.com/elastic/"}},
	"internal/agent":          {ours: []string{"access", "fault", "result", "telemetry"}, outside: []string{"golang.org/x/sync"}},
	"internal/llm":            {ours: []string{"agent", "fault", "llm/rehearsal"}},
	// rehearsal reads the answers that tools gave, so it knows the envelope.
	"internal/llm/rehearsal": {ours: []string{"agent", "fault", "result"}},
	"internal/upstream":      {ours: []string{"access", "agent", "audit", "confirm", "fault", "result", "upstream/mcpsession", "upstream/own"}, outside: []string{"golang.org/x/sync"}},
	// both kinds of servers keep sessions open between calls and must know whether a call was sent.
	"internal/upstream/mcpsession": {ours: []string{"result"}, outside: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/sync"}},
	"internal/upstream/own":        {ours: []string{"access", "fault", "result", "telemetry", "upstream/mcpsession"}, outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/auth":                {ours: []string{"access", "fault", "seal"}, outside: []string{"github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "golang.org/x/oauth2", "golang.org/x/sync"}},
	"internal/session":             {ours: []string{"access", "audit", "auth", "fault", "result", "seal"}},
	// a conversation is a log in state, and reading it can end in state's own words (a gap).
	"internal/gateway":  {ours: []string{"state", "access", "agent", "audit", "auth", "confirm", "fault", "httpx", "mcpserver", "result", "session", "telemetry"}},
	"internal/database": {ours: []string{"access", "confirm", "fault"}, outside: []string{"github.com/jackc/pgx/v5"}},
	// two domains embed SQLite; opening it, its transactions and its receipts are the same for both.
	"internal/sqlite": {ours: []string{"access", "confirm", "fault"}, outside: []string{"modernc.org/sqlite"}},
	"internal/state":  {ours: []string{"access", "confirm", "fault"}, outside: []string{"github.com/redis/go-redis/v9"}},
	// an event takes its request and trace ids from the context.
	"internal/audit":           {ours: []string{"access", "fault", "telemetry"}},
	"internal/httpx":           {ours: []string{"access", "fault", "strictjson", "telemetry"}},
	"internal/telemetry":       {ours: []string{"access", "fault"}},
	"internal/embedded":        {ours: []string{"access", "fault"}, outside: []string{"github.com/alicebob/miniredis/v2", "github.com/xi2/xz", "github.com/jackc/pgx/v5"}},
	"internal/embedded/issuer": {ours: []string{"access", "fault"}, outside: []string{"github.com/go-jose/go-jose"}},
	"web":                      {},
	// app builds what each command starts, so it knows every room but the terminal's.
	"internal/app": {ours: []string{
		"access", "agent", "audit", "auth", "company", "config", "confirm", "database", "domain/finance", "domain/hr", "domain/sales", "domain/support",
		"embedded", "embedded/issuer", "fault", "gateway", "httpx", "llm", "mcpserver", "result", "seal", "session", "state", "telemetry", "tool", "upstream", "web",
	}},
	"internal/config": {outside: []string{"go.yaml.in/yaml/v3"}},
	"internal/client": {ours: []string{"fault", "result"}},
	"cmd/countersign": {ours: []string{"app", "client", "fault"}},
}

// everything may be imported by these.
var unbound = []string{"internal/testkit"}

type goPackage struct {
	ImportPath string
	Doc        string
	Imports    []string
	GoFiles    []string
	Dir        string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,GoFiles,Dir", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		all = append(all, p)
	}
	return all
}

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(unbound, p.ImportPath) || strings.HasPrefix(p.ImportPath, "internal/testkit/") {
			continue
		}
		room, known := arrows[p.ImportPath]
		if !known {
			t.Errorf("%s is not on the map of the house", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				if !slices.Contains(room.ours, strings.TrimPrefix(ours, "internal/")) {
					t.Errorf("%s may not import %s", p.ImportPath, ours)
				}
			} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") && !hasPrefix(imported, room.outside) {
				t.Errorf("%s may not import %s", p.ImportPath, imported)
			}
		}
	}
}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
}

func TestEveryRoomSaysWhatItOwns(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// sourceRule forbids a pattern outside of the places that own it.
type sourceRule struct {
	pattern *regexp.Regexp
	allowed []string // prefixes of import paths
	why     string
}

var sourceRules = []sourceRule{
	{regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Exit)\(|\blog\.Fatal|"flag"`), []string{"cmd/", "internal/testkit"}, "only cmd reads flags and the environment or ends the process"},
	{regexp.MustCompile(`\baccess\.NewPrincipal\(`), []string{"internal/auth", "internal/testkit"}, "only auth makes principals"},
	{regexp.MustCompile(`(?m)^func init\(\)`), nil, "an explicit list beats a registry"},
	{regexp.MustCompile(`\btime\.Sleep\(`), nil, "waiting needs a context or a clock"},
}

func TestSourceRules(t *testing.T) {
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range sourceRules {
				if found := rule.pattern.Find(text); found != nil && !hasPrefix(p.ImportPath, rule.allowed) {
					t.Errorf("%s/%s has %q: %s", p.ImportPath, file, found, rule.why)
				}
			}
		}
	}
}
