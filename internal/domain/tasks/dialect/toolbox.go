package dialect

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/tool"
)

// Toolbox answers the gateway in envelopes, and every other client in a dialect of
// the server's own. Its methods are those that the MCP edge asks for.
type Toolbox struct {
	envelope, own *tool.Runner
	required      []string // inputs that a client of its own must give
}

// NewToolbox makes a toolbox of two runners over the same tools. required are the
// inputs that the gateway's calls may leave out, and no others.
func NewToolbox(envelope, own *tool.Runner, required ...string) *Toolbox {
	return &Toolbox{envelope, own, required}
}

// runner is the one for the principal in the context; own reports that the client is
// not the gateway.
func (t *Toolbox) runner(who *access.Principal) (r *tool.Runner, own bool) {
	if who.Purpose() == access.PurposeNone {
		return t.own, true
	}
	return t.envelope, false
}

// Tools lists the tools that the principal may call.
func (t *Toolbox) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	runner, own := t.runner(who)
	infos := runner.Visible(who)
	for i := range infos {
		if !own {
			break
		}
		if infos[i].InputSchema, err = requiring(infos[i].InputSchema, t.required); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// requiring adds to the required inputs of a schema those that it has.
func requiring(encoded json.RawMessage, names []string) (json.RawMessage, error) {
	if len(names) == 0 {
		return encoded, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(encoded, &schema); err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range names {
		if properties[name] != nil {
			required = append([]any{name}, required...)
		}
	}
	if len(required) == 0 { // null is no JSON Schema: clients would drop the whole list of tools
		return encoded, nil
	}
	schema["required"] = required
	return json.Marshal(schema)
}

// Call runs one tool. The outcome has its bytes already, except for a change that
// waits, which is the same for both and gets the address of its page later.
func (t *Toolbox) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	runner, _ := t.runner(who)
	return encoded(runner, runner.Call(ctx, name, args))
}

// Encode writes an outcome that no call made, such as the refusal of a request, in
// the server's own dialect.
func (t *Toolbox) Encode(o result.Outcome) json.RawMessage { return t.own.Encode(o) }

// Confirmation returns a confirmation of the principal in the context.
func (t *Toolbox) Confirmation(ctx context.Context, id string) (result.Confirmation, error) {
	return t.envelope.Confirmation(ctx, id)
}

// Answer approves or denies one. Receipts are envelopes.
func (t *Toolbox) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	return encoded(t.envelope, t.envelope.Answer(ctx, id, approved, digest))
}

func encoded(r *tool.Runner, o result.Outcome) result.Outcome {
	if o.Pending() != nil {
		return o
	}
	return o.WithRaw(r.Encode(o))
}
