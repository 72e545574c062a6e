package session

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// TestStoredSessionsAreSealedForTheirCookie: a session in Redis that was changed,
// or is that of another cookie, is refused.
func TestStoredSessionsAreSealedForTheirCookie(t *testing.T) {
	mini := miniredis.RunT(t)
	redis, err := state.Open(t.Context(), "redis://"+mini.Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	s := store{redis, testkit.Ring("cookie")}
	var cookies, stored []string
	for _, token := range []string{"token of ann", "token of bob"} {
		id, err := s.create(t.Context(), record{Tokens: auth.Tokens{Access: token}}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		value, err := mini.Get(key(digestOf(id)))
		if err != nil {
			t.Fatal(err)
		}
		cookies, stored = append(cookies, id), append(stored, value)
	}
	ann := key(digestOf(cookies[0]))
	foreign := testkit.Ring("other").Seal([]byte("token of eve"), []byte(digestOf(cookies[0])))
	for name, value := range map[string]string{
		"of another cookie": stored[1], "altered": "A" + stored[0][1:] + "A", "not sealed": "token of bob", "sealed with another key": foreign, "empty": "",
	} {
		if err := mini.Set(ann, value); err != nil {
			t.Fatal(err)
		}
		if kept, ok, err := s.read(t.Context(), cookies[0]); ok || !errors.As(err, new(errSeal)) {
			t.Errorf("%s: got %q, %v, %v, want it refused", name, kept.Access, ok, err)
		}
	}
	if err := mini.Set(ann, stored[0]); err != nil {
		t.Fatal(err)
	}
	if kept, ok, err := s.read(t.Context(), cookies[0]); kept.Access != "token of ann" || !ok || err != nil {
		t.Errorf("as it was: got %q, %v, %v", kept.Access, ok, err)
	}
}
