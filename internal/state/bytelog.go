package state

import (
	"context"
	"errors"
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

// ErrGap says that the entry that a reader saw last is no longer in the log
// (trimmed, expired, lost), or never was: entries after it may be missing.
// Reading from the start ("") returns what there is.
var ErrGap = errors.New("the log does not have the entry to read after")

const entryField = "d"

// counterTTL is how long a log's numbers outlive its entries, so that an id is
// not given twice to one who remembers it.
const counterTTL = 31 * 24 * time.Hour

// addEntry begins the scripts that add an entry. It adds one under an id, trims the
// log, and keeps its size.
const addEntry = `
local function add(id)
	local length, size = redis.call('XLEN', KEYS[1]), #ARGV[1]
	if length == 0 then
		redis.call('DEL', KEYS[3])
	end
	local trimmed = length + 1 - tonumber(ARGV[2])
	if trimmed > 0 then
		for _, old in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', trimmed)) do
			size = size - #old[2][2]
		end
	end
	redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], id, ARGV[3], ARGV[1])
	redis.call('INCRBY', KEYS[3], size)
	redis.call('PEXPIRE', KEYS[1], ARGV[4])
	redis.call('PEXPIRE', KEYS[3], ARGV[4])
	redis.call('PEXPIRE', KEYS[2], ARGV[5])
	redis.call('PUBLISH', ARGV[6], id .. ' ' .. ARGV[7])
end
`

// appendEntry takes the next number of the log and adds the entry under it.
var appendEntry = redis.NewScript(addEntry + `
local id = string.format('%.0f', redis.call('INCR', KEYS[2])) .. '-0'
add(id)
return id`)

// appendNumbered is appendEntry for an entry that was made for one number, if that
// is the next one. It returns the next number of the log. A number that cannot be ours
// is taken for none, so that no writer tries again without end.
var appendNumbered = redis.NewScript(addEntry + `
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if not (last and last >= 0 and last < 2^53) then
	last = 0
end
local following = last + 1
if string.format('%.0f', following) ~= ARGV[8] then
	return {0, following}
end
redis.call('INCR', KEYS[2])
add(ARGV[8] .. '-0')
return {1, following + 1}`)

// keysOf are the keys of a log: its entries, its numbers and its size.
func (r *Redis) keysOf(log string) []string {
	return []string{r.key(log), r.key(log + ":counter"), r.size(log)}
}

func (r *Redis) size(log string) string { return r.key(log + ":bytes") }

var entryID = regexp.MustCompile(`^\d{1,20}-\d{1,20}$`)

// Append adds an entry to a log, renews the log's TTL and wakes its
// readers, in every process. Entries beyond Options.Entries are trimmed, the
// oldest first.
func (r *Redis) Append(ctx context.Context, log string, entry []byte, ttl time.Duration) (id string, err error) {
	if ttl, err = ttlOf(ttl); err != nil {
		return "", err
	}
	err = r.call(ctx, "append", func(ctx context.Context) error {
		id, err = appendEntry.Run(ctx, r.client, r.keysOf(log),
			entry, strconv.FormatInt(r.entries, 10), entryField, ttl.Milliseconds(), (ttl + counterTTL).Milliseconds(), r.key(grownChannel), log).Text()
		return err
	})
	return id, err
}

// AppendNumbered is Append for an entry that was made for one number: it is added
// if that is the log's next number. next is the number that follows, or that the
// caller must take instead.
func (r *Redis) AppendNumbered(ctx context.Context, log string, seq int64, entry []byte, ttl time.Duration) (next int64, done bool, err error) {
	if ttl, err = ttlOf(ttl); err != nil {
		return 0, false, err
	}
	err = r.call(ctx, "append", func(ctx context.Context) error {
		reply, err := appendNumbered.Run(ctx, r.client, r.keysOf(log),
			entry, strconv.FormatInt(r.entries, 10), entryField, ttl.Milliseconds(), (ttl + counterTTL).Milliseconds(), r.key(grownChannel), log, seq).Int64Slice()
		if err == nil {
			done, next = reply[0] == 1, reply[1]
		}
		return err
	})
	return next, done, err
}

// Sizes is the sum of the bytes of the entries that logs have.
func (r *Redis) Sizes(ctx context.Context, logs ...string) (sum int64, err error) {
	if len(logs) == 0 {
		return 0, nil
	}
	keys := make([]string, len(logs))
	for i, log := range logs {
		keys[i] = r.size(log)
	}
	var values []any
	err = r.call(ctx, "mget", func(ctx context.Context) error {
		values, err = r.client.MGet(ctx, keys...).Result()
		return err
	})
	for _, v := range values {
		text, _ := v.(string)
		n, _ := strconv.ParseInt(text, 10, 64) // 0 for a missing one
		sum += n
	}
	return sum, err
}

// Drop deletes a log and its numbers, and wakes its readers. A missing one is no error.
func (r *Redis) Drop(ctx context.Context, log string) error {
	return r.call(ctx, "del", func(ctx context.Context) error {
		_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, r.keysOf(log)...)
			p.Publish(ctx, r.key(grownChannel), " "+log)
			return nil
		})
		return err
	})
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

// Watch calls wake whenever the log has grown, with the id of the new entry, and with ""
// when it may have changed in another manner, until leave is called: a reader that
// watches needs no goroutine to wait. wake must not block.
func (r *Redis) Watch(log string, wake func(id string)) (leave func()) {
	leave = r.grown.watch(log, wake) // before the subscription begins, of which it hears
	r.grown.subscribe()
	return leave
}

// ReadAfter returns at most max entries that follow the one with the id after, or the
// first ones when after is "". It returns ErrGap when after is not in the log.
func (r *Redis) ReadAfter(ctx context.Context, log, after string, max int) (entries []Entry, err error) {
	from, count := "-", max
	switch {
	case after != "" && !entryID.MatchString(after):
		return nil, ErrGap
	case after != "":
		from, count = after, max+1 // it is read again: its absence is the gap
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
