package sealed

import (
	"context"
	"strconv"
	"time"

	"countersign.dev/internal/memo"
	"countersign.dev/internal/state"
)

// ByteLog keeps entries under numbers that grow by one. Its TTL is renewed with
// each entry.
type ByteLog interface {
	AppendNumbered(ctx context.Context, log string, seq int64, entry []byte, ttl time.Duration) (next int64, done bool, err error)
	ReadAfter(ctx context.Context, log, after string, max int) ([]state.Entry, error)
	LastID(ctx context.Context, log string) (id string, err error)
	Watch(log string, wake func(id string)) (leave func())
}

// Logs appends entries that are sealed for their place: the log and the id
// under which they are kept there. An entry of another log, or at another place of
// its own, does not open.
type Logs struct {
	ByteLog
	next *memo.Memo[string, int64] // the next number of a log, so that an append is one exchange; it may be out of date
}

// maxNumbers bounds the logs whose next number is remembered.
const maxNumbers = 10_000

// NewLogs seals what it appends to those logs.
func NewLogs(logs ByteLog) Logs {
	return Logs{logs, memo.New[string, int64](maxNumbers)}
}

// Append seals an entry for the next id of the log and adds it. When another
// writer took that id, the entry is sealed again for the one that follows.
func (s Logs) Append(ctx context.Context, log string, ttl time.Duration, seal func(id string) ([]byte, error)) (id string, err error) {
	for seq := max(s.next.Get(log), 1); ; {
		id = strconv.FormatInt(seq, 10) + "-0"
		entry, err := seal(id)
		if err != nil {
			return "", err
		}
		next, done, err := s.AppendNumbered(ctx, log, seq, entry, ttl)
		if err != nil {
			return "", err
		}
		if s.next.Put(log, next); done {
			return id, nil
		}
		seq = next
	}
}
