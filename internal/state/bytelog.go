package state

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Entry is one entry of a log.
type Entry struct {
	ID   string // "SEQ-0"; SEQ grows by one with each entry of a log
	Data []byte
}

// ErrGap says that the entry that a reader saw last is not in the log any more
// (trimmed, expired, lost), or never was: what followed it cannot be told
// without a gap. Reading from the start ("") gives what there is.
var ErrGap = errors.New("the log does not have the entry to read after")

const (
	entryField = "d"
	bellName   = "bell" // the channel on which logs that grew are named

	// lookAgain bounds the wait for a bell, because one may be missed while the
	// connection that carries them is made anew.
	lookAgain = 2 * time.Second
)

// counterLife is how long a log's numbers outlive its entries, so that an id is
// not given twice to one who remembers it.
const counterLife = 31 * 24 * time.Hour

// appendEntry takes the next number of the log and adds the entry under it.
var appendEntry = redis.NewScript(`
local id = string.format('%.0f', redis.call('INCR', KEYS[2])) .. '-0'
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], id, ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('PUBLISH', ARGV[6], ARGV[7])
return id`)

func (r *Redis) counter(log string) string { return r.key(log + ":counter") }

var entryID = regexp.MustCompile(`^\d{1,20}-\d{1,20}$`)

// Append adds an entry to a log, gives the log a new life and wakes its
// readers, in every process. The oldest entries give way to Options.Entries.
func (r *Redis) Append(ctx context.Context, log string, entry []byte, life time.Duration) (id string, err error) {
	if life, err = lifeOf(life); err != nil {
		return "", err
	}
	err = r.call(ctx, "append", func(ctx context.Context) error {
		id, err = appendEntry.Run(ctx, r.client, []string{r.key(log), r.counter(log)},
			entry, strconv.FormatInt(r.entries, 10), entryField, life.Milliseconds(), (life + counterLife).Milliseconds(), r.key(bellName), log).Text()
		return err
	})
	return id, err
}

// Drop deletes a log and forgets its numbers. That there was none is no error.
func (r *Redis) Drop(ctx context.Context, log string) error {
	return r.call(ctx, "del", func(ctx context.Context) error { return r.client.Del(ctx, r.key(log), r.counter(log)).Err() })
}

// LastID returns the id of a log's newest entry, or "" when it has none.
func (r *Redis) LastID(ctx context.Context, log string) (id string, err error) {
	err = r.call(ctx, "xrevrange", func(ctx context.Context) error {
		newest, err := r.client.XRevRangeN(ctx, r.key(log), "+", "-", 1).Result()
		if len(newest) > 0 {
			id = newest[0].ID
		}
		return err
	})
	return id, err
}

// ReadAfter returns at most max entries that follow the one with the id after,
// or the first ones when after is "". When there are none it waits up to block
// for one, and then returns none. A waiting reader costs no connection. It
// returns ErrGap when after is not in the log.
func (r *Redis) ReadAfter(ctx context.Context, log, after string, max int, block time.Duration) ([]Entry, error) {
	if after != "" && !entryID.MatchString(after) {
		return nil, ErrGap
	}
	until := time.Now().Add(block)
	if block > 0 {
		r.listen()
	}
	bell, leave := r.bells.attend(log) // before the first look, so that nothing falls between
	defer leave()
	for {
		entries, err := r.read(ctx, log, after, max)
		wait := min(time.Until(until), lookAgain)
		if err != nil || len(entries) > 0 || wait <= 0 {
			return entries, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a log entry: %w", ctx.Err())
		case <-bell:
		case <-time.After(wait):
		}
	}
}

// read asks for the entry after as well: its absence is the gap.
func (r *Redis) read(ctx context.Context, log, after string, max int) (entries []Entry, err error) {
	from, count := "-", max
	if after != "" {
		from, count = after, max+1
	}
	var found []redis.XMessage
	err = r.call(ctx, "xrange", func(ctx context.Context) error {
		found, err = r.client.XRangeN(ctx, r.key(log), from, "+", int64(count)).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	if after != "" {
		if len(found) == 0 || found[0].ID != after {
			return nil, ErrGap
		}
		found = found[1:]
	}
	for _, m := range found {
		data, _ := m.Values[entryField].(string)
		entries = append(entries, Entry{ID: m.ID, Data: []byte(data)})
	}
	return entries, nil
}
