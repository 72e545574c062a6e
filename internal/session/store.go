package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/seal"
)

// Keys keeps sessions. Package state has it.
type Keys interface {
	Set(ctx context.Context, key string, value []byte, life time.Duration) error
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Take returns a value and deletes it; of several callers one gets it.
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
}

// store keeps the token of each session, sealed, under the digest of the id.
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

// create keeps a token for its remaining life under a fresh random id.
func (s store) create(ctx context.Context, token string, life time.Duration) (id string, err error) {
	if life <= 0 {
		return "", fault.Unauthorized.New("The sign-in is already over.")
	}
	id = rand.Text()
	digest := digestOf(id)
	sealed := s.ring.Seal([]byte(token), []byte(digest))
	return id, s.keys.Set(ctx, key(digest), []byte(sealed), life)
}

// read returns the token of a session. ok is false when the session has ended.
func (s store) read(ctx context.Context, id string) (token string, ok bool, err error) {
	return s.open(ctx, id, s.keys.Get)
}

// end deletes a session and returns its token. Of several callers one gets it.
func (s store) end(ctx context.Context, id string) (token string, ok bool, err error) {
	return s.open(ctx, id, s.keys.Take)
}

func (s store) open(ctx context.Context, id string, get func(context.Context, string) ([]byte, bool, error)) (token string, ok bool, err error) {
	digest := digestOf(id)
	sealed, ok, err := get(ctx, key(digest))
	if err != nil || !ok {
		return "", false, err
	}
	plain, err := s.ring.Open(string(sealed), []byte(digest))
	if err != nil {
		return "", false, errSeal{err}
	}
	return string(plain), true, nil
}

// errSeal says that a stored session was not sealed by us.
type errSeal struct{ cause error }

func (e errSeal) Error() string { return "opening a session: " + e.cause.Error() }
func (e errSeal) Unwrap() error { return e.cause }
