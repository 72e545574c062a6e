package session

import (
	"context"
	"net/url"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
)

// Issuer is the identity issuer at which people sign in. Package auth has it.
type Issuer interface {
	Start(ctx context.Context) (address string, flow auth.Flow, err error)
	Finish(ctx context.Context, query url.Values, flow auth.Flow) (auth.Tokens, *access.Principal, error)
	// Refresh fails with UNAUTHENTICATED when the person must sign in again.
	Refresh(ctx context.Context, t auth.Tokens) (auth.Tokens, error)
	EndSessionURL(ctx context.Context, returnTo string) (string, error)
}
