package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"countersign.dev/internal/netguard"
	"countersign.dev/internal/strictjson"
)

// metadata is what the host needs to know of an authorization server (RFC 8414, 2).
type metadata struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
}

// maxMetadata bounds the metadata of an authorization server, in bytes.
const maxMetadata = 1 << 20

// discover reads an issuer's metadata where RFC 8414 and OpenID Connect have it. The SDK's reader
// rejects an issuer that announces no PKCE, as Entra does not, which the client credentials grant does not use.
func discover(ctx context.Context, issuer string, client *http.Client) (metadata, error) {
	base, err := url.Parse(issuer)
	if err != nil {
		return metadata{}, err
	}
	path := strings.TrimSuffix(base.Path, "/")
	for _, at := range []string{"/.well-known/oauth-authorization-server" + path, "/.well-known/openid-configuration" + path, path + "/.well-known/openid-configuration"} {
		base.Path = at
		about, found, err := metadataAt(ctx, base.String(), client)
		switch {
		case err != nil:
			return metadata{}, err
		case !found:
			continue
		case strings.TrimSuffix(about.Issuer, "/") != strings.TrimSuffix(issuer, "/"):
			return metadata{}, fmt.Errorf("its metadata is that of %q", about.Issuer)
		}
		return about, secured(about.TokenEndpoint)
	}
	return metadata{}, errors.New("its metadata cannot be found")
}

// metadataAt reads metadata. found is false where there is none.
func metadataAt(ctx context.Context, address string, client *http.Client) (about metadata, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return about, false, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return about, false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return about, false, nil
	case resp.StatusCode != http.StatusOK:
		return about, false, fmt.Errorf("its metadata is answered with %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err != nil {
		return about, false, err
	}
	if err := errors.Join(strictjson.Check(body), json.Unmarshal(body, &about)); err != nil {
		return about, false, fmt.Errorf("its metadata %w", err)
	}
	return about, true, nil
}

// secured rejects an endpoint to which the secret would be sent in the clear.
func secured(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return errors.New("its metadata names no token endpoint")
	}
	if u.Scheme == "https" || u.Scheme == "http" && netguard.Loopback(u) {
		return nil
	}
	return fmt.Errorf("its token endpoint %q is no https address", endpoint)
}
