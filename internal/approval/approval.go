// Package approval tells clients where the owner of a pending change answers it: on
// the gateway's page, whose address the servers and the gateway add to what they
// answer. It does not answer or store confirmations. Start with [Page].
package approval

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"

	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
)

// Page is the page on which people answer their confirmations.
type Page struct{ base string }

// At is the page of the gateway with a public address.
func At(publicURL string) Page { return Page{strings.TrimSuffix(publicURL, "/") + "/#/approve/"} }

// key is its address in a confirmation's data.
const key = "approvalUrl"

// Outcome adds the address to a pending change, for clients that cannot ask their
// person. Other outcomes are unchanged: a receipt stays the same byte for byte.
func (p Page) Outcome(o result.Outcome) result.Outcome {
	waiting := o.Pending()
	if waiting == nil {
		return o
	}
	pending := *waiting
	pending.Data = p.data(pending.Data, pending.ID)
	return result.Waiting(pending)
}

// Confirmation adds the address to a confirmation that is shown.
func (p Page) Confirmation(c result.Confirmation) result.Confirmation {
	c.Data = p.data(c.Data, c.ID)
	return c
}

func (p Page) data(data map[string]any, id string) map[string]any {
	own := make(map[string]any, len(data)+1)
	maps.Copy(own, data)
	own[key] = p.base + url.PathEscape(id)
	return own
}

// Shown returns confirmations as their owners may see them, with the address.
func (p Page) Shown(show func(ctx context.Context, id string) (result.Confirmation, error)) func(ctx context.Context, id string) (result.Confirmation, error) {
	return func(ctx context.Context, id string) (result.Confirmation, error) {
		c, err := show(ctx, id)
		if err == nil {
			c = p.Confirmation(c)
		}
		return c, err
	}
}

// Toolbox gives the tools of an MCP endpoint, the gateway's own or that of a
// server, the page.
func (p Page) Toolbox(t rest.Toolbox) rest.Toolbox { return toolbox{t, p} }

type toolbox struct {
	rest.Toolbox
	page Page
}

// Call runs one tool.
func (t toolbox) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return t.page.Outcome(t.Toolbox.Call(ctx, name, args))
}
