package codesearch

import (
	"context"
	"net/http"

	"countersign.dev/internal/domain/codesearch/endpoint"
)

// Surface serves document 004's paths. The options' Search and Services are the
// server's own.
func (s *Server) Surface(o endpoint.Options) http.Handler {
	o.Search, o.Services = s.answer, s.services
	return endpoint.New(o)
}

// answer searches what the caller may see.
func (s *Server) answer(ctx context.Context, who endpoint.Caller, text string, limit int) (any, int, error) {
	results, err := s.Find(ctx, scopeOf(who), Query{Text: text, Limit: limit})
	return results, len(results), err
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

// services are the states of the indexes, without names: the check needs no
// token.
func (s *Server) services() (states map[string]string, healthy bool) {
	indexed := 0
	for _, r := range s.repositories {
		if h, err := r.acquire(); err == nil {
			h.release()
			indexed++
		}
	}
	state := "ready"
	switch {
	case indexed == 0:
		state = "not_indexed"
	case indexed < len(s.repositories):
		state = "partial"
	}
	return map[string]string{"index": state}, state == "ready"
}
