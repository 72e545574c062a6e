package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

// WaitingSchema is the table of [Confirmations].
const WaitingSchema = `create table if not exists waiting (
	id text primary key, record text not null, input text not null, answer text not null, keep_until integer not null
) strict, without rowid`

// Confirmations keeps confirmations in a file, for a server without Redis. It seals
// nothing: a program that can write the file can write the data beside it.
type Confirmations struct {
	db  *DB
	now func() time.Time
}

// NewConfirmations keeps confirmations in a database that has [WaitingSchema]. A nil
// now is time.Now.
func NewConfirmations(db *DB, now func() time.Time) *Confirmations {
	if now == nil {
		now = time.Now
	}
	return &Confirmations{db, now}
}

// Create implements [confirm.Store]. What is no longer kept is deleted here.
func (c *Confirmations) Create(ctx context.Context, r confirm.Record) error {
	return c.db.Change(ctx, func(ctx context.Context) error {
		if _, err := c.db.Exec(ctx, `delete from waiting where keep_until <= ?`, c.now().UnixMilli()); err != nil {
			return err
		}
		return c.write(ctx, `insert into waiting (record, input, answer, keep_until, id) values (?, ?, ?, ?, ?)`, r, r.Expires)
	})
}

func (c *Confirmations) write(ctx context.Context, statement string, r confirm.Record, until time.Time) error {
	input, answer := string(r.Input), string(r.Answer) // beside the record, byte for byte
	r.Input, r.Answer = nil, nil
	encoded, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.db.Exec(ctx, statement, string(encoded), input, answer, until.UnixMilli(), string(r.ID))
	return err
}

// Get implements [confirm.Store].
func (c *Confirmations) Get(ctx context.Context, server string, id confirm.ID) (r confirm.Record, ok bool, err error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	var encoded, input, answer string
	err = c.db.In(ctx).QueryRowContext(ctx, `select record, input, answer from waiting where id = ? and keep_until > ?`, string(id), c.now().UnixMilli()).Scan(&encoded, &input, &answer)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, false, nil
	case err != nil:
		return r, false, c.db.Fault(ctx, err)
	}
	if err := json.Unmarshal([]byte(encoded), &r); err != nil {
		return r, false, confirm.Altered(err)
	}
	r.Input = json.RawMessage(input)
	if answer != "" {
		r.Answer = json.RawMessage(answer)
	}
	return r, server == "" || r.Server == server, nil
}

// Waiting returns what may wait for an answer, by when it expires. What is being applied is
// among it: its server says whether a crash left it, and it waits again.
func (c *Confirmations) Waiting(ctx context.Context) (all []confirm.Record, err error) {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	rows, err := c.db.In(ctx).QueryContext(ctx, `select record from waiting where keep_until > ? order by id`, c.now().UnixMilli())
	if err != nil {
		return nil, c.db.Fault(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var encoded string
		var r confirm.Record
		if err := rows.Scan(&encoded); err != nil {
			return nil, c.db.Fault(ctx, err)
		}
		if err := json.Unmarshal([]byte(encoded), &r); err != nil {
			return nil, confirm.Altered(err)
		}
		if (r.State == confirm.Pending || r.State == confirm.Applying) && c.now().Before(r.Expires) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(x, y confirm.Record) int { return x.Expires.Compare(y.Expires) })
	return all, c.db.Fault(ctx, rows.Err())
}

// Acquire implements [confirm.Store].
func (c *Confirmations) Acquire(ctx context.Context, reply confirm.Reply, owner access.Owner, now time.Time) (r confirm.Record, acquired confirm.Acquisition, err error) {
	err = c.change(ctx, reply.Server, reply.ID, func(found *confirm.Record) bool {
		acquired = found.Acquire(reply, owner, now)
		r = *found
		return acquired == confirm.Acquired
	})
	if acquired == confirm.Unknown {
		r = confirm.Record{}
	}
	return r, acquired, err
}

// Settle implements [confirm.Store].
func (c *Confirmations) Settle(ctx context.Context, attempt confirm.Record, to confirm.State, answer json.RawMessage) (moved bool, err error) {
	err = c.change(ctx, "", attempt.ID, func(found *confirm.Record) bool {
		moved = found.Settle(attempt.Acquired, to, answer)
		return moved
	})
	return moved && err == nil, err
}

// change lets step change a record in one transaction, and keeps it for [confirm.Memory]
// then; a missing one it leaves out.
func (c *Confirmations) change(ctx context.Context, server string, id confirm.ID, step func(*confirm.Record) (keep bool)) error {
	return c.db.Change(ctx, func(ctx context.Context) error {
		r, ok, err := c.Get(ctx, server, id)
		if err != nil || !ok {
			return err
		}
		if !step(&r) {
			return nil
		}
		return c.write(ctx, `update waiting set record = ?, input = ?, answer = ?, keep_until = ? where id = ?`, r, c.now().Add(confirm.Memory))
	})
}

var _ confirm.Store = (*Confirmations)(nil)
