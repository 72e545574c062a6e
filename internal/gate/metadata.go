package gate

import (
	"fmt"
	"net/http"
	"net/url"

	"countersign.dev/internal/httpx"
)

// WellKnown is the path of the RFC 9728 document of a resource without a path.
// That of another resource follows with the resource's path.
const WellKnown = "/.well-known/oauth-protected-resource"

// Metadata is what RFC 9728 tells a client about a resource: whose tokens it
// takes.
type Metadata struct {
	Resource             string   `json:"resource"`
	ResourceName         string   `json:"resource_name,omitempty"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
}

// Serve answers with the document. It is public, and read by clients in
// browsers.
func (m Metadata) Serve(w http.ResponseWriter, _ *http.Request) error {
	m.BearerMethods = []string{"header"}
	w.Header().Set("Access-Control-Allow-Origin", "*") // RFC 9728, section 3.1
	return httpx.JSON(w, http.StatusOK, m)
}

// MetadataURL is the address of a resource's document: its path follows the
// well-known one.
func MetadataURL(resource string) (string, error) {
	u, err := url.Parse(resource)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Fragment != "" {
		return "", fmt.Errorf("the public address %q of the MCP endpoint is not an http(s) URL", resource)
	}
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	return u.Scheme + "://" + u.Host + WellKnown + path, nil
}
