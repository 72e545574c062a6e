package database

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/access"
)

// Links makes a database link each caller to their first verified address, in
// the table `links` that every migrated schema has. Policies read the link, not
// the address of a token: who somebody is does not change with it.
type Links struct {
	// Taken is called when a caller's verified address is linked to another
	// person, at most once a minute for a caller. It is not known who they are. Nil:
	// nothing is called.
	Taken func(ctx context.Context)

	mu     sync.Mutex
	linked map[access.Owner]bool
	taken  map[access.Owner]time.Time // when that was found
}

const (
	maxLinked  = 10_000 // callers that are remembered; more are linked anew, which changes nothing
	takenAgain = time.Minute
)

// known reports whether nothing is to be done for a caller.
func (l *Links) known(p *access.Principal) bool {
	if l == nil || p.Email() == "" { // without an address only an earlier link counts
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, taken := l.taken[p.Owner()]
	return l.linked[p.Owner()] || taken && time.Since(at) < takenAgain
}

func (l *Links) remember(p *access.Principal, linked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.linked == nil || len(l.linked)+len(l.taken) >= maxLinked {
		l.linked, l.taken = make(map[access.Owner]bool), make(map[access.Owner]time.Time)
	}
	delete(l.taken, p.Owner())
	if linked {
		l.linked[p.Owner()] = true
		return
	}
	l.taken[p.Owner()] = time.Now()
}

// link links a caller that this process has not linked before, in a transaction
// of its own.
func (db *DB) link(ctx context.Context, who *access.Principal) error {
	if db.links.known(who) {
		return nil
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return translate(err)
	}
	defer conn.Release()
	batch := &pgx.Batch{}
	batch.Queue(identify, identity(who, "off")...)
	var linked bool
	err = send(ctx, conn, batch, `select link_caller()`, nil, func(rows pgx.Rows) (err error) {
		linked, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		return err
	})
	if err != nil {
		return err
	}
	db.links.remember(who, linked)
	if !linked && db.links.Taken != nil {
		db.links.Taken(ctx)
	}
	return nil
}
