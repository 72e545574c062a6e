package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"

	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// approvalURL is the page on which the owner of a confirmation answers it.
func approvalURL(publicURL, id string) string { return publicURL + "/#/approve/" + url.PathEscape(id) }

// keyApprovalURL is where it stands in a confirmation's data.
const keyApprovalURL = "approvalUrl"

// withApproval adds the address of the approval page to a change that waits, for
// clients that cannot ask their person. Every other outcome is as it was: a
// receipt stays the same byte for byte.
func withApproval(o result.Outcome, publicURL string) result.Outcome {
	if o.Pending == nil {
		return o
	}
	address := approvalURL(publicURL, o.Pending.ID)
	p := *o.Pending
	p.Data = dataWithApproval(p.Data, address)
	o.Pending = &p
	if o.Wire != nil {
		o.Wire = wireWithApproval(o.Wire, address)
	}
	return o
}

func dataWithApproval(data map[string]any, address string) map[string]any {
	own := make(map[string]any, len(data)+1)
	maps.Copy(own, data)
	own[keyApprovalURL] = address
	return own
}

// wireWithApproval leaves every value as the server wrote it. What cannot be
// read is encoded anew from the outcome.
func wireWithApproval(wire json.RawMessage, address string) json.RawMessage {
	var envelope struct {
		Status         string                     `json:"status"`
		Message        string                     `json:"message"`
		ConfirmationID string                     `json:"confirmationId"`
		Data           map[string]json.RawMessage `json:"confirmationData"`
	}
	if err := json.Unmarshal(wire, &envelope); err != nil {
		return nil
	}
	if envelope.Data == nil {
		envelope.Data = make(map[string]json.RawMessage)
	}
	envelope.Data[keyApprovalURL] = object(address)
	return object(envelope)
}

// approvable is the servers, whose waiting changes lead to our approval page.
type approvable struct {
	Servers
	publicURL string
}

// Call runs one tool.
func (a approvable) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return withApproval(a.Servers.Call(ctx, name, args), a.publicURL)
}

// Approvable gives the tools that are mounted at the gateway's own MCP endpoint
// the same: a change that waits names the page of publicURL (without a path) on
// which its owner can answer it.
func Approvable(s mcpserver.Service, publicURL string) mcpserver.Service {
	return approvableService{s, publicURL}
}

type approvableService struct {
	mcpserver.Service
	publicURL string
}

// Call runs one tool.
func (a approvableService) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return withApproval(a.Service.Call(ctx, name, args), a.publicURL)
}
