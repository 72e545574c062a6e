package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/strictjson"
)

// getConfirmation is the one tool of the edge itself: the state of a change that
// waits for its person, or its outcome. It is for clients, which cannot see our page: the gateway
// neither lists nor calls it, so that no agent of ours is offered it. No role is
// needed to see what is one's own.
const getConfirmation = "get_confirmation"

func confirmationTool() result.ToolInfo {
	return result.ToolInfo{
		Name: getConfirmation, Title: "Get a confirmation", Kind: result.Read,
		Description: "Show one of your own confirmations: a change that waits for approval, or what was answered and its outcome. It approves nothing.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"confirmation_id":{"type":"string","format":"uuid","description":"The confirmationId of a pending_confirmation answer"}},"required":["confirmation_id"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"status":{"enum":["success","error"]},"code":{"type":"string"},"message":{"type":"string"},"suggestedAction":{"type":"string"},"details":{"type":"object"},"people":{"type":"object"},` +
			`"data":{"type":"object","properties":{"confirmationId":{"type":"string"},"state":{"enum":["pending","applying","applied","failed","denied","expired","unknown"]},"action":{"type":"string"},"mcpServer":{"type":"string"},"message":{"type":"string"},` +
			`"confirmationData":{"type":"object"},"created":{"type":"string","format":"date-time"},"expires":{"type":"string","format":"date-time"},"receipt":{"type":"object"}},"required":["confirmationId","state","message"]}},"required":["status"]}`),
		Annotations: result.Annotations{ReadOnly: true, Idempotent: true},
	}
}

// showsConfirmations reports whether this caller has the tool.
func (s *Server) showsConfirmations(who *access.Principal) bool {
	return s.opts.Show != nil && who.Purpose() == access.PurposeNone
}

// withConfirmationTool adds the tool to a list, in the order of names.
func withConfirmationTool(infos []result.ToolInfo) []result.ToolInfo {
	at, _ := slices.BinarySearchFunc(infos, getConfirmation, func(t result.ToolInfo, name string) int { return strings.Compare(t.Name, name) })
	return slices.Insert(slices.Clone(infos), at, confirmationTool())
}

// showConfirmation runs the tool. Its answer is the envelope at every server, as its
// schema says, whatever dialect the server's own tools speak.
func showConfirmation(ctx context.Context, show func(context.Context, string) (result.Confirmation, error), args json.RawMessage) result.Outcome {
	o := lookUp(ctx, show, args)
	return o.WithRaw(result.EncodeEnvelope(o))
}

func lookUp(ctx context.Context, show func(context.Context, string) (result.Confirmation, error), args json.RawMessage) result.Outcome {
	var in struct {
		ID string `json:"confirmation_id"`
	}
	if err := strictjson.Unmarshal(args, &in); err != nil || in.ID == "" {
		return result.Failed(fault.WrongInputs(fault.Input{Field: "confirmation_id", Wrong: "is required, the only field, and a text"}).Fields("confirmation_id"))
	}
	shown, err := show(ctx, in.ID)
	if err != nil {
		return result.Failed(fault.From(err).With("confirmationId", in.ID))
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return result.Failed(err)
	}
	return result.Success(data, nil, "")
}
