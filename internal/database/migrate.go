package database

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed before.sql
var beforeSQL string

//go:embed receipts.sql
var receiptsSQL string

//go:embed links.sql
var linksSQL string

//go:embed after.sql
var afterSQL string

// Schema is what one domain keeps in a database.
type Schema struct {
	Name       string // of the schema: hr
	Login      string // of the domain's application: countersign_hr
	Migrations fs.FS  // its folder migrations has files NNNN_name.sql, applied in order
}

const migrationsFolder = "migrations"

// migration is one file.
type migration struct {
	Version int
	Name    string
	Digest  string
	sql     string
}

// Migrate brings a schema up to date with the administrator's login: it makes
// the schema, the application's login (which owns nothing and bypasses no
// policy) and the table of receipts, and applies the migrations that are missing, all in
// one transaction. It returns the names of those it applied. A password, when
// given, is set for the login. Two programs that migrate at once wait for each
// other. A migration that was changed after it was applied is an error.
func Migrate(ctx context.Context, adminURL string, s Schema, password string) (applied []string, err error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err = Admin(ctx, adminURL, func(ctx context.Context, tx pgx.Tx) error {
			applied, err = s.migrate(ctx, tx, files, password)
			return err
		})
		if try == maxTries || !changedMeanwhile(err) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("migrating schema %s: %w", s.Name, err)
	}
	return applied, nil
}

// maxTries bounds how often a migration is begun.
const maxTries = 20

// changedMeanwhile reports whether a migration failed because one of another
// database changed the login at the same time. Logins belong to the whole server,
// and the lock of migrations to one database; PostgreSQL does not wait here.
func changedMeanwhile(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "XX000" && strings.Contains(refused.Message, "tuple concurrently updated")
}

// Admin runs fn in one transaction of the administrator's login. It is for
// migrations and for seeding; there is no principal, and so no tool may use it.
func Admin(ctx context.Context, adminURL string, fn func(context.Context, pgx.Tx) error) error {
	config, err := pgx.ParseConfig(adminURL)
	if err != nil {
		return fmt.Errorf("reading the database URL: %w", unquoted(err))
	}
	config.ConnectTimeout = 5 * time.Second
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting as %s: %w", config.User, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return fn(ctx, tx) })
}

func (s Schema) migrate(ctx context.Context, tx pgx.Tx, files []migration, password string) (applied []string, err error) {
	const lock = `select pg_advisory_xact_lock(hashtext('countersign migrations'), hashtext($1)),
		set_config('countersign.schema', $1, true), set_config('countersign.login', $2, true)`
	if _, err := tx.Exec(ctx, lock, s.Name, s.Login); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, beforeSQL); err != nil {
		return nil, err
	}
	if err := setPassword(ctx, tx, s.Login, password); err != nil {
		return nil, err
	}
	done, err := appliedBefore(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, m := range files {
		if digest, ok := done[m.Version]; ok {
			if digest != m.Digest {
				return nil, fmt.Errorf("migration %s was changed after it was applied", m.Name)
			}
			continue
		}
		if err := m.apply(ctx, tx); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.Name, err)
		}
		applied = append(applied, m.Name)
	}
	_, err = tx.Exec(ctx, afterSQL)
	return applied, err
}

// setPassword lets the server quote the password: the statement takes no
// parameters.
func setPassword(ctx context.Context, tx pgx.Tx, login, password string) error {
	if password == "" {
		return nil
	}
	var statement string
	if err := tx.QueryRow(ctx, `select format('alter role %I password %L', $1::text, $2::text)`, login, password).Scan(&statement); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, statement)
	return err
}

func appliedBefore(ctx context.Context, tx pgx.Tx) (map[int]string, error) {
	rows, err := tx.Query(ctx, `select version, digest from migrations`)
	if err != nil {
		return nil, err
	}
	done := map[int]string{}
	var version int
	var digest string
	_, err = pgx.ForEachRow(rows, []any{&version, &digest}, func() error {
		done[version] = digest
		return nil
	})
	return done, err
}

func (m migration) apply(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, m.sql); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into migrations (version, name, digest) values ($1, $2, $3)`, m.Version, m.Name, m.Digest)
	return err
}

var migrationName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)

// files reads the migrations in order, those of every schema first, which have
// the numbers 0 and below. The others' start at one and have no gap: a gap is a file that was not committed.
func (s Schema) files() ([]migration, error) {
	entries, err := fs.ReadDir(s.Migrations, migrationsFolder)
	if err != nil {
		return nil, err
	}
	files := []migration{newMigration(0, "0000_confirmations.sql", receiptsSQL), newMigration(-1, "0000_links.sql", linksSQL)}
	shared := len(files)
	for _, entry := range entries {
		match := migrationName.FindStringSubmatch(entry.Name())
		if match == nil {
			return nil, fmt.Errorf("%q is not named like a migration", entry.Name())
		}
		version, _ := strconv.Atoi(match[1])
		if next := len(files) - shared + 1; version != next {
			return nil, fmt.Errorf("migration %04d is missing", next)
		}
		sql, err := fs.ReadFile(s.Migrations, migrationsFolder+"/"+entry.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, newMigration(version, entry.Name(), string(sql)))
	}
	if len(files) == shared {
		return nil, errors.New("there are no migrations")
	}
	return files, nil
}

func newMigration(version int, name, sql string) migration {
	sum := sha256.Sum256([]byte(sql))
	return migration{version, name, hex.EncodeToString(sum[:]), sql}
}
