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

	"countersign.dev/internal/testkit"
)

const module = "countersign.dev/"

// arrows is the map of the rooms: what each room may import of ours, and which
// outside libraries (by prefix) are its own business. A room that needs another
// arrow changes this table and says why in one sentence.
var arrows = map[string]struct{ ours, outside []string }{
	"internal/fault":  {},
	"internal/access": {ours: []string{"fault"}},
	// an answer of a megabyte is marked and clipped token by token, without decoding it; the words of a field say whether it names its row.
	"internal/result": {ours: []string{"english", "fault", "strictjson"}, outside: []string{"github.com/go-json-experiment/json"}},
	// seal is a leaf of its own because cursors, cookies and state handles of four rooms share one way of sealing.
	"internal/seal": {},
	// bodies, tool inputs, arguments of foreign tools and keys of issuers are read by the same rules.
	"internal/strictjson": {outside: []string{"github.com/go-json-experiment/json"}},
	// most inputs are checked, made canonical and decoded in one walk; the walk knows no schema, and no tool.
	"internal/flat":      {outside: []string{"github.com/go-json-experiment/json"}},
	"internal/deadline":  {},
	"internal/plaintext": {},
	// searches and planners agree on what is the same word.
	"internal/english": {outside: []string{"github.com/blevesearch/snowballstem"}},
	"internal/pattern": {},
	// figures over rows, and what they are called: answers in sentences and orders by name need them, the codec does not.
	"internal/facts": {ours: []string{"english", "result"}},
	// what can be had again is kept up to a bound.
	"internal/memo":       {},
	"internal/toolsearch": {ours: []string{"english", "result", "schema"}},
	// a vocabulary of a language model, for budgets.
	"internal/tokens": {outside: []string{"github.com/tiktoken-go/tokenizer"}},
	// what a whole cent is, and how an amount is written, is one rule for all domains.
	"internal/money": {},
	// months, quarters and years are the same in questions, in answers, in sample data and in the evaluation.
	"internal/calendar": {ours: []string{"english"}},
	"internal/company":  {ours: []string{"calendar"}},
	// confirm journals each step of a confirmation's life itself, so that own and third-party tools leave the same record.
	// and it makes the digest of what it shows, so that no caller can forget it.
	"internal/confirm": {ours: []string{"access", "audit", "audit/rowid", "fault", "quota", "result"}},
	"internal/tool":    {ours: []string{"access", "audit", "audit/rowid", "confirm", "deadline", "fault", "flat", "plaintext", "result", "schema", "schema/envelope", "seal"}, outside: []string{"github.com/invopop/jsonschema"}},
	// the gateway checks what a model wrote as the server does, and with the same words; the words of a name say what a property holds.
	"internal/schema/declared": {ours: []string{"calendar", "english", "facts", "language", "language/lexicon", "result", "schema"}},
	"internal/schema":          {ours: []string{"english", "fault", "flat", "strictjson"}, outside: []string{"github.com/google/jsonschema-go", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	// what all servers and the host answer, in one shape: clients compare answers with it.
	"internal/schema/envelope": {ours: []string{"result", "schema"}},
	// the hot path's bytes: it reads what the SDK would, into the SDK's types where they have structure.
	"internal/mcpwire": {outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	// every request passes the gate, and it knows neither tools nor MCP; the REST face is the same for servers and the gateway.
	"internal/gate":           {ours: []string{"access", "admission", "fault", "httpx", "memo", "quota"}},
	"internal/rest":           {ours: []string{"fault", "gate", "httpx", "result", "strictjson"}},
	"internal/mcpserver":      {ours: []string{"access", "admission", "deadline", "fault", "gate", "httpx", "mcpwire", "quota", "rest", "result", "schema", "strictjson", "telemetry"}, outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/domain/hr":      {ours: []string{"access", "company", "database", "fault", "money", "tool"}},
	"internal/domain/finance": {ours: []string{"access", "company", "database", "fault", "money", "tool"}},
	"internal/domain/sales":   {ours: []string{"access", "calendar", "company", "fault", "money", "tool"}},
	"internal/domain/support": {ours: []string{"access", "company", "english", "fault", "tool"}},
	// one file for each workspace; records, workspaces, SQL and document 002's shapes are rooms of their own from the beginning.
	"internal/domain/tasks":           {ours: []string{"access", "company", "confirm", "domain/tasks/dialect", "domain/tasks/master", "domain/tasks/pool", "domain/tasks/record", "domain/tasks/store", "domain/tasks/workspace", "fault", "plaintext", "strictjson", "tool"}},
	"internal/domain/tasks/master":    {ours: []string{"domain/tasks/record", "sqlite"}},
	"internal/domain/tasks/pool":      {ours: []string{"domain/tasks/store", "fault"}},
	"internal/domain/tasks/record":    {ours: []string{"fault"}},
	"internal/domain/tasks/workspace": {ours: []string{"access", "domain/tasks/record"}},
	"internal/domain/tasks/rowset":    {},
	"internal/domain/tasks/graph":     {},
	"internal/domain/tasks/store":     {ours: []string{"domain/tasks/graph", "domain/tasks/record", "domain/tasks/rowset", "domain/tasks/words", "fault", "sqlite"}},
	"internal/domain/tasks/words":     {ours: []string{"domain/tasks/rowset", "english", "sqlite"}},
	// it answers the gateway in envelopes and other clients as document 002 says, and so wraps two runners.
	"internal/domain/tasks/dialect": {ours: []string{"access", "domain/tasks/record", "fault", "result", "schema/envelope", "tool"}},
	// code search has no changes, and says so with the types of confirmations; its endpoint speaks document 004's own wire format.
	"internal/domain/codesearch":          {ours: []string{"access", "confirm", "domain/codesearch/embed", "domain/codesearch/endpoint", "domain/codesearch/glob", "domain/codesearch/index", "domain/codesearch/linguist", "domain/codesearch/query", "fault", "result", "tool"}},
	"internal/domain/codesearch/build":    {ours: []string{"domain/codesearch/embed", "domain/codesearch/index", "fault"}},
	"internal/domain/codesearch/embed":    {ours: []string{"domain/codesearch/index", "domain/codesearch/query"}},
	"internal/domain/codesearch/endpoint": {ours: []string{"access", "fault", "httpx", "strictjson", "telemetry"}},
	// compressed texts and kinds of files are formats of others.
	"internal/domain/codesearch/checkout":   {},
	"internal/domain/codesearch/index":      {ours: []string{"domain/codesearch/checkout", "domain/codesearch/chunk", "domain/codesearch/ignore", "domain/codesearch/intern", "domain/codesearch/linguist", "domain/codesearch/pieces", "domain/codesearch/postings", "domain/codesearch/words"}, outside: []string{"github.com/klauspost/compress"}},
	"internal/domain/codesearch/elastic":    {ours: []string{"domain/codesearch", "domain/codesearch/glob", "domain/codesearch/index", "domain/codesearch/query", "domain/codesearch/tally", "elasticsearch", "fault"}, outside: []string{"github.com/elastic/"}},
	"internal/domain/codesearch/query":      {ours: []string{"domain/codesearch/glob", "domain/codesearch/index", "domain/codesearch/linguist", "domain/codesearch/phrase", "domain/codesearch/tally", "domain/codesearch/vocabulary", "domain/codesearch/words"}},
	"internal/domain/codesearch/vocabulary": {ours: []string{"domain/codesearch/words"}},
	"internal/domain/codesearch/chunk":      {},
	"internal/domain/codesearch/glob":       {},
	"internal/domain/codesearch/ignore":     {},
	"internal/domain/codesearch/intern":     {},
	"internal/domain/codesearch/linguist":   {outside: []string{"github.com/go-enry/go-enry/v2/data"}},
	"internal/domain/codesearch/pieces":     {outside: []string{"github.com/klauspost/compress"}},
	"internal/domain/codesearch/postings":   {},
	"internal/domain/codesearch/tally":      {ours: []string{"domain/codesearch/index"}},
	"internal/domain/codesearch/phrase":     {ours: []string{"domain/codesearch/words"}},
	"internal/domain/codesearch/words":      {ours: []string{"english"}},
	// a store implements its domain's interface, and no domain knows a driver.
	"internal/domain/sales/sqlite":    {ours: []string{"access", "company", "domain/sales", "sqlite"}},
	"internal/domain/sales/mongo":     {ours: []string{"access", "admission", "company", "confirm", "domain/sales", "fault"}, outside: []string{"go.mongodb.org/mongo-driver/v2"}},
	"internal/domain/support/sqlite":  {ours: []string{"company", "domain/support", "sqlite"}},
	"internal/domain/support/elastic": {ours: []string{"access", "company", "confirm", "domain/support", "elasticsearch", "fault"}, outside: []string{"github.com/elastic/"}},
	// the guard reads envelopes, because results of earlier turns are kept as such.
	"internal/guard": {ours: []string{"calendar", "fault", "guard/arithmetic", "guard/mention", "guard/wording", "pattern", "result"}},
	"internal/agent": {ours: []string{"access", "fault", "guard", "guard/wish", "result", "tokens", "toolsearch"}},
	"internal/llm":   {ours: []string{"admission", "agent", "fault", "llm/anthropic", "llm/blob", "llm/gemini", "llm/openai", "llm/rehearsal", "llm/vendor", "telemetry", "tokens"}},
	// one room a vendor's protocol; what they share is in vendor.
	"internal/llm/vendor":    {ours: []string{"agent", "fault"}},
	"internal/llm/discovery": {ours: []string{"config", "llm", "llm/vendor"}}, // config: the names of the vendors' variables, in one table
	// it wraps any provider's model, and writes outcomes as the adapters do.
	"internal/llm/blob":      {ours: []string{"agent", "llm/vendor"}},
	"internal/llm/anthropic": {ours: []string{"agent", "llm/vendor"}, outside: []string{"github.com/anthropics/anthropic-sdk-go"}},
	"internal/llm/gemini":    {ours: []string{"agent", "llm/vendor"}, outside: []string{"google.golang.org/genai"}},
	"internal/llm/openai":    {ours: []string{"agent", "llm/vendor"}, outside: []string{"github.com/openai/openai-go/v3"}},
	"internal/llm/rehearsal": {ours: []string{"agent", "language/lexicon", "llm/rehearsal/match", "llm/rehearsal/plan", "memo", "result", "schema/declared"}},
	// each of rehearsal's rooms knows only those before it; speak decodes the answers of tools.
	"internal/language":            {ours: []string{"calendar", "english"}},
	"internal/language/lexicon":    {ours: []string{"calendar", "english", "language", "schema"}, outside: []string{"go.yaml.in/yaml"}},
	"internal/llm/rehearsal/match": {ours: []string{"agent", "calendar", "english", "language", "language/lexicon", "result", "schema", "schema/declared"}},
	"internal/llm/rehearsal/speak": {ours: []string{"agent", "english", "facts", "language", "llm/rehearsal/match", "result", "schema/declared"}},
	"internal/llm/rehearsal/plan":  {ours: []string{"agent", "calendar", "english", "facts", "language", "language/lexicon", "llm/rehearsal/match", "llm/rehearsal/speak", "result", "schema", "schema/declared"}},
	"internal/upstream":            {ours: []string{"access", "admission", "agent", "audit", "audit/rowid", "confirm", "fault", "mcpfile", "plaintext", "result", "schema", "schema/envelope", "strictjson", "telemetry", "upstream/breaker", "upstream/mcpsession", "upstream/own"}, outside: []string{"golang.org/x/sync"}},
	// the file of connected servers is plain data: rules that upstream enforces, and addresses that connected makes adapters of.
	"internal/mcpfile": {outside: []string{"github.com/go-json-experiment/json"}},
	// a program must end with everything that it started, also when this process is killed; that knows no MCP.
	"internal/footprint": {},
	"internal/supervise": {outside: []string{"golang.org/x/sys"}},
	// it makes servers of the file, so that app opens them as it opens stores.
	"internal/connected": {ours: []string{"mcpfile", "mcplock", "plaintext", "result", "supervise", "upstream", "upstream/foreign"}},
	// the lock is a file of definitions; upstream asks it through an interface of its own.
	"internal/mcplock": {ours: []string{"result"}},
	// issuers and connected servers must not lead into private networks; one rule for both.
	"internal/netguard": {},
	// both kinds of servers keep sessions open between calls and must know whether a call was sent.
	"internal/upstream/mcpsession": {ours: []string{"result"}, outside: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/sync"}},
	"internal/upstream/breaker":    {},
	// the data of another's server is read by the strict rules, and bounded in tokens.
	"internal/guard/mention":    {ours: []string{"calendar", "english", "pattern"}},
	"internal/guard/wording":    {ours: []string{"guard/mention", "pattern"}},
	"internal/guard/arithmetic": {ours: []string{"guard/mention", "pattern"}},
	"internal/guard/wish":       {ours: []string{"guard/wording", "result"}},
	"internal/upstream/foreign": {ours: []string{"fault", "netguard", "result", "strictjson", "supervise", "tokens", "upstream/mcpsession"}, outside: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2"}},
	// it knows HTTP alone, so that its suite compares it with http.Transport.
	"internal/upstream/post": {},
	"internal/upstream/own":  {ours: []string{"access", "admission", "fault", "mcpwire", "result", "telemetry", "upstream/mcpsession", "upstream/post"}, outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/auth":          {ours: []string{"access", "fault", "memo", "netguard", "strictjson"}, outside: []string{"github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "golang.org/x/oauth2"}},
	"internal/session":       {ours: []string{"access", "audit", "auth", "fault", "httpx", "result", "seal"}},
	// a conversation is logs and keys in state, and reading one can end in state's own error (a gap); its links live as long as confirmations.
	"internal/conversation":        {ours: []string{"access", "admission", "agent", "audit", "confirm", "conversation/lease", "conversation/sealed", "fault", "quota", "result", "seal", "state", "telemetry", "tokens"}},
	"internal/conversation/lease":  {ours: []string{"conversation/sealed", "fault"}},
	"internal/conversation/sealed": {ours: []string{"memo", "seal", "state"}},
	// the servers and the gateway name the same page, on which a change is answered.
	"internal/approval": {ours: []string{"access", "rest", "result"}},
	// live is beside the gateway's routes because a connection, unlike a request, has parts of its own that end together.
	"internal/live": {ours: []string{"access", "admission", "agent", "conversation", "fault", "httpx", "plaintext", "quota", "result", "seal", "strictjson", "telemetry"}, outside: []string{"github.com/coder/websocket"}},
	// what people ask, and its encoder as server-sent events, beside live's for WebSockets.
	"internal/gateway/chat": {ours: []string{"access", "agent", "conversation", "fault", "gate", "httpx", "live", "quota", "result"}},
	"internal/gateway":      {ours: []string{"access", "admission", "agent", "approval", "audit", "conversation", "fault", "gate", "gateway/chat", "httpx", "live", "mcpserver", "oversight", "quota", "rest", "result", "session", "static", "usage"}},
	"internal/database":     {ours: []string{"access", "admission", "confirm", "fault"}, outside: []string{"github.com/jackc/pgx/v5"}},
	// two domains embed SQLite; opening it, its transactions and its receipts are the same for both.
	"internal/sqlite": {ours: []string{"access", "confirm", "fault"}, outside: []string{"modernc.org/sqlite"}},
	// support and code search speak to the same kind of server.
	"internal/elasticsearch": {ours: []string{"admission", "fault"}, outside: []string{"github.com/elastic/"}},
	// a record is sealed where it is stored.
	"internal/state": {ours: []string{"access", "confirm", "fault", "seal"}, outside: []string{"github.com/redis/go-redis/v9"}},
	// an event takes its request and trace ids from the context.
	"internal/audit":           {ours: []string{"access", "audit/place", "fault", "flat", "telemetry"}},
	"internal/audit/place":     {},
	"internal/audit/rowid":     {},
	"internal/httpx":           {ours: []string{"fault", "strictjson", "telemetry"}},
	"internal/telemetry":       {ours: []string{"access"}},
	"internal/embedded":        {ours: []string{"fault"}, outside: []string{"github.com/alicebob/miniredis/v2", "github.com/xi2/xz"}},
	"internal/embedded/issuer": {ours: []string{"embedded", "fault", "netguard", "strictjson"}, outside: []string{"github.com/go-jose/go-jose"}},
	// static serves the page's files, so that a reload costs one round trip: it knows nothing of ours.
	"internal/static": {},
	"web":             {},
	// it opens every domain's data, whatever engine has it.
	"internal/storage": {ours: []string{
		"access", "company", "config", "database", "domain/codesearch", "domain/codesearch/build", "domain/codesearch/checkout", "domain/codesearch/elastic", "domain/codesearch/embed", "domain/finance", "domain/hr", "domain/sales", "domain/sales/mongo", "domain/sales/sqlite", "domain/support", "domain/support/elastic", "domain/support/sqlite", "domain/tasks", "domain/tasks/workspace", "tool",
	}},
	// app builds what each command starts, so it knows every room but the terminal's.
	"internal/app": {ours: []string{
		"access", "admission", "agent", "approval", "audit", "auth", "company", "config", "confirm", "connected", "conversation", "dependency", "domain/codesearch", "domain/codesearch/endpoint", "domain/finance", "domain/hr", "domain/sales", "domain/support", "domain/tasks", "domain/tasks/dialect",
		"embedded", "embedded/issuer", "fault", "footprint", "gate", "gateway", "httpx", "live", "llm", "llm/discovery", "llm/vendor", "mcpfile", "mcpserver", "metrics", "oversight", "quota", "rest", "result", "revocation", "seal", "session", "state", "storage", "telemetry", "tool", "upstream", "usage", "web",
	}},
	// the command check asks what others would refuse at their start, with the client and the Redis that they use.
	"internal/dependency": {ours: []string{"fault", "httpx", "state"}},
	// a server without Redis and issuer, for one person; its card is the terminal's.
	"internal/local": {ours: []string{"access", "audit", "auth", "client/draw", "confirm", "domain/codesearch", "domain/tasks", "domain/tasks/dialect", "domain/tasks/workspace", "fault", "footprint", "mcpserver", "plaintext", "rest", "result", "seal", "sqlite", "telemetry", "tool"}},
	// the one room that knows Prometheus; others declare the hooks that it fills.
	"internal/metrics": {ours: []string{"httpx", "result"}, outside: []string{"github.com/prometheus/client_golang"}},
	// a limit is of a person, and a refusal is a fault.
	// it wraps a turn's model, whose usage is the agent's.
	// auditors read the log, the tools and the use of all people, and nothing there changes anything.
	"internal/oversight":  {ours: []string{"access", "agent", "audit", "audit/rowid", "confirm", "fault", "httpx", "mcplock", "plaintext", "result", "usage"}},
	"internal/usage":      {ours: []string{"access", "agent", "fault"}},
	"internal/quota":      {ours: []string{"access", "fault"}},
	"internal/admission":  {ours: []string{"access", "fault"}},
	"internal/revocation": {ours: []string{"access", "fault"}},
	"internal/config":     {outside: []string{"go.yaml.in/yaml/v3"}},
	// a chat follows its conversation over the WebSocket, and edits lines where it runs in a terminal.
	"internal/client": {ours: []string{"client/draw", "fault", "plaintext", "result"}, outside: []string{"github.com/coder/websocket", "golang.org/x/sys", "golang.org/x/term"}},
	// drawing is apart from talking to a gateway; characters can be wider than they look.
	"internal/client/draw": {ours: []string{"access", "plaintext", "result"}, outside: []string{"github.com/rivo/uniseg"}},
	// eval asks as a person's terminal does.
	"internal/eval": {ours: []string{"calendar", "client"}, outside: []string{"go.yaml.in/yaml/v3"}},
	// and it is its own supervisor of connected servers' processes.
	// what search finds is measured on the indexes themselves, without a server.
	"bench/codesearch": {ours: []string{"domain/codesearch/chunk", "domain/codesearch/elastic", "domain/codesearch/embed", "domain/codesearch/index", "domain/codesearch/linguist", "domain/codesearch/query", "domain/codesearch/words"}},
	// it reads flags that it is given and knows no command, so that what is left in cmd is the commands.
	"internal/commandline": {ours: []string{"fault"}},
	"cmd/countersign":      {ours: []string{"app", "client", "commandline", "eval", "local", "supervise"}},
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
	testkit.Alone(t)
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

// TestArrows fails on an import that the map does not permit, and on a
// permission that no import uses.
func TestArrows(t *testing.T) {
	rooms := map[string]bool{}
	for _, p := range packages(t) {
		if slices.Contains(unbound, p.ImportPath) || strings.HasPrefix(p.ImportPath, "internal/testkit/") {
			continue
		}
		rooms[p.ImportPath] = true
		checkArrows(t, p)
	}
	for room := range arrows {
		if !rooms[room] {
			t.Errorf("%s is on the map of the house, and there is no such package", room)
		}
	}
}

func checkArrows(t *testing.T, p goPackage) {
	t.Helper()
	room, known := arrows[p.ImportPath]
	if !known {
		t.Errorf("%s is not on the map of the house", p.ImportPath)
		return
	}
	used := map[string]bool{}
	for _, imported := range p.Imports {
		permission := ""
		if ours, ok := strings.CutPrefix(imported, module); ok {
			if ours = strings.TrimPrefix(ours, "internal/"); slices.Contains(room.ours, ours) {
				permission = ours
			}
		} else if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
			continue // the standard library
		} else if i := slices.IndexFunc(room.outside, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }); i >= 0 {
			permission = room.outside[i]
		}
		if permission == "" {
			t.Errorf("%s may not import %s", p.ImportPath, imported)
		}
		used[permission] = true
	}
	for _, permission := range slices.Concat(room.ours, room.outside) {
		if !used[permission] {
			t.Errorf("%s may import %s and does not: take it off the map", p.ImportPath, permission)
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
	allowed []string // prefixes of files' paths
	only    string   // the prefix that the rule is for; empty: everything
	why     string
}

var sourceRules = []sourceRule{
	{regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Exit)\(|\blog\.Fatal`), []string{"bench/", "cmd/", "internal/testkit"}, "", "only programs read the environment or end the process"},
	{regexp.MustCompile(`"flag"`), []string{"cmd/", "internal/commandline/", "internal/testkit"}, "", "only cmd declares flags, and only commandline parses them"},
	{regexp.MustCompile(`\baccess\.NewPrincipal\(|\.InSession\(`), []string{"internal/auth", "internal/testkit"}, "", "only auth makes principals and gives them rights"},
	{regexp.MustCompile(`access\.Tainted\(`), []string{"internal/agent", "internal/testkit"}, "", "only the agent knows what a model has read"},
	{regexp.MustCompile(`\.WithSurface\(`), []string{"internal/gate/", "internal/gateway/", "internal/mcpserver/", "internal/testkit"}, "", "only the gates say where a call began"},
	{regexp.MustCompile(`"countersign\.dev/internal/domain/`), []string{"bench/", "internal/app/domains.go", "internal/app/domainserver.go", "internal/domain/", "internal/local/local.go", "internal/storage/", "internal/testkit"}, "", "the list of domains, what serves one and what opens their stores know domains, as what serves two of them alone does, and nothing else"},
	{regexp.MustCompile(`\.Header\.(Get|Values)\("Authorization"\)`), []string{"internal/embedded/issuer/", "internal/gate/", "internal/mcpfile/", "internal/testkit"}, "", "the gate reads the token of a request; the development issuer is no part of the edge, and mcpfile reads a configured header"},
	{regexp.MustCompile(`auth\.NewVerifier\(`), []string{"internal/app/platform.go", "internal/testkit"}, "", "check rejects what another command would, because verifiers are made in one place"},
	{regexp.MustCompile(`result\.DecodeEnvelope\(`), []string{"internal/agent/evidence.go", "internal/client/", "internal/domain/tasks/dialect/", "internal/llm/rehearsal/speak/", "internal/testkit", "internal/tool/dialect.go", "internal/upstream/"}, "", "an answer is decoded where it arrives, and by who reads a stored one"},
	{regexp.MustCompile(`"(hr|finance|sales|support)-(read|write)"`), []string{"internal/company", "internal/domain/", "internal/testkit"}, "", "domains declare their roles, and nothing else names them"},
	{regexp.MustCompile(`json\.NewDecoder\(`), []string{"internal/domain/codesearch/embed/", "internal/elasticsearch/", "internal/mcplock/", "internal/result/envelope.go", "internal/testkit"}, "", "a caller's body is read by httpx and checked by strictjson; these read what a store answers, and what we wrote"},
	{regexp.MustCompile(`(?m)^func init\(\)`), nil, "", "an explicit list beats a registry"},
	{regexp.MustCompile(`\btime\.Sleep\(`), nil, "", "waiting needs a context or a clock"},
	{regexp.MustCompile(`\bos\.(Open|OpenFile|Create|ReadFile|WriteFile|MkdirAll)\(|\b(net|httpx)\.Listen`), nil, "cmd/", "cmd passes flags and the environment on and opens nothing"},
}

func TestSourceRules(t *testing.T) {
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range sourceRules {
				if found := rule.pattern.Find(text); found != nil && !hasPrefix(p.ImportPath+"/"+file, rule.allowed) && strings.HasPrefix(p.ImportPath, rule.only) {
					t.Errorf("%s/%s has %q: %s", p.ImportPath, file, found, rule.why)
				}
			}
		}
	}
}
