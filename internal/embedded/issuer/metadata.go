package issuer

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.signer.key.Public()}})
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         i.url,
		"authorization_endpoint":                         i.url + "/authorize",
		"token_endpoint":                                 i.url + "/token",
		"userinfo_endpoint":                              i.url + "/userinfo",
		"jwks_uri":                                       i.url + "/jwks",
		"end_session_endpoint":                           i.url + "/logout",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"scopes_supported":                               scopes,
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// identity are the claims that userinfo repeats.
var identity = []string{"sub", "preferred_username", "name", "email", "email_verified", "groups", "realm_access"}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	claims, err := i.verify(token)
	if !strings.EqualFold(scheme, "Bearer") || err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		oauthError(w, http.StatusUnauthorized, "invalid_token", "The access token is not valid here.")
		return
	}
	for name := range claims {
		if !slices.Contains(identity, name) {
			delete(claims, name)
		}
	}
	writeJSON(w, http.StatusOK, claims)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	writeJSON(w, status, map[string]string{"error": code, "error_description": description})
}
