package foreign

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMetadataIsThatOfTheIssuer: the secret goes to no other endpoint than the one that it names, over TLS.
func TestMetadataIsThatOfTheIssuer(t *testing.T) {
	answers := map[string]string{} // by path
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := answers[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(answer, "HERE", "http://"+r.Host))
	}))
	defer server.Close()
	const whole = `{"issuer":"HERE/t","token_endpoint":"https://login.example/token"}`
	for name, c := range map[string]struct {
		path, answer string
		ok           bool
	}{
		"RFC 8414":                   {"/.well-known/oauth-authorization-server/t", whole, true},
		"OpenID Connect":             {"/t/.well-known/openid-configuration", whole, true},
		"OpenID Connect, in between": {"/.well-known/openid-configuration/t", whole, true},
		"nowhere":                    {"/x", whole, false},
		"another issuer":             {"/.well-known/oauth-authorization-server/t", `{"issuer":"https://other.example","token_endpoint":"https://login.example/token"}`, false},
		"no endpoint":                {"/.well-known/oauth-authorization-server/t", `{"issuer":"HERE/t"}`, false},
		"in the clear":               {"/.well-known/oauth-authorization-server/t", `{"issuer":"HERE/t","token_endpoint":"http://login.example/token"}`, false},
		"a repeated name":            {"/.well-known/oauth-authorization-server/t", `{"issuer":"HERE/t","token_endpoint":"https://a.example","token_endpoint":"https://b.example"}`, false},
		"no JSON":                    {"/.well-known/oauth-authorization-server/t", `<html>`, false},
	} {
		clear(answers)
		answers[c.path] = c.answer
		about, err := discover(context.Background(), server.URL+"/t", server.Client())
		if (err == nil) != c.ok || c.ok && about.TokenEndpoint != "https://login.example/token" {
			t.Errorf("%s: got %+v, %v", name, about, err)
		}
	}
}
