package codesearch

import (
	"context"
	"net/http"
	"strings"
	"time"

	"countersign.dev/internal/domain/codesearch/endpoint"
)

// Endpoint serves document 004's paths. The options' Search and Services are the
// server's own.
func (s *Server) Endpoint(o endpoint.Options) http.Handler {
	o.Search, o.Services = s.answer, s.services
	return endpoint.New(o)
}

// answer searches what the caller may see. The endpoint has no pages, so that nothing is said of
// the places behind the last one.
func (s *Server) answer(ctx context.Context, who endpoint.Caller, text string, limit int) (endpoint.Answer, error) {
	all, err := s.find(ctx, scopeOf(who), Query{Text: text, Limit: limit})
	if err != nil {
		return endpoint.Answer{}, err
	}
	all.more = false
	results := all.plain()
	return endpoint.Answer{Results: results, N: len(results), Note: strings.Join(all.remarks(ctx, s.store, text), " ")}, nil
}

func scopeOf(who endpoint.Caller) Scope {
	switch {
	case who.Principal != nil:
		return ScopeOf(who.Principal)
	case who.Page:
		return PublicScope()
	}
	return AnonymousScope()
}

// healthLimit is how long a health check waits for the store.
const healthLimit = 2 * time.Second

// services are the states of the indexes, without names: the check needs no
// token.
func (s *Server) services() (states map[string]string, healthy bool) {
	ctx, cancel := context.WithTimeout(context.Background(), healthLimit)
	defer cancel()
	indexed, _, err := s.indexed(ctx)
	state := "ready"
	switch {
	case err != nil:
		state = "unreachable"
	case indexed == 0:
		state = "not_indexed"
	case indexed < len(s.options.Repositories):
		state = "partial"
	}
	return map[string]string{"index": state}, state == "ready"
}
