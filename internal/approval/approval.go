// Package approval tells clients where and until when the owner of a pending change
// answers it: on the gateway's page, whose address the servers and the gateway add to
// what they answer. It does not answer or store confirmations. Start with [Page].
package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"countersign.dev/internal/access"
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

// Toolbox gives the tools that clients call directly, over MCP or REST, the page: a
// pending change names it in its data and, for clients that draw no card, in its
// message. The digest is of the message as the page shows it, without that paragraph.
func (p Page) Toolbox(t rest.Toolbox) rest.Toolbox { return toolbox{t, p} }

type toolbox struct {
	rest.Toolbox
	page Page
}

// Call runs one tool. A call of the gateway's own gets the bare message: the gateway
// draws the card, or explains the change to its own caller.
func (t toolbox) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	o := t.page.Outcome(t.Toolbox.Call(ctx, name, args))
	who, err := access.From(ctx)
	if o.Pending() == nil || err != nil || who.Purpose() != access.PurposeNone {
		return o
	}
	return t.page.explained(*o.Pending())
}

// explained says where and until when a change is answered. A client that can ask its
// person (input_required, elicitation) would be asked here.
func (p Page) explained(waiting result.Pending) result.Outcome {
	waiting.Message += fmt.Sprintf("\n\nNothing has changed yet. Open %s to approve or deny this, within %s.", waiting.Data[key], waiting.Within())
	return result.Waiting(waiting)
}
