package database_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
)

var cluster *dbtest.Cluster

func TestMain(m *testing.M) {
	cluster = dbtest.Start()
	defer cluster.Stop()
	m.Run()
}

// notes is a schema in which everyone sees and writes only their own notes.
const notes = `
create table notes (id int primary key, owner text not null, text text not null);
alter table notes enable row level security;
alter table notes force row level security;
create policy keeper on notes to current_user using (true) with check (true);
create policy own on notes to countersign_notes using (owner = nullif(current_setting('app.current_user_email', true), ''));
grant select, insert, update, delete on notes to countersign_notes;
create view plain with (security_invoker = true) as select * from notes;
grant select on plain to countersign_notes;
insert into notes select n, case when n % 2 = 0 then 'ann@x' else 'ben@x' end, 'note ' || n from generate_series(1, 100) n;
`

func schema(sql string) database.Schema {
	return database.Schema{Name: "notes", Login: "countersign_notes", Migrations: fstest.MapFS{"migrations/0001_notes.sql": {Data: []byte(sql)}}}
}

func open(t *testing.T, o *database.Options) (db *database.DB, adminURL string) {
	t.Helper()
	adminURL = cluster.Database(t, "")
	if _, err := database.Migrate(t.Context(), adminURL, schema(notes), ""); err != nil {
		t.Fatal(err)
	}
	return login(t, adminURL, "countersign_notes", o), adminURL
}

func login(t *testing.T, adminURL, name string, o *database.Options) *database.DB {
	t.Helper()
	url := adminURL
	if name != "postgres" { // the administrator uses the password in the URL
		var err error
		if url, err = database.LoginURL(adminURL, name, ""); err != nil {
			t.Fatal(err)
		}
	}
	db, err := database.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func as(ctx context.Context, email string, roles ...string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: "https://issuer.test", Subject: "sub-" + email, Email: email, EmailVerified: true, Roles: roles,
	}))
}

const countNotes = `select count(*) from notes`

func count(t *testing.T, ctx context.Context, db *database.DB) int64 {
	t.Helper()
	n, _, err := database.Row[int64](ctx, db, countNotes)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNothingRunsWithoutAPrincipal(t *testing.T) {
	db, _ := open(t, nil)
	ctx := t.Context()
	_, err := database.Rows[int64](ctx, db, countNotes)
	if !fault.Is(err, fault.Unauthorized) {
		t.Errorf("Rows: got %v, want UNAUTHENTICATED", err)
	}
	nothing := func(context.Context) error { t.Error("ran"); return nil }
	if err := db.Read(ctx, nothing); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("Read: got %v, want UNAUTHENTICATED", err)
	}
	if err := db.Change(ctx, nothing); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("Change: got %v, want UNAUTHENTICATED", err)
	}
}

func TestEveryoneSeesTheirOwn(t *testing.T) {
	db, _ := open(t, nil)
	if n := count(t, as(t.Context(), "ann@x"), db); n != 50 {
		t.Errorf("Ann sees %d notes, want 50", n)
	}
	if n := count(t, as(t.Context(), ""), db); n != 0 {
		t.Errorf("a caller without an address sees %d notes, want 0", n)
	}
}

type note struct {
	ID   int
	Text string `db:"text"`
}

func TestRowsFillStructsByName(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	rows, err := database.Rows[note](ctx, db, `select text, id from notes where id < $1 order by id`, 5)
	if err != nil || len(rows) != 2 || rows[1] != (note{4, "note 4"}) {
		t.Errorf("got %v, %v", rows, err)
	}
	_, found, err := database.Row[note](ctx, db, `select text, id from notes where id = 1`)
	if found || err != nil {
		t.Errorf("Ben's note for Ann: found %v, %v", found, err)
	}
}

// Sixteen callers of two people share four connections; a third of their
// transactions fail or are rolled back. No caller may see another one's row.
func TestPooledConnectionsCarryNoIdentity(t *testing.T) {
	db, _ := open(t, &database.Options{MaxConns: 4})
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := range 60 {
				if err := oneCall(t, db, worker, i); err != nil {
					t.Errorf("worker %d, call %d: %v", worker, i, err)
				}
			}
		})
	}
	wg.Wait()
	for range 16 { // a connection returns to the pool without an identity
		count(t, as(t.Context(), "ann@x"), db)
		if known, err := database.Probe(t.Context(), db, `select exists (select from notes)`); known || err != nil {
			t.Fatalf("a pooled connection still has an identity: %v, %v", known, err)
		}
	}
}

func oneCall(t *testing.T, db *database.DB, worker, i int) error {
	who := []string{"ann@x", "ben@x", ""}[worker%3]
	ctx := as(t.Context(), who)
	stop := errors.New("undone on purpose")
	var owners []string
	var err error
	switch i % 3 {
	case 0:
		owners, err = database.Rows[string](ctx, db, `select distinct owner from notes`)
	case 1:
		err = db.Change(ctx, func(ctx context.Context) (err error) {
			owners, err = database.Rows[string](ctx, db, `select distinct owner from notes for update of notes`)
			return errors.Join(err, stop)
		})
	case 2:
		err = db.Read(ctx, func(ctx context.Context) error {
			_, err := database.Rows[int](ctx, db, `select 1/0`)
			return err
		})
		if !fault.Is(err, fault.DatabaseError) {
			return fmt.Errorf("got %v, want DATABASE_ERROR", err)
		}
		return nil
	}
	for _, owner := range owners {
		if owner != who {
			return fmt.Errorf("%q sees a row of %q", who, owner)
		}
	}
	if err != nil && !errors.Is(err, stop) && !strings.Contains(err.Error(), "DATABASE_ERROR") {
		return err
	}
	return nil
}

func TestReadsCannotWrite(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	const sneaky = `with gone as (delete from notes returning id) select count(*) from gone`
	if _, err := database.Rows[int64](ctx, db, sneaky); !fault.Is(err, fault.DatabaseError) {
		t.Errorf("a deleting read: got %v, want DATABASE_ERROR", err)
	}
	err := db.Read(ctx, func(ctx context.Context) error {
		_, err := database.Rows[int64](ctx, db, sneaky)
		return err
	})
	if !fault.Is(err, fault.DatabaseError) {
		t.Errorf("a deleting snapshot: got %v, want DATABASE_ERROR", err)
	}
	if _, err := database.Exec(ctx, db, `delete from notes`); err == nil {
		t.Error("Exec ran outside Change")
	}
	if n := count(t, ctx, db); n != 50 {
		t.Errorf("%d notes are left, want 50", n)
	}
}

func TestChangeIsAllOrNothing(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	stop := errors.New("stop")
	drop := func(ctx context.Context) error {
		n, err := database.Exec(ctx, db, `delete from notes where id <= $1`, 10)
		if n != 5 {
			t.Errorf("deleted %d, want 5", n)
		}
		return err
	}
	err := db.Change(ctx, func(ctx context.Context) error { return errors.Join(drop(ctx), stop) })
	if !errors.Is(err, stop) || count(t, ctx, db) != 50 {
		t.Errorf("after an undone change: %v, %d notes", err, count(t, ctx, db))
	}
	if err := db.Change(ctx, drop); err != nil || count(t, ctx, db) != 45 {
		t.Errorf("after a change: %v, %d notes", err, count(t, ctx, db))
	}
}

// An error that fn ignored must not end as success: the server answers such a
// commit with a rollback and no error.
func TestChangeAfterAFailedStatementIsNoSuccess(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	err := db.Change(ctx, func(ctx context.Context) error {
		_, _ = database.Exec(ctx, db, `delete from notes`)
		_, _ = database.Exec(ctx, db, `insert into notes values (1, 'ann@x', 'twice')`)
		return nil
	})
	if !fault.Is(err, fault.DatabaseError) || count(t, ctx, db) != 50 {
		t.Errorf("got %v, %d notes; want DATABASE_ERROR and 50", err, count(t, ctx, db))
	}
}

func TestReadIsOneSnapshot(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	err := db.Read(ctx, func(inside context.Context) error {
		before := count(t, inside, db)
		if err := db.Change(ctx, func(ctx context.Context) error {
			_, err := database.Exec(ctx, db, `delete from notes`)
			return err
		}); err != nil {
			return err
		}
		if after := count(t, inside, db); after != before {
			t.Errorf("saw %d notes, then %d", before, after)
		}
		if err := db.Change(inside, func(context.Context) error { return nil }); err == nil {
			t.Error("a change began inside a read")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPrincipalCannotChangeInsideATransaction(t *testing.T) {
	db, _ := open(t, nil)
	err := db.Read(as(t.Context(), "ann@x"), func(ctx context.Context) error {
		_, err := database.Rows[int64](as(ctx, "ben@x"), db, countNotes)
		return err
	})
	if err == nil {
		t.Error("Ben read in Ann's transaction")
	}
}

func TestForUpdateLocksOnlyInsideChange(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	if clause := database.ForUpdate(ctx, db); clause != "" {
		t.Errorf("outside: %q", clause)
	}
	_ = db.Read(ctx, func(ctx context.Context) error {
		if clause := database.ForUpdate(ctx, db); clause != "" {
			t.Errorf("in a read: %q", clause)
		}
		return nil
	})
	_ = db.Change(ctx, func(ctx context.Context) error {
		if clause := database.ForUpdate(ctx, db, "a", "b"); clause != " for update of a, b" {
			t.Errorf("in a change: %q", clause)
		}
		return nil
	})
}

// Two changes lock two rows in opposite order; the server aborts one, and
// that one is run again.
func TestDeadlockIsTriedAgain(t *testing.T) {
	db, _ := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	const touch = `update notes set text = text || '!' where id = $1`
	var met sync.WaitGroup
	met.Add(2)
	var runs [2]int
	cross := func(me, first, second int) error {
		return db.Change(ctx, func(ctx context.Context) error {
			runs[me]++
			if _, err := database.Exec(ctx, db, touch, first); err != nil {
				return err
			}
			if runs[me] == 1 {
				met.Done()
				met.Wait()
			}
			_, err := database.Exec(ctx, db, touch, second)
			return err
		})
	}
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = cross(0, 2, 4) })
	wg.Go(func() { errs[1] = cross(1, 4, 2) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil || runs[0]+runs[1] != 3 {
		t.Errorf("got %v after %v runs, want no error and three runs", err, runs)
	}
	text, _, _ := database.Row[string](ctx, db, `select text from notes where id = 2`)
	if text != "note 2!!" {
		t.Errorf("got %q, want both changes", text)
	}
}

func TestDeadlineIsATimeout(t *testing.T) {
	db, _ := open(t, &database.Options{Timeout: 50 * time.Millisecond})
	ctx := as(t.Context(), "ann@x")
	if _, err := database.Rows[string](ctx, db, `select pg_sleep(5)::text`); !fault.Is(err, fault.Timeout) {
		t.Errorf("got %v, want TIMEOUT", err)
	}
	patient, cancel := context.WithTimeout(ctx, testkit.Patience)
	defer cancel()
	if n := count(t, patient, db); n != 50 {
		t.Errorf("after a timeout %d notes, want 50", n)
	}
}

func TestFaultsCarryNoTextOfTheServer(t *testing.T) {
	db, _ := open(t, nil)
	_, err := database.Rows[int](as(t.Context(), "ann@x"), db, `select secret_column from notes`)
	e := fault.From(err)
	if e.Code != fault.DatabaseError || strings.Contains(e.Message+e.SuggestedAction, "secret") {
		t.Errorf("got %q, %q", e.Message, e.SuggestedAction)
	}
	if cause := errors.Unwrap(e); cause == nil || !strings.Contains(cause.Error(), "secret_column") {
		t.Errorf("the cause for the log is %v", cause)
	}
}

// TestRefusedLoginIsExplainedToOperators: what the server says of a login or a database that
// does not exist is for who configured them, and not for callers.
func TestRefusedLoginIsExplainedToOperators(t *testing.T) {
	_, adminURL := open(t, nil)
	elsewhere, err := url.Parse(adminURL)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Path = "/missing_database"
	stranger, err := database.LoginURL(adminURL, "missing_login", "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{elsewhere.String(): `database "missing_database" does not exist`, stranger: `role "missing_login" does not exist`} {
		db, err := database.Open(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = database.SelfCheck(t.Context(), db, "notes")
		db.Close()
		if e := fault.From(err); e.Code != fault.ServiceDown || strings.Contains(e.Message+e.SuggestedAction, "missing") {
			t.Errorf("callers read %q, %q", e.Message, e.SuggestedAction)
		}
		if said := fault.Operator(err); !strings.Contains(said, want) || strings.Contains(said, "s3cret") {
			t.Errorf("operators read %q, want %q", said, want)
		}
	}
}

func TestUnreachableServerIsServiceDown(t *testing.T) {
	db, err := database.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := as(t.Context(), "ann@x")
	_, err = database.Rows[int](ctx, db, `select 1`)
	if !fault.Is(err, fault.ServiceDown) {
		t.Errorf("Rows: got %v, want SERVICE_UNAVAILABLE", err)
	}
	if err := db.Change(ctx, func(context.Context) error { return nil }); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("Change: got %v, want SERVICE_UNAVAILABLE", err)
	}
}

func TestKilledConnectionIsServiceDownAndReplaced(t *testing.T) {
	db, adminURL := open(t, nil)
	ctx := as(t.Context(), "ann@x")
	err := db.Change(ctx, func(ctx context.Context) error {
		pid, _, err := database.Row[int](ctx, db, `select pg_backend_pid()`)
		if err != nil {
			return err
		}
		kill(t, adminURL, pid)
		_, err = database.Exec(ctx, db, `delete from notes`)
		return err
	})
	if !fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE", err)
	}
	if n := count(t, ctx, db); n != 50 {
		t.Errorf("on a new connection: %d notes, want 50", n)
	}
}

func kill(t *testing.T, adminURL string, pid int) {
	t.Helper()
	err := database.Admin(t.Context(), adminURL, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select pg_terminate_backend($1, 5000)`, pid)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoleNamesCannotInjectRoles(t *testing.T) {
	db, _ := open(t, nil)
	got, _, err := database.Row[string](as(t.Context(), "ann@x", "employee", "x,executive"), db, `select current_setting('app.current_user_roles')`)
	if err != nil || got != "employee" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpenDoesNotRepeatAPassword(t *testing.T) {
	for _, address := range []string{"postgres://u:geheim@[::1", "host=x password=geheim port=nonsense", "postgres://u:geheim@h:99999999/x"} {
		_, err := database.Open(t.Context(), address, nil)
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// TestReceiptOfACommitUnderWayIsWaitedFor: its client, which gave it up, must not report that nothing was changed.
func TestReceiptOfACommitUnderWayIsWaitedFor(t *testing.T) {
	db, _ := open(t, nil)
	receipts := database.NewReceipts(db)
	ann := as(t.Context(), "ann@x")
	who, _ := access.From(ann)
	receipt := confirm.Receipt{ID: "0b0c8f6a-8f0e-4d0e-9d7b-6a3f3d0f1a12", Owner: who.Owner(), Tool: "drop", Answer: []byte(`{}`)}
	kept, commit, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- receipts.Change(ann, func(ctx context.Context) error {
			err := receipts.Keep(ctx, receipt)
			close(kept)
			<-commit
			return err
		})
	}()
	<-kept
	short, cancel := context.WithTimeout(ann, 200*time.Millisecond)
	defer cancel()
	if _, found, err := receipts.Find(short, receipt.Owner, receipt.ID); err == nil || found {
		t.Errorf("while it is under way: got %v, %v, want that it is not known", found, err)
	}
	go close(commit)
	if _, found, err := receipts.Find(ann, receipt.Owner, receipt.ID); err != nil || !found {
		t.Errorf("a search that waits: got %v, %v", found, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestReceiptIsKeptOnceForItsOwner(t *testing.T) {
	db, _ := open(t, nil)
	receipts := database.NewReceipts(db)
	ann, ben := as(t.Context(), "ann@x"), as(t.Context(), "ben@x")
	who, _ := access.From(ann)
	receipt := confirm.Receipt{ID: "0b0c8f6a-8f0e-4d0e-9d7b-6a3f3d0f1a11", Owner: who.Owner(), Tool: "drop", Answer: []byte(`{"b":1, "a":2}`)}
	change := func(ctx context.Context) error {
		return receipts.Change(ctx, func(ctx context.Context) error {
			if _, err := database.Exec(ctx, db, `delete from notes where id = (select min(id) from notes)`); err != nil {
				return err
			}
			return receipts.Keep(ctx, receipt)
		})
	}
	if err := change(ben); err == nil {
		t.Error("Ben kept a receipt in Ann's name")
	}
	if err := change(ann); err != nil {
		t.Fatal(err)
	}
	if err := change(ann); !fault.Is(err, fault.DatabaseError) || count(t, ann, db) != 49 {
		t.Errorf("the second time: %v, %d notes left; want DATABASE_ERROR and 49", err, count(t, ann, db))
	}
	answer, found, err := receipts.Find(ann, receipt.Owner, receipt.ID)
	if err != nil || !found || string(answer) != string(receipt.Answer) {
		t.Errorf("Ann finds %q, %v, %v", answer, found, err)
	}
	if _, found, err := receipts.Find(ben, receipt.Owner, receipt.ID); found || err != nil {
		t.Errorf("Ben finds Ann's receipt: %v, %v", found, err)
	}
}
