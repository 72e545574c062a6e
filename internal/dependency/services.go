package dependency

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/state"
)

// Client returns an HTTP client that follows no redirects, as the program's own.
func Client() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ---- network services

// Redis checks that Redis answers at a URL and accepts writes.
func Redis(ctx context.Context, url string) (string, error) {
	redis, err := state.Open(ctx, url, nil)
	if err != nil {
		return "", fmt.Errorf("%s. Start it, let it accept writes, or change redis.url", fault.Operator(err))
	}
	return "answers", redis.Close()
}

// Issuer reads what sign-ins and tokens need: the discovery document,
// whose issuer must be exactly the configured one, and the keys.
func Issuer(ctx context.Context, client *http.Client, issuer string) (string, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := fetch(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return "", fmt.Errorf("%w. %s", err, cmp.Or(httpx.CertificateAdvice(err), "Start the issuer, or change issuer.url"))
	}
	if about.Issuer != issuer {
		return "", fmt.Errorf("its issuer is %q: issuer.url must be exactly the same", about.Issuer)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := fetch(ctx, client, about.Keys, &set); err != nil {
		return "", fmt.Errorf("its keys cannot be fetched: %w", err)
	}
	if len(set.Keys) == 0 {
		return "", fmt.Errorf("%s holds no keys: no token of it can be verified", about.Keys)
	}
	return fmt.Sprintf("answers; keys: %d", len(set.Keys)), nil
}

// Process returns the check of the readiness endpoint of one of our own
// processes; start is the command that starts it.
func Process(client *http.Client, url, path, start string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var said struct{ Status string }
		if err := fetch(ctx, client, strings.TrimSuffix(url, "/")+path, &said); err != nil {
			return "", fmt.Errorf("%w. %s", err, cmp.Or(httpx.CertificateAdvice(err), `Is "`+start+`" running?`))
		}
		if said.Status != "ready" {
			return "", fmt.Errorf("something else answers at %s: change its address", url)
		}
		return "ready", nil
	}
}

// fetch decodes the JSON at an address; its error says what came instead.
func fetch(ctx context.Context, client *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxChecked))
	if err != nil {
		return fmt.Errorf("%s ended early: %w", address, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s%s", address, resp.Status, reasonIn(body))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s answered no JSON: change its address", address)
	}
	return nil
}

// reasonIn is the message of an error body, after a colon.
func reasonIn(body []byte) string {
	var said struct{ Message string }
	if json.Unmarshal(body, &said) != nil || said.Message == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(said.Message, ".")
}
