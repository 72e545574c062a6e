package gate

import (
	"context"
	"encoding/json"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// CheckUserContext rejects a userContext that names someone other than the
// principal in the context. It gives no right: its userId and roles are not
// read.
func (g *Gate) CheckUserContext(ctx context.Context, userContext json.RawMessage) error {
	return g.refused(ctx, checkUserContext(ctx, userContext))
}

func checkUserContext(ctx context.Context, userContext json.RawMessage) error {
	who, err := access.From(ctx)
	if err != nil {
		return err
	}
	if len(userContext) == 0 || string(userContext) == "null" {
		return nil
	}
	var c struct {
		Username *string `json:"username"`
		Email    *string `json:"email"`
	}
	if err := json.Unmarshal(userContext, &c); err != nil {
		return fault.BadRequest.New("userContext must be an object whose username and email are texts.")
	}
	foreign := c.Username != nil && *c.Username != who.Username()
	// An unverified address identifies no one, so it cannot agree with anything.
	foreign = foreign || c.Email != nil && (who.Email() == "" || !strings.EqualFold(*c.Email, who.Email()))
	if foreign {
		return fault.UserMismatch.New("The userContext names someone other than the token does.")
	}
	return nil
}
