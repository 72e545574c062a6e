// Package openai speaks OpenAI's chat completions
// (platform.openai.com/docs/api-reference/chat) over the vendor's own client,
// which is also what Ollama, vLLM, llama.cpp and many services speak. It asks of
// a server only what all of them have. Start with [New].
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// Provider is the name in the configuration.
const Provider = "openai"

// DefaultURL is OpenAI's own address.
const DefaultURL = "https://api.openai.com/v1"

// Model is one model behind an address. It is safe for concurrent use.
type Model struct {
	o           vendor.Options
	completions sdk.ChatCompletionService
}

// New returns a model. The environment is not read, and nothing is repeated:
// both are the caller's policy.
func New(o vendor.Options) *Model {
	o.BaseURL = cmp.Or(o.BaseURL, DefaultURL)
	options := []option.RequestOption{option.WithBaseURL(o.BaseURL), option.WithMaxRetries(0), option.WithHTTPClient(o.HTTPClient())}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
	}
	return &Model{o: o, completions: sdk.NewChatCompletionService(options...)}
}

// Name is the name of the model at its address.
func (m *Model) Name() string { return m.o.Model }

// Stream answers one request. Calls come whole.
func (m *Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		names := vendor.NewNames(r.Tools)
		stream := m.completions.NewStreaming(ctx, m.params(r, names))
		defer stream.Close()
		a := answer{names: names}
		for stream.Next() {
			if text := a.take(stream.Current()); text != "" && !yield(agent.Delta{Text: text}, nil) {
				return
			}
		}
		if err := cmp.Or(stream.Err(), a.unfinished()); err != nil {
			yield(agent.Delta{}, m.failure(ctx, err))
			return
		}
		for _, d := range a.end() {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// failure gives an error of the client its meaning.
func (m *Model) failure(ctx context.Context, err error) error {
	var inStream *ssestream.StreamError
	if errors.As(err, &inStream) {
		return m.o.Rejected(statusOf(inStream.Event.Data), nil, string(inStream.Event.Data))
	}
	return m.o.Failed(ctx, err)
}

// statusOf is the status of an error in the middle of a stream, whose answer has
// the status 200. Servers spell its code as a number or as a word.
func statusOf(event []byte) int {
	var e struct {
		Error struct {
			Type string `json:"type"`
			Code any    `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(event, &e) // a plain text has no code
	if code, ok := e.Error.Code.(float64); ok && code >= 400 && code < 600 {
		return int(code)
	}
	if e.Error.Type == "rate_limit_error" || e.Error.Code == "rate_limit_exceeded" {
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

// answer collects one answer from its chunks.
type answer struct {
	names   *vendor.Names
	calls   []agent.Call
	indexes []int64 // of the calls, as the server counts them
	finish  string
	refused bool
	usage   *agent.Usage
}

// take returns the text that a chunk adds to the answer.
func (a *answer) take(c sdk.ChatCompletionChunk) (text string) {
	if u := c.Usage; u.TotalTokens > 0 {
		a.usage = &agent.Usage{InputTokens: int(u.PromptTokens), OutputTokens: int(u.CompletionTokens), CachedTokens: int(u.PromptTokensDetails.CachedTokens)}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		a.finish = cmp.Or(choice.FinishReason, a.finish)
		a.refused = a.refused || choice.Delta.Refusal != ""
		text += choice.Delta.Content + choice.Delta.Refusal
		for _, call := range choice.Delta.ToolCalls {
			a.takeCall(call)
		}
	}
	return text
}

// takeCall continues a call, or begins one: with a new index, or, on servers that
// count all calls as the first, with a new id.
func (a *answer) takeCall(c sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if known := &a.calls[i]; a.indexes[i] == c.Index && (c.ID == "" || c.ID == known.ID) {
			known.Tool += c.Function.Name
			known.Args = append(known.Args, c.Function.Arguments...)
			return
		}
	}
	a.calls = append(a.calls, agent.Call{ID: c.ID, Tool: c.Function.Name, Args: []byte(c.Function.Arguments)})
	a.indexes = append(a.indexes, c.Index)
}

// unfinished is the error of a stream that ended before its answer did.
func (a *answer) unfinished() error {
	if a.finish == "" {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// end returns what comes after the text: the calls, the usage and the stop.
func (a *answer) end() (deltas []agent.Delta) {
	for i := range a.calls {
		c := &a.calls[i]
		c.Tool = a.names.Ours(c.Tool)
		deltas = append(deltas, agent.Delta{Call: c})
	}
	if a.usage != nil {
		deltas = append(deltas, agent.Delta{Usage: a.usage})
	}
	return append(deltas, agent.Delta{Stop: a.stop()})
}

// stop is why the answer ended. Not every server says tool_calls when it calls.
func (a *answer) stop() agent.StopReason {
	switch {
	case a.finish == "length":
		return agent.StopLength
	case a.finish == "content_filter" || a.refused:
		return agent.StopRefusal
	case len(a.calls) > 0:
		return agent.StopCalls
	}
	return agent.StopEnd
}

// params is the request: instructions and tools first and in a stable order, for
// the caches of prompts that some servers keep.
func (m *Model) params(r agent.Request, names *vendor.Names) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model: m.o.Model, Messages: append([]sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(r.System)}, messages(r.Messages, names)...),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if m.o.Temperature != nil {
		p.Temperature = param.NewOpt(*m.o.Temperature)
	}
	m.limit(&p)
	for _, t := range r.Tools {
		var schema shared.FunctionParameters
		_ = json.Unmarshal(vendor.Schema(t.InputSchema), &schema) // it is an object
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: names.Sent(t.Name), Description: param.NewOpt(t.Description), Parameters: schema,
		}))
	}
	return p
}

// limit bounds the answer. OpenAI's newer models reject the older field, and
// other servers know only that.
func (m *Model) limit(p *sdk.ChatCompletionNewParams) {
	if m.o.MaxTokens <= 0 {
		return
	}
	limit := param.NewOpt(int64(m.o.MaxTokens))
	if u, err := url.Parse(m.o.BaseURL); err == nil && u.Hostname() == "api.openai.com" {
		p.MaxCompletionTokens = limit
		return
	}
	p.MaxTokens = limit
}

// messages are the conversation as the API takes it: every result is a message
// of its own, right after the calls.
func messages(all []agent.Message, names *vendor.Names) (out []sdk.ChatCompletionMessageParamUnion) {
	for _, m := range all {
		switch m.Role {
		case agent.User:
			out = append(out, sdk.UserMessage(m.Text()))
		case agent.System:
			out = append(out, sdk.UserMessage(vendor.Outcome(m.Text())))
		case agent.Assistant:
			out = append(out, assistant(m, names)...)
		case agent.ToolRole:
			for _, r := range m.Results() {
				out = append(out, sdk.ToolMessage(r.Read(), r.ID))
			}
		}
	}
	return out
}

// assistant is a message of the model; none when all of it was another
// provider's.
func assistant(m agent.Message, names *vendor.Names) []sdk.ChatCompletionMessageParamUnion {
	text, calls := m.Text(), m.Calls()
	if text == "" && len(calls) == 0 {
		return nil
	}
	p := &sdk.ChatCompletionAssistantMessageParam{}
	if text != "" {
		p.Content.OfString = param.NewOpt(text)
	}
	for _, c := range calls {
		p.ToolCalls = append(p.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: c.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: names.Sent(c.Tool), Arguments: string(c.Args)},
		}})
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: p}}
}
