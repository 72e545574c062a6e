package issuer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

const (
	renewBefore  = time.Minute // its end, a token is replaced
	fetchTimeout = 5 * time.Second
)

// Session has tokens of one person, which it asks a development issuer for: that of
// another process, too. It is safe for concurrent use.
type Session struct {
	address string // of the endpoint
	request []byte
	client  *http.Client
	now     func() time.Time

	mu    sync.Mutex
	token string
	renew time.Time // when token is replaced
}

// NewSession makes a session of a person of the issuer at that address, for one
// audience. Its tokens call tools and answer no confirmation. A nil now is time.Now.
func NewSession(issuer, username, audience string, now func() time.Time) (*Session, error) {
	if err := loopbackURL(issuer); err != nil {
		return nil, err
	}
	request, err := json.Marshal(map[string]string{"username": username, "audience": audience, "scope": "mcp"})
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now
	}
	return &Session{address: strings.TrimSuffix(issuer, "/") + "/dev/token", request: request, client: &http.Client{Timeout: fetchTimeout}, now: now}, nil
}

// Token returns a token with at least a minute left. It fails with UNAUTHENTICATED when
// the issuer has no such person, and with SERVICE_UNAVAILABLE when it does not answer.
func (s *Session) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && s.now().Before(s.renew) {
		return s.token, nil
	}
	token, life, err := s.fetch(ctx)
	if err != nil {
		return "", err
	}
	s.token, s.renew = token, s.now().Add(life-renewBefore)
	return token, nil
}

func (s *Session) fetch(ctx context.Context) (token string, life time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(s.request))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return "", 0, away(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", 0, noSession(resp.StatusCode)
	}
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxForm))
	if err == nil {
		err = strictjson.Check(body)
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil {
		return "", 0, away(err)
	}
	return answer.Token, time.Duration(answer.Seconds) * time.Second, nil
}

func noSession(status int) error {
	return fault.Unauthorized.New("The issuer gives no token of the local user.").
		Suggest("issuer.local_user is a person of a development issuer, such as a demo's.").
		Because(fmt.Errorf("status %d", status))
}

func away(err error) error {
	return fault.ServiceDown.New("The development issuer does not answer.").Because(err)
}
