package foreign

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth is how the host gets its own token for a server: with the client
// credentials grant (RFC 6749, 4.4) at an authorization server whose endpoint is
// discovered (RFC 8414). The server itself names none, because the secret would be
// sent there.
type OAuth struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	Scopes       []string
}

// oauthTimeout is that of getting one token, discovery included.
const oauthTimeout = 10 * time.Second

// bearer sends each request with a token of the host. One that the server rejects
// is replaced once.
type bearer struct {
	o        OAuth
	resource string // the server's address, for which the token is (RFC 8707)
	next     http.RoundTripper

	mu       sync.Mutex
	token    *oauth2.Token
	fetching *fetching // nil: no token is being got
}

// fetching is the getting of one token, for which any number of calls wait.
type fetching struct {
	done  chan struct{} // closed when the rest is set
	token *oauth2.Token
	err   error
}

func newBearer(o OAuth, resource string, next http.RoundTripper) *bearer {
	return &bearer{o: o, resource: resource, next: next}
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := b.current(req.Context(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := b.send(req, token)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
	if token, err = b.current(req.Context(), token); err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return b.send(again, token)
}

func (b *bearer) send(req *http.Request, t *oauth2.Token) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+t.AccessToken)
	return b.next.RoundTrip(req)
}

// current returns a token that is valid and is not the rejected one. All calls wait
// for the same one, each for as long as its own context lives.
func (b *bearer) current(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	b.mu.Lock()
	if b.token.Valid() && b.token != rejected {
		defer b.mu.Unlock()
		return b.token, nil
	}
	if b.fetching == nil {
		b.fetching = &fetching{done: make(chan struct{})}
		go b.renew(b.fetching)
	}
	f := b.fetching
	b.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done(): // the call was not sent
		return nil, ctx.Err()
	}
}

// renew gets a token. Not with a caller's context: others wait for it, too.
func (b *bearer) renew(f *fetching) {
	ctx, cancel := context.WithTimeout(context.Background(), oauthTimeout)
	defer cancel()
	f.token, f.err = b.fetch(ctx)
	if f.err != nil {
		f.err = fmt.Errorf("no token from %s: %w", b.o.Issuer, f.err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fetching = nil
	if f.err == nil {
		b.token = f.token
	}
	close(f.done)
}

func (b *bearer) fetch(ctx context.Context) (*oauth2.Token, error) {
	client := &http.Client{Transport: b.next, CheckRedirect: noRedirect}
	about, err := discover(ctx, b.o.Issuer, client)
	if err != nil {
		return nil, err
	}
	style := oauth2.AuthStyleInHeader // RFC 8414's default
	if len(about.Methods) > 0 && !slices.Contains(about.Methods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	config := clientcredentials.Config{
		ClientID: b.o.ClientID, ClientSecret: b.o.ClientSecret, TokenURL: about.TokenEndpoint, Scopes: b.o.Scopes, AuthStyle: style,
		EndpointParams: url.Values{"resource": {b.resource}},
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if failed, ok := err.(*oauth2.RetrieveError); ok { // its own text has the whole answer
		return nil, fmt.Errorf("it answered %s %s", failed.Response.Status, failed.ErrorCode)
	}
	return token, err
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
