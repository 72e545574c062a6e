package gate

import (
	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Use is what a request needs a token for.
type Use string

// The uses of a token.
const (
	Listing   Use = "list tools"
	Calling   Use = "call tools"
	Executing Use = "answer confirmations"
	Showing   Use = "read confirmations"
	AnyMCP    Use = "use MCP" // lists or calls; the message says which
)

// Permit restricts an internal token to its purpose. A token of an identity
// issuer has none and may do everything that its roles allow, except reading
// confirmations, which only the gateway draws; a purpose that is not known allows
// nothing.
func Permit(who *access.Principal, u Use) error {
	allowed := false
	switch who.Purpose() {
	case access.PurposeNone:
		allowed = u != Showing
	case access.PurposeCall:
		allowed = u != Executing
	case access.PurposeCatalogue:
		allowed = u == Listing || u == AnyMCP
	case access.PurposeExecute:
		allowed = u == Executing
	}
	if allowed {
		return nil
	}
	return fault.ForbiddenRequest.New("This token was not issued to %s.", u).Instruct("Use a token that was issued for this purpose.")
}
