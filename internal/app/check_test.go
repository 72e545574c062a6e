package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/config"
	"countersign.dev/internal/dependency"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
)

// respond starts a server that gives every request the same answer.
func respond(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// closedAddress is an address where nothing listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	return "http://127.0.0.1:" + testkit.FreePort(t)
}

// issuerThat serves discovery with the given issuer name ("": its own address).
func issuerThat(t *testing.T, name, keys string) string {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, cmp.Or(name, s.URL), s.URL+"/keys")
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, keys) })
	return s.URL
}

const oneKey = `{"keys":[{"kid":"1"}]}`

func TestCheckReportsEachDependency(t *testing.T) {
	redis := miniredis.RunT(t)
	folder := t.TempDir()
	good := config.Config{
		Audit: config.Audit{Path: filepath.Join(folder, "audit.jsonl")}, Redis: config.Redis{URL: "redis://" + redis.Addr()},
		Issuer: signingIn(issuerThat(t, "", oneKey)),
	}
	empty, sales := config.Database{URL: "sqlite:" + filepath.Join(t.TempDir(), "empty.db")}, storage.Sales()
	_, err := sales.Migrate(t.Context(), empty)
	must(t, err)
	for _, row := range []struct {
		name string
		well bool
		line string        // expected in the output
		conf config.Config // besides the valid part
	}{
		{"log to be made", true, "audit log can be written", config.Config{Audit: config.Audit{Path: filepath.Join(folder, "new.jsonl")}}},
		{"log without a folder", false, "audit log failed: open", config.Config{Audit: config.Audit{Path: filepath.Join(folder, "none", "new.jsonl")}}},
		{"log that is a folder", false, "change audit.path", config.Config{Audit: config.Audit{Path: folder}}},
		{"another process's log", true, "is that of hr and can be read up to event 2", config.Config{Audit: config.Audit{Others: []string{logOf(t, "hr")}}}},
		{"another process's log to be made", true, "is not there yet", config.Config{Audit: config.Audit{Others: []string{filepath.Join(folder, "later.jsonl")}}}},
		{"another process's log that is none", false, "the head is missing", config.Config{Audit: config.Audit{Others: []string{folder}}}},
		{"Redis", true, "redis answers", config.Config{}},
		{"no Redis", false, "redis failed: The state store cannot be reached: redis ping: dial tcp", config.Config{Redis: config.Redis{URL: strings.Replace(closedAddress(t), "http", "redis", 1)}}},
		{"issuer", true, "answers; keys: 1", config.Config{}},
		{"issuer of another name", false, `its issuer is "https://other.example"`, config.Config{Issuer: signingIn(issuerThat(t, "https://other.example", oneKey))}},
		{"issuer without keys", false, "holds no keys", config.Config{Issuer: signingIn(issuerThat(t, "", `{"keys":[]}`))}},
		{"issuer whose keys are none", false, "its keys cannot be fetched", config.Config{Issuer: signingIn(issuerThat(t, "", "<html>"))}},
		{"no issuer", false, "Start the issuer, or change issuer.url", config.Config{Issuer: signingIn(closedAddress(t))}},
		{"additional issuer", false, "holds no keys", config.Config{Issuer: config.SigningIn{Additional: []config.Additional{{Issuer: config.Issuer{URL: issuerThat(t, "", `{}`)}}}}}},
		{"gateway", true, "gateway ready", config.Config{Gateway: config.Gateway{URL: respond(t, 200, `{"status":"ready"}`)}}},
		{"gateway by its public address", true, "gateway ready", config.Config{PublicURL: respond(t, 200, `{"status":"ready"}`)}},
		{"no gateway", false, `Is "countersign gateway" running?`, config.Config{Gateway: config.Gateway{URL: closedAddress(t)}}},
		{"server", true, "server hr ready", servers("hr", respond(t, 200, `{"status":"ready"}`))},
		{"no server", false, `Is "countersign serve hr" running?`, servers("hr", closedAddress(t))},
		{"server without data", false, "503 Service Unavailable: This server cannot answer calls", servers("hr", respond(t, 503, `{"message":"This server cannot answer calls at the moment."}`))},
		{"another program", false, "something else answers", servers("hr", respond(t, 200, `{}`))},
		{"a page", false, "answered no JSON", servers("hr", respond(t, 200, `<html>`))},
		{"a redirect", false, "302 Found", servers("hr", respond(t, 302, ``))},
		{"embeddings", true, "embeddings answers; small makes vectors of 2 numbers", embedding(respond(t, 200, `{"data":[{"index":0,"embedding":[1,2]}]}`))},
		{"no embeddings", false, "or change codesearch.embeddings", embedding(closedAddress(t))},
		{"embeddings that fail", false, "answered with status 500", embedding(respond(t, 500, ``))},
		{"no database", false, "data of hr failed: The database cannot be reached: failed to connect to", config.Config{Databases: map[string]config.Database{"hr": {URL: strings.Replace(closedAddress(t), "http://", "postgres://hr:s3cret@", 1) + "/hr"}}}},
		{"nothing seeded", false, `Run "countersign seed"`, config.Config{Databases: map[string]config.Database{"sales": empty}}},
		{"nothing indexed", false, "build the index with countersign index", config.Config{Databases: map[string]config.Database{"codesearch": {
			URL: config.IndexScheme + t.TempDir(), Code: &config.CodeSearch{Repositories: []config.CodeRepository{{Path: t.TempDir(), Name: "app"}}},
		}}}},
		{"no rows", false, `data of sales failed: stat`, config.Config{Databases: map[string]config.Database{"sales": {URL: "sqlite:" + filepath.Join(folder, "sales.db")}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out strings.Builder
			well := dependency.Print(t.Context(), &out, dependencies(besides(good, row.conf)))
			printed := strings.Join(strings.Fields(out.String()), " ")
			if !strings.Contains(printed, row.line) {
				t.Errorf("%q is missing in:\n%s", row.line, out.String())
			}
			if strings.Contains(printed, "contact support") || strings.Contains(printed, "s3cret") {
				t.Errorf("an operator reads:\n%s", printed)
			}
			if failures := strings.Count(printed, "failed: "); well != row.well || (failures == 0) != row.well || failures > 1 {
				t.Errorf("well is %v, want %v:\n%s", well, row.well, out.String())
			}
		})
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// logOf is the audit log of a process.
func logOf(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, &audit.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(t.Context(), audit.Event{Kind: audit.Turn}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// besides is a valid configuration with parts replaced.
func besides(good, c config.Config) *config.Config {
	c.Audit.Path = cmp.Or(c.Audit.Path, good.Audit.Path)
	c.Redis.URL = cmp.Or(c.Redis.URL, good.Redis.URL)
	c.Issuer.URL = cmp.Or(c.Issuer.URL, good.Issuer.URL)
	return &c
}

func servers(name, url string) config.Config {
	return config.Config{Servers: map[string]config.Server{name: {URL: url}}}
}

func embedding(url string) config.Config {
	return config.Config{CodeSearch: config.CodeSearch{Embeddings: config.Embeddings{BaseURL: url, Model: "small"}}}
}

func TestCheckTakesNoLockOfARunningProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if said, err := auditWritable(path); err != nil || said != "can be written" {
		t.Errorf("got %q, %v", said, err)
	}
	if err := log.Append(t.Context(), audit.Event{Kind: audit.Turn}); err != nil {
		t.Errorf("the process cannot write any more: %v", err)
	}
}

func TestCheckHasATimeout(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	conf := config.Config{Issuer: signingIn(silent.URL), Gateway: config.Gateway{URL: silent.URL}, Servers: map[string]config.Server{"hr": {URL: silent.URL}}}
	var out strings.Builder
	if dependency.Print(ctx, &out, dependencies(&conf)) {
		t.Error("a dependency that does not answer was reported as usable")
	}
	if n := strings.Count(out.String(), "deadline exceeded"); n < 3 {
		t.Errorf("reported %d times:\n%s", n, out.String())
	}
}

func signingIn(url string) config.SigningIn {
	return config.SigningIn{Issuer: config.Issuer{URL: url}}
}
