package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/testkit"
)

// The question: what does get_employee cost on the HR server as it runs in
// production (tokens verified, row-level security, masks, a hash-chained audit
// on disk), as a multiple of a bare net/http handler that runs the same query
// without the policies and writes JSON? `query` is that query without HTTP. All
// interfaces are called by the same client over loopback; cpu-µs is that of this
// process with the client, without the database. Compare ratios of one run only.

// floorEmployee is get_employee's query without its policies.
const floorEmployee = `
select e.id::text, e.first_name, e.last_name, e.email, d.name, e.job_title, e.manager_id::text,
       m.first_name || ' ' || m.last_name, e.hire_date::text, e.salary_cents, e.ssn, e.phone, e.location, e.created_at, e.updated_at
from hr.employees e
left join hr.departments d on d.code = e.department
left join hr.employees m on m.id = e.manager_id
where e.id = $1 and e.status = 'ACTIVE'`

// floorRow is what the bare handler writes.
type floorRow struct {
	EmployeeID  string    `json:"employee_id"`
	FirstName   string    `json:"first_name"`
	LastName    string    `json:"last_name"`
	Email       string    `json:"email"`
	Department  string    `json:"department"`
	JobTitle    string    `json:"job_title"`
	ManagerID   *string   `json:"manager_id"`
	ManagerName *string   `json:"manager_name"`
	HireDate    string    `json:"hire_date"`
	SalaryCents int64     `json:"salary_cents"`
	SSN         string    `json:"ssn"`
	Phone       string    `json:"phone"`
	Location    string    `json:"location"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

func readFloor(ctx context.Context, pool *pgxpool.Pool, id string) (row floorRow, err error) {
	err = pool.QueryRow(ctx, floorEmployee, id).Scan(&row.EmployeeID, &row.FirstName, &row.LastName, &row.Email, &row.Department,
		&row.JobTitle, &row.ManagerID, &row.ManagerName, &row.HireDate, &row.SalaryCents, &row.SSN, &row.Phone, &row.Location, &row.CreatedAt, &row.UpdatedAt)
	return row, err
}

// bareHandler is the floor: no token, no role, no mask, no audit.
func bareHandler(pool *pgxpool.Pool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			EmployeeID string `json:"employee_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		row, err := readFloor(r.Context(), pool, in.EmployeeID)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(row)
	})
}

const marcusEmail = "marcus.j@tamshai.local"

// bench is the HR server as serveDomain builds it, and the floor, on one private
// PostgreSQL.
type bench struct {
	pool *pgxpool.Pool
	bare string // address of the bare handler
	hr   string // address of the HR server
	mint func() string
	id   string // whose record is read
}

func newBench(b *testing.B) *bench {
	b.Helper()
	folder := b.TempDir()
	pg, err := embedded.StartPostgres(b.Context(), embedded.PostgresOptions{})
	must(b, err)
	b.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(b.Context())) })
	redis, err := embedded.StartRedis()
	must(b, err)
	b.Cleanup(redis.Close)
	pool, err := pgxpool.New(b.Context(), pg.AdminURL("postgres"))
	must(b, err)
	b.Cleanup(pool.Close)

	sample := company.At(today())
	marcus, found := sample.ByEmail(marcusEmail)
	if !found {
		b.Fatal("the company has no Marcus")
	}
	x := &bench{pool: pool, id: marcus.ID}
	x.serveHR(b, folder, pg.AdminURL("postgres"), redis.URL(), sample)
	bare := httptest.NewServer(bareHandler(pool))
	b.Cleanup(bare.Close)
	x.bare = bare.URL
	return x
}

// serveHR serves HR behind the gateway's tokens, with an audit log on disk.
func (x *bench) serveHR(b *testing.B, folder, adminURL, redisURL string, sample *company.Company) {
	b.Helper()
	life := newLifetime()
	b.Cleanup(func() { must(b, life.end(context.WithoutCancel(b.Context()))) })
	keys, err := demoKeys(folder)
	must(b, err)
	log := slog.New(slog.DiscardHandler)
	pl, err := newPlatform(b.Context(), life, log, keys, platformOptions{name: "hr", audit: config.Audit{Path: filepath.Join(folder, "audit.jsonl")}, redis: redisURL})
	must(b, err)
	d, _ := domainNamed("hr")
	db, err := d.store.Demo(b.Context(), storage.Engines{AdminURL: adminURL, Folder: folder})
	must(b, err)
	must(b, d.store.Seed(b.Context(), db, sample))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	x.hr = "http://" + listener.Addr().String()
	must(b, pl.serveDomain(b.Context(), d, db, domainOptions{listener: listener, url: x.hr}))
	x.mint = minting(b, keys.signing)
}

// minting mints Alice's tokens as the gateway does: a new one shortly before the
// last one expires.
func minting(b testing.TB, keys *auth.Keys) func() string {
	b.Helper()
	minter, err := auth.NewMinter(keys, nil)
	must(b, err)
	alice := access.NewPrincipal(access.Claims{
		Issuer: "http://localhost:3180", Subject: "alice", Username: "alice.chen", Email: "alice@tamshai.local", EmailVerified: true,
		Roles: []string{"employee", "manager", "hr-read", "hr-write"},
	})
	return func() string {
		token, err := minter.Token(alice, "hr", access.PurposeCall)
		must(b, err)
		return token
	}
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// surface is one HTTP interface of get_employee.
type surface struct {
	name    string
	url     string
	body    string // %d, if present, is the message's number
	headers map[string]string
}

// nextID numbers messages: an MCP session refuses a number that is in use.
var nextID atomic.Int64

func (x *bench) surfaces(b *testing.B) []surface {
	input := fmt.Sprintf(`{"employee_id":%q}`, x.id)
	params := `"name":"get_employee","arguments":` + input
	meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	session := x.handshake(b)
	return []surface{
		{"bare", x.bare, input, nil},
		{"rest", x.hr + "/tools/get_employee", input, nil},
		{"mcp-2026-07-28", x.hr + "/mcp", `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{` + params + meta + `}}`,
			map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "get_employee"}},
		{"mcp-2025-11-25", x.hr + "/mcp", `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{` + params + `}}`,
			map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}},
	}
}

// handshake begins an MCP session of the older version and returns its id.
func (x *bench) handshake(b testing.TB) string {
	b.Helper()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	session := x.initialize(b, hello, "")
	if session == "" {
		b.Fatal("no MCP session was created")
	}
	x.initialize(b, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	return session
}

// initialize sends one message of a handshake and returns the MCP session that
// the answer names.
func (x *bench) initialize(b testing.TB, message, session string) string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, x.hr+"/mcp", strings.NewReader(message))
	must(b, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + x.mint(),
		"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25",
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := testkit.Client.Do(r)
	must(b, err)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode >= 300 {
		b.Fatalf("the handshake: HTTP %d %v", resp.StatusCode, err)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// ask makes the call and reads the answer to its end.
func (f surface) ask(ctx context.Context, client *http.Client, token string) error {
	body := strings.Replace(f.body, "%d", strconv.FormatInt(nextID.Add(1), 10), 1)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	for name, value := range f.headers {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(marcusEmail))) {
		err = fmt.Errorf("%s: got %d %s", f.name, resp.StatusCode, text)
	}
	return err
}

func BenchmarkGetEmployee(b *testing.B) {
	x := newBench(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	faces := x.surfaces(b)
	b.Run("1-client/query", func(b *testing.B) {
		b.ReportAllocs()
		busy := cpuTime(b)
		testkit.Measure(b, func() {
			_, err := readFloor(b.Context(), x.pool, x.id)
			must(b, err)
		})
		reportCPU(b, busy)
	})
	for _, f := range faces {
		b.Run("1-client/"+f.name, func(b *testing.B) { f.alone(b, client, x.mint()) })
	}
	for _, f := range faces {
		b.Run("8-clients/"+f.name, func(b *testing.B) { f.crowded(b, client, x.mint()) })
	}
}

func (f surface) alone(b *testing.B, client *http.Client, token string) {
	b.ReportAllocs()
	busy := cpuTime(b)
	testkit.Measure(b, func() { must(b, f.ask(b.Context(), client, token)) })
	reportCPU(b, busy)
}

// crowded calls with eight clients at once, however many processors there are.
func (f surface) crowded(b *testing.B, client *http.Client, token string) {
	const clients = 8
	b.ReportAllocs()
	busy := cpuTime(b)
	turns := make(chan struct{})
	group, ctx := errgroup.WithContext(b.Context())
	for range clients {
		group.Go(func() error {
			for range turns {
				if err := f.ask(ctx, client, token); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for b.Loop() {
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			b.Fatal(group.Wait())
		}
	}
	close(turns)
	must(b, group.Wait())
	reportCPU(b, busy)
}

// cpuTime is what this process has used of its processors.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func reportCPU(b *testing.B, since time.Duration) {
	b.Helper()
	b.ReportMetric(float64((cpuTime(b)-since).Microseconds())/float64(b.N), "cpu-µs/op")
}
