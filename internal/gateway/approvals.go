package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"

	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// approvalURL is the page on which the owner of a confirmation answers it.
func approvalURL(publicURL, id string) string { return publicURL + "/#/approve/" + url.PathEscape(id) }

// keyApprovalURL is its key in a confirmation's data.
const keyApprovalURL = "approvalUrl"

// withApproval adds the address of the approval page to a pending change, for
// clients that cannot ask their person. Other outcomes are unchanged: a receipt
// stays the same byte for byte.
func withApproval(o result.Outcome, publicURL string) result.Outcome {
	waiting := o.Pending()
	if waiting == nil {
		return o
	}
	p := *waiting
	p.Data = dataWithApproval(p.Data, approvalURL(publicURL, p.ID))
	return result.Waiting(p)
}

func dataWithApproval(data map[string]any, address string) map[string]any {
	own := make(map[string]any, len(data)+1)
	maps.Copy(own, data)
	own[keyApprovalURL] = address
	return own
}

// Shown returns confirmations as their owners may see them, with the page of
// publicURL (without a path) on which those that wait are answered.
func Shown(show func(ctx context.Context, id string) (result.Confirmation, error), publicURL string) func(ctx context.Context, id string) (result.Confirmation, error) {
	return func(ctx context.Context, id string) (result.Confirmation, error) {
		c, err := show(ctx, id)
		if err == nil {
			c.Data = dataWithApproval(c.Data, approvalURL(strings.TrimSuffix(publicURL, "/"), id))
		}
		return c, err
	}
}

// WithApproval gives the servers an approval page: a pending change names the
// page of publicURL (without a path) on which its owner can answer it.
func WithApproval(s Servers, publicURL string) Servers {
	return approvable{s, strings.TrimSuffix(publicURL, "/")}
}

type approvable struct {
	Servers
	publicURL string
}

// Call runs one tool.
func (a approvable) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return withApproval(a.Servers.Call(ctx, name, args), a.publicURL)
}

// Approvable gives the tools of an MCP endpoint, the gateway's own or that of a
// server, the same page.
func Approvable(s mcpserver.Toolbox, publicURL string) mcpserver.Toolbox {
	return approvableService{s, strings.TrimSuffix(publicURL, "/")}
}

type approvableService struct {
	mcpserver.Toolbox
	publicURL string
}

// Call runs one tool.
func (a approvableService) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return withApproval(a.Toolbox.Call(ctx, name, args), a.publicURL)
}
