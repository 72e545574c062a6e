package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/seal"
)

// Keys keeps sessions. Package state has it.
type Keys interface {
	// SetNX keeps a value unless the key has one; done says whether it did.
	SetNX(ctx context.Context, key string, value []byte, life time.Duration) (done bool, err error)
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Swap replaces a value unless it is no longer the one named before; done says
	// whether it did. A life of zero deletes the key.
	Swap(ctx context.Context, key string, before, after []byte, life time.Duration) (done bool, err error)
}

// record is a session as it is stored.
type record struct {
	auth.Tokens
	Began auth.SignIn `json:"began"`
	Ends  time.Time   `json:"ends"`         // however often it was refreshed
	Due   time.Time   `json:"due,omitzero"` // from then on its tokens are refreshed; zero: never
}

// stored is a session as it was read, to be replaced.
type stored struct {
	record
	raw []byte
}

// store keeps the tokens of each session, sealed, under the digest of the id.
// Neither an id nor a token can be read in Redis.
type store struct {
	keys Keys
	ring *seal.Ring
}

func digestOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

func key(digest string) string { return "session:" + digest }

// create keeps a session under a fresh random id.
func (s store) create(ctx context.Context, r record, life time.Duration) (id string, err error) {
	if life <= 0 {
		return "", fault.Unauthorized.New("The sign-in is already over.")
	}
	id = rand.Text()
	sealed, err := s.seal(digestOf(id), r)
	if err != nil {
		return "", err
	}
	_, err = s.keys.SetNX(ctx, key(digestOf(id)), sealed, life)
	return id, err
}

// read returns a session. ok is false when it has ended.
func (s store) read(ctx context.Context, id string) (kept stored, ok bool, err error) {
	digest := digestOf(id)
	sealed, ok, err := s.keys.Get(ctx, key(digest))
	if err != nil || !ok {
		return stored{}, false, err
	}
	plain, err := s.ring.Open(string(sealed), []byte(digest))
	if err != nil {
		return stored{}, false, errSeal{err}
	}
	kept.raw = sealed
	if err := json.Unmarshal(plain, &kept.record); err != nil {
		return stored{}, false, errSeal{err}
	}
	return kept, true, nil
}

// replace replaces a session that was read. done is false when it was changed or
// ended since.
func (s store) replace(ctx context.Context, id string, was stored, by record, life time.Duration) (done bool, err error) {
	sealed, err := s.seal(digestOf(id), by)
	if err != nil {
		return false, err
	}
	return s.keys.Swap(ctx, key(digestOf(id)), was.raw, sealed, life)
}

// end deletes a session and returns it. Of several callers one gets it.
func (s store) end(ctx context.Context, id string) (kept stored, ok bool, err error) {
	for {
		kept, ok, err = s.read(ctx, id)
		if err != nil || !ok {
			return stored{}, false, err
		}
		if done, err := s.keys.Swap(ctx, key(digestOf(id)), kept.raw, nil, 0); done || err != nil {
			return kept, done, err
		}
	}
}

func (s store) seal(digest string, r record) ([]byte, error) {
	plain, err := json.Marshal(r)
	return []byte(s.ring.Seal(plain, []byte(digest))), err
}

// lease lets one caller refresh a session at a time, on every replica. value is
// empty when another one has it.
func (s store) lease(ctx context.Context, id string, life time.Duration) (value []byte, err error) {
	value = []byte(rand.Text())
	done, err := s.keys.SetNX(ctx, leaseKey(id), value, life)
	if err != nil || !done {
		return nil, err
	}
	return value, nil
}

// release shortens a lease to life; zero ends it.
func (s store) release(ctx context.Context, id string, value []byte, life time.Duration) error {
	_, err := s.keys.Swap(ctx, leaseKey(id), value, value, life)
	return err
}

func leaseKey(id string) string { return "session-refresh:" + digestOf(id) }

// errSeal says that a stored session was not sealed by us.
type errSeal struct{ cause error }

func (e errSeal) Error() string { return "opening a session: " + e.cause.Error() }
func (e errSeal) Unwrap() error { return e.cause }
