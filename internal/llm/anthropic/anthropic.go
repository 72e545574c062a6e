// Package anthropic speaks Anthropic's Messages API
// (platform.claude.com/docs/en/api/messages) over the vendor's own client: one
// request a step, streamed. Start with [New].
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// Provider is the name in the configuration.
const Provider = "anthropic"

// Model is one of Anthropic's models. It is safe for concurrent use.
type Model struct {
	o        vendor.Options
	messages sdk.MessageService
}

// New returns a model. The environment is not read, and nothing is repeated:
// both are the caller's policy.
func New(o vendor.Options) *Model {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0), option.WithHTTPClient(o.HTTPClient()),
	}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
	}
	if o.BaseURL != "" {
		options = append(options, option.WithBaseURL(o.BaseURL))
	}
	return &Model{o: o, messages: sdk.NewClient(options...).Messages}
}

// Name is the vendor's name of the model.
func (m *Model) Name() string { return m.o.Model }

// Stream answers one request. Calls and thinking blocks come whole.
func (m *Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		names := vendor.NewNames(r.Tools)
		stream := m.messages.NewStreaming(ctx, m.params(r, names))
		defer stream.Close()
		a := answer{names: names, model: m.o.Model}
		for stream.Next() {
			deltas, err := a.take(stream.Current())
			for _, d := range deltas {
				if !yield(d, nil) {
					return
				}
			}
			if err != nil {
				yield(agent.Delta{}, m.o.Failed(ctx, err))
				return
			}
		}
		if err := cmp.Or(stream.Err(), a.unfinished()); err != nil {
			yield(agent.Delta{}, m.failure(ctx, err))
		}
	}
}

// failure gives an error of the client its meaning. An error event in the middle
// of a stream, whose status is 200, names its type.
func (m *Model) failure(ctx context.Context, err error) error {
	var inStream *sdk.Error
	if !errors.As(err, &inStream) {
		return m.o.Failed(ctx, err)
	}
	return m.o.Rejected(cmp.Or(statuses[string(inStream.Type())], http.StatusInternalServerError), nil, inStream.RawJSON())
}

// statuses are those of the documented types of errors
// (platform.claude.com/docs/en/api/errors).
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// answer collects one answer from its events.
type answer struct {
	names   *vendor.Names
	model   string
	message sdk.Message
	done    bool
}

// take returns what an event adds to the answer.
func (a *answer) take(e sdk.MessageStreamEventUnion) ([]agent.Delta, error) {
	if err := a.message.Accumulate(e); err != nil {
		return nil, err
	}
	switch e.Type {
	case "content_block_delta":
		if e.Delta.Type == "text_delta" && e.Delta.Text != "" {
			return []agent.Delta{{Text: e.Delta.Text}}, nil
		}
	case "content_block_stop":
		return a.block(a.message.Content[e.Index]), nil
	case "message_stop":
		a.done = true
		u := a.message.Usage
		return []agent.Delta{
			{Usage: &agent.Usage{
				InputTokens:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
				OutputTokens: int(u.OutputTokens), CachedTokens: int(u.CacheReadInputTokens),
			}},
			{Stop: stopReason(a.message.StopReason)},
		}, nil
	}
	return nil, nil
}

// block returns a finished block that is not text: a call, or what must go back
// unchanged.
func (a *answer) block(b sdk.ContentBlockUnion) []agent.Delta {
	switch b.Type {
	case "text":
		return nil
	case "tool_use":
		return []agent.Delta{{Call: &agent.Call{ID: b.ID, Tool: a.names.Ours(b.Name), Args: slices.Clone(b.Input)}}}
	}
	return []agent.Delta{{Opaque: &agent.Opaque{Provider: Provider, Model: a.model, Data: json.RawMessage(b.RawJSON())}}}
}

// unfinished is the error of a stream that ended before its message did.
func (a *answer) unfinished() error {
	if a.done {
		return nil
	}
	return io.ErrUnexpectedEOF
}

func stopReason(r sdk.StopReason) agent.StopReason {
	switch r {
	case sdk.StopReasonToolUse:
		return agent.StopCalls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return agent.StopLength
	case sdk.StopReasonRefusal:
		return agent.StopRefusal
	}
	return agent.StopEnd
}

// params is the request. Tools and instructions come first and in a stable
// order, and are marked for the prompt cache with everything up to the newest
// message, so that a step pays in full only for what is new.
func (m *Model) params(r agent.Request, names *vendor.Names) sdk.MessageNewParams {
	p := sdk.MessageNewParams{
		Model: m.o.Model, MaxTokens: int64(m.o.MaxTokens), Messages: messages(r.Messages, names, m.o.Model),
		System: []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}},
	}
	if m.o.Temperature != nil {
		p.Temperature = param.NewOpt(*m.o.Temperature)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: names.Sent(t.Name), Description: param.NewOpt(t.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](vendor.Schema(t.InputSchema)),
		}})
	}
	last := len(p.Messages) - 1
	for _, i := range []int{last, last - 2} { // and where the request before this one ended: a step can be longer than the API looks back
		if i >= 0 {
			mark(p.Messages[i].Content)
		}
	}
	return p
}

// mark ends the cached part of a prompt with the last block of a message.
func mark(blocks []sdk.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if c := blocks[len(blocks)-1].GetCacheControl(); c != nil {
		*c = sdk.NewCacheControlEphemeralParam()
	}
}

// messages are the conversation as the API takes it: results are in a user's
// message, right after the calls.
func messages(all []agent.Message, names *vendor.Names, model string) []sdk.MessageParam {
	var out []sdk.MessageParam
	for _, m := range all {
		blocks := blocksOf(m, names, model)
		if len(blocks) == 0 {
			continue // only parts of another provider
		}
		role := sdk.MessageParamRoleUser
		if m.Role == agent.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	return out
}

func blocksOf(m agent.Message, names *vendor.Names, model string) (blocks []sdk.ContentBlockParamUnion) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case agent.Text:
			text := string(p)
			if m.Role == agent.System {
				text = vendor.Outcome(text)
			}
			if text != "" { // the API rejects an empty one
				blocks = append(blocks, sdk.NewTextBlock(text))
			}
		case agent.Call:
			blocks = append(blocks, sdk.NewToolUseBlock(p.ID, p.Args, names.Sent(p.Tool)))
		case agent.CallResult:
			blocks = append(blocks, sdk.NewToolResultBlock(p.ID, p.Read(), p.Failed))
		case agent.Opaque:
			if vendor.Belongs(p, Provider, model) {
				blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](p.Data))
			}
		}
	}
	return blocks
}
