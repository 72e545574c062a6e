package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// getConfirmation is the one tool of the edge itself: the state of a change that
// waits for its person, or its outcome. It is for clients, which cannot see our page: the gateway
// neither lists nor calls it, so that no agent of ours is offered it. No role is
// needed to see what is one's own.
const getConfirmation = "get_confirmation"

func confirmationTool() result.ToolInfo {
	codes, _ := json.Marshal(fault.Names(fault.Shared())) // texts alone
	return result.ToolInfo{
		Name: getConfirmation, Title: "Get a confirmation", Kind: result.Read,
		Description: "Show one of your own confirmations: a change that waits for approval, or what was answered and its outcome. It approves nothing.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"confirmation_id":{"type":"string","format":"uuid","description":"The confirmationId of a pending_confirmation answer"}},"required":["confirmation_id"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"status":{"enum":["success","error"]},"code":{"enum":` + string(codes) + `},"message":{"type":"string"},"suggestedAction":{"type":"string"},"details":{"type":"object"},"people":{"type":"object"},` +
			`"data":{"type":"object","properties":{"confirmationId":{"type":"string","format":"uuid"},"state":{"enum":["pending","applying","applied","failed","denied","expired","unknown"]},"action":{"type":"string"},"mcpServer":{"type":"string"},"message":{"type":"string"},` +
			`"confirmationData":{"type":"object"},"created":{"type":"string","format":"date-time"},"expires":{"type":"string","format":"date-time"},"receipt":{"type":"object"}},"required":["confirmationId","state","message"]}},"required":["status"]}`),
		Annotations: result.Annotations{ReadOnly: true, Idempotent: true},
	}
}

// showsConfirmations reports whether this caller has the tool.
func (s *Server) showsConfirmations(who *access.Principal) bool {
	return s.opts.Show != nil && who.Purpose() == access.PurposeNone
}

// addTo adds the tool to a list, in the order of names, in the place of a server's own of
// that name: it is the one that is called.
func (c confirmations) addTo(infos []result.ToolInfo) []result.ToolInfo {
	at, taken := slices.BinarySearchFunc(infos, getConfirmation, func(t result.ToolInfo, name string) int { return strings.Compare(t.Name, name) })
	infos = slices.Clone(infos)
	if taken {
		infos[at] = c.info
		return infos
	}
	return slices.Insert(infos, at, c.info)
}

// confirmations runs the tool. Its answer is the envelope at every server, as its
// schema says, whatever dialect the server's own tools speak.
type confirmations struct {
	show  func(ctx context.Context, id string) (result.Confirmation, error)
	info  result.ToolInfo
	input *schema.Schema
}

// newConfirmations compiles what the tool declares, so that its inputs are refused in
// the words of every other tool.
func newConfirmations(show func(context.Context, string) (result.Confirmation, error)) (c confirmations, err error) {
	c.show, c.info = show, confirmationTool()
	c.input, err = schema.Compile(c.info.InputSchema, schema.Options{Formats: true, Words: map[string]schema.Words{
		"confirmation_id": {Suggest: "Give the confirmationId of a pending_confirmation answer.", Tell: "I find no confirmation with that id."},
	}})
	return c, err
}

func (c confirmations) call(ctx context.Context, args json.RawMessage) result.Outcome {
	o := c.lookUp(ctx, args)
	return o.WithRaw(result.EncodeEnvelope(o))
}

func (c confirmations) lookUp(ctx context.Context, args json.RawMessage) result.Outcome {
	values, _, err := c.input.Check(args)
	if err != nil {
		return result.Failed(err)
	}
	id, _ := values["confirmation_id"].(string)
	shown, err := c.show(ctx, id)
	if err != nil {
		return result.Failed(fault.From(err).With("confirmationId", id))
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return result.Failed(err)
	}
	return result.Success(data, nil, "")
}
