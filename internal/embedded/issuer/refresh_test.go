package issuer_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"countersign.dev/internal/embedded/issuer"
)

// refreshed sends a refresh token and returns the status and the next one.
func refreshed(t *testing.T, s *issuer.Server, token string, change ...string) (int, string) {
	t.Helper()
	in := url.Values{"grant_type": {"refresh_token"}, "client_id": {"web"}, "refresh_token": {token}}
	for i := 0; i+1 < len(change); i += 2 {
		in.Set(change[i], change[i+1])
	}
	resp, body := do(t, form(t, s.URL()+"/token", in))
	return resp.StatusCode, refreshIn(t, body)
}

func refreshIn(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return answer.Refresh
}

func signedIn(t *testing.T, s *issuer.Server) (refresh string) {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	code := pick(t, s, asking(verifier)).Get("code")
	resp, body := do(t, form(t, s.URL()+"/token", exchange(code, verifier)))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("sign-in: %d %s", resp.StatusCode, body)
	}
	return refreshIn(t, body)
}

func TestRefreshTokensRotateAndReuseEndsTheFamily(t *testing.T) {
	s := start(t, options())
	first := signedIn(t, s)
	status, second := refreshed(t, s, first)
	if status != http.StatusOK || second == "" || second == first {
		t.Fatalf("refresh: %d, next token %q", status, second)
	}
	if status, third := refreshed(t, s, second); status != http.StatusOK || third == "" {
		t.Fatalf("second refresh: %d", status)
	} else if status, _ := refreshed(t, s, first); status != http.StatusBadRequest {
		t.Errorf("a used token answered %d", status)
	} else if status, _ := refreshed(t, s, third); status != http.StatusBadRequest {
		t.Errorf("after a reuse the newest token answered %d", status)
	}
}

func TestRefreshTokenBelongsToItsClientAndEnds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := options()
	o.Now = func() time.Time { return now }
	s := start(t, o)
	token := signedIn(t, s)
	for name, change := range map[string][]string{
		"other client": {"client_id", "secretive", "client_secret", "s3cret"}, "no token": {"refresh_token", ""}, "invented": {"refresh_token", "A.B"},
	} {
		if status, _ := refreshed(t, s, token, change...); status != http.StatusBadRequest {
			t.Errorf("%s: got %d", name, status)
		}
	}
	now = now.Add(25 * time.Hour)
	if status, _ := refreshed(t, s, token); status != http.StatusBadRequest {
		t.Errorf("a token of 25 hours answered %d", status)
	}
}
