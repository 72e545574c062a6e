package database_test

import (
	"context"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/database"
)

func TestMigrateAppliesWhatIsMissing(t *testing.T) {
	adminURL := cluster.Database(t, "")
	files := fstest.MapFS{"migrations/0001_notes.sql": {Data: []byte(notes)}}
	s := database.Schema{Name: "notes", Login: "countersign_notes", Migrations: files}
	migrate := func(want ...string) {
		t.Helper()
		got, err := database.Migrate(t.Context(), adminURL, s, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("applied (-want +got):\n%s", diff)
		}
	}
	migrate("0000_confirmations.sql", "0000_links.sql", "0001_notes.sql")
	migrate()
	files["migrations/0002_more.sql"] = &fstest.MapFile{Data: []byte(`alter table notes add column more text`)}
	migrate("0002_more.sql")
}

func TestMigrateRefuses(t *testing.T) {
	adminURL := cluster.Database(t, "")
	if _, err := database.Migrate(t.Context(), adminURL, schema(notes), ""); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"a changed file":  {fstest.MapFS{"migrations/0001_notes.sql": {Data: []byte("select 1")}}, "was changed after it was applied"},
		"a gap":           {fstest.MapFS{"migrations/0002_notes.sql": {Data: []byte("select 1")}}, "migration 0001 is missing"},
		"another name":    {fstest.MapFS{"migrations/readme.md": {}}, "not named like a migration"},
		"nothing":         {fstest.MapFS{"migrations": {Mode: fs.ModeDir}}, "no migrations"},
		"a faulty second": {fstest.MapFS{"migrations/0001_notes.sql": {Data: []byte(notes)}, "migrations/0002_x.sql": {Data: []byte("create table x (id int); create tabel y;")}}, "0002_x.sql"},
	} {
		s := database.Schema{Name: "notes", Login: "countersign_notes", Migrations: c.files}
		if _, err := database.Migrate(t.Context(), adminURL, s, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if tables := adminStrings(t, adminURL, `select relname from pg_class where relname = 'x'`); len(tables) > 0 {
		t.Error("half a migration was left behind")
	}
}

func TestTwoMigrationsAtOnceWaitForEachOther(t *testing.T) {
	adminURL := cluster.Database(t, "")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := database.Migrate(t.Context(), adminURL, schema(notes), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(adminStrings(t, adminURL, `select name from notes.migrations`)); n != 3 {
		t.Errorf("%d migrations are recorded, want 3", n)
	}
}

// TestDatabasesOfOneServerAreMigratedAtOnce: they share the login, which each
// migration changes.
func TestDatabasesOfOneServerAreMigratedAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		adminURL := cluster.Database(t, "")
		wg.Go(func() {
			for range 5 {
				if _, err := database.Migrate(t.Context(), adminURL, schema(notes), "a password"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func adminStrings(t *testing.T, adminURL, sql string) (out []string) {
	t.Helper()
	err := database.Admin(t.Context(), adminURL, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func adminExec(t *testing.T, adminURL, sql string) {
	t.Helper()
	err := database.Admin(t.Context(), adminURL, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSelfCheckAcceptsTheMigratedLogin(t *testing.T) {
	db, _ := open(t, nil)
	if err := database.SelfCheck(t.Context(), db, "notes"); err != nil {
		t.Error(err)
	}
}

func TestSelfCheckNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ login, prepare, want string }{
		"superuser":           {"postgres", ``, "superuser postgres"},
		"bypass":              {"bypasser", `create role bypasser login bypassrls; grant usage on schema notes to bypasser`, "passes by row-level security"},
		"member of bypass":    {"member", `create role inner_bypass bypassrls; create role member login in role inner_bypass; grant usage on schema notes to member`, "inner_bypass"},
		"owner":               {"owner", `create role owner login; grant usage on schema notes to owner; alter table notes.notes owner to owner`, "owns notes"},
		"member of the owner": {"cousin", `create role house; create role cousin login in role house; grant usage on schema notes to cousin; alter table notes.notes owner to house`, "owns notes"},
		"owner of the schema": {"landlord", `create role landlord login; alter schema notes owner to landlord`, "owns the schema"},
		"not forced":          {"countersign_notes", `alter table notes.notes no force row level security`, "notes does not force"},
		"not enabled":         {"countersign_notes", `create table notes.bare (id int)`, "bare does not force"},
		"plain view":          {"countersign_notes", `create view notes.leak as select * from notes.notes`, "leak reads with its owner's rights"},
		"materialized view":   {"countersign_notes", `create materialized view notes.copy as select * from notes.notes`, "copy knows no"},
		"loose function":      {"countersign_notes", `create function notes.f() returns int language sql security definer as 'select 1'`, "function f"},
		"no schema":           {"countersign_notes", `drop schema notes cascade`, `run "countersign migrate"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, adminURL := open(t, nil)
			adminExec(t, adminURL, c.prepare)
			t.Cleanup(func() { dropRoles(t, adminURL, c.prepare) })
			err := database.SelfCheck(t.Context(), login(t, adminURL, c.login, nil), "notes")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// dropRoles drops the roles that a case made: they outlive the test's database.
func dropRoles(t *testing.T, adminURL, prepare string) {
	for _, made := range regexp.MustCompile(`create role (\w+)`).FindAllStringSubmatch(prepare, -1) {
		err := database.Admin(context.WithoutCancel(t.Context()), adminURL, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "drop owned by "+made[1]+" cascade; drop role "+made[1])
			return err
		})
		if err != nil {
			t.Errorf("dropping %s: %v", made[1], err)
		}
	}
}

func TestPasswordIsQuotedByTheServer(t *testing.T) {
	adminURL := cluster.Database(t, "")
	const awkward = `it's "quoted" \ $1; drop schema notes cascade; --`
	if _, err := database.Migrate(t.Context(), adminURL, schema(notes), awkward); err != nil {
		t.Fatal(err)
	}
	if n := len(adminStrings(t, adminURL, `select rolname from pg_authid where rolname = 'countersign_notes' and rolpassword like 'SCRAM-SHA-256%'`)); n != 1 {
		t.Error("the password was not set")
	}
}

// TestPasswordChangesUnderOpenConnections does what docs/operations.md says:
// migrating with another password sets it, and connections that are open stay.
func TestPasswordChangesUnderOpenConnections(t *testing.T) {
	adminURL := cluster.Database(t, "")
	stored := func(password string) string {
		t.Helper()
		if _, err := database.Migrate(t.Context(), adminURL, schema(notes), password); err != nil {
			t.Fatal(err)
		}
		return strings.Join(adminStrings(t, adminURL, `select rolpassword from pg_authid where rolname = 'countersign_notes'`), "")
	}
	before := stored("before")
	db, ann := login(t, adminURL, "countersign_notes", nil), as(t.Context(), "ann@x")
	err := db.Read(ann, func(ctx context.Context) error { // on one connection
		if after := stored("after"); after == before {
			t.Error("the password is the same")
		}
		if n := count(t, ctx, db); n != 50 {
			t.Errorf("got %d notes, want 50", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if n := count(t, ann, db); n != 50 {
		t.Errorf("afterwards: got %d notes, want 50", n)
	}
}
