// Package gemini speaks the Gemini API (ai.google.dev/api/generate-content) over
// the vendor's own client: one request a step, streamed. Start with [New].
package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// Provider is the name in the configuration.
const Provider = "gemini"

// DefaultURL is Google's own address.
const DefaultURL = "https://generativelanguage.googleapis.com/"

// Model is one of Google's models. It is safe for concurrent use.
type Model struct {
	o      vendor.Options
	models *genai.Models
}

// New returns a model. A key is required. The client's own reading of the
// environment is overruled, and it repeats nothing: both are the caller's policy.
func New(o vendor.Options) (*Model, error) {
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: o.APIKey, HTTPClient: o.HTTPClient(),
		HTTPOptions: genai.HTTPOptions{BaseURL: cmp.Or(o.BaseURL, DefaultURL)},
	})
	if err != nil || o.APIKey == "" {
		return nil, errors.New("no key is configured: set api_key, or GEMINI_API_KEY")
	}
	return &Model{o: o, models: client.Models}, nil
}

// Name is the vendor's name of the model.
func (m *Model) Name() string { return m.o.Model }

// Stream answers one request. Calls come whole, each after its thought signature.
func (m *Model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		names := vendor.NewNames(r.Tools)
		a := answer{names: names, model: m.o.Model}
		for chunk, err := range m.models.GenerateContentStream(ctx, m.o.Model, contents(r.Messages, names, m.o.Model), m.config(r, names)) {
			if err != nil {
				yield(agent.Delta{}, m.failure(ctx, err))
				return
			}
			for _, d := range a.take(chunk) {
				if !yield(d, nil) {
					return
				}
			}
		}
		switch {
		case a.garbled != "":
			yield(agent.Delta{}, m.o.Garbled(string(a.garbled)))
		case a.stop == "":
			yield(agent.Delta{}, m.o.Failed(ctx, io.ErrUnexpectedEOF))
		case yield(agent.Delta{Usage: &a.usage}, nil):
			yield(agent.Delta{Stop: a.stop}, nil)
		}
	}
}

// failure gives an error of the client its meaning. One in the middle of a stream
// has a status of its own.
func (m *Model) failure(ctx context.Context, err error) error {
	var inStream genai.APIError
	switch {
	case errors.As(err, &inStream):
	case strings.HasPrefix(err.Error(), "iterateResponseStream:"): // and a piece of the answer, which is not to be logged
		return m.o.Failed(ctx, io.ErrUnexpectedEOF)
	default:
		return m.o.Failed(ctx, err)
	}
	details, _ := json.Marshal(inStream.Details) // decoded JSON encodes
	return m.o.Rejected(cmp.Or(inStream.Code, http.StatusInternalServerError), nil, inStream.Message+" "+string(details))
}

// answer collects one answer from its chunks.
type answer struct {
	names *vendor.Names
	model string
	calls int
	usage agent.Usage
	stop  agent.StopReason

	garbled genai.FinishReason // the API could not read what the model wrote
}

// take returns what a chunk adds to the answer. Counts of tokens are of the whole
// answer so far.
func (a *answer) take(chunk *genai.GenerateContentResponse) (deltas []agent.Delta) {
	if u := chunk.UsageMetadata; u != nil {
		a.usage = agent.Usage{
			InputTokens: int(u.PromptTokenCount + u.ToolUsePromptTokenCount), OutputTokens: int(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CachedTokens: int(u.CachedContentTokenCount),
		}
	}
	if f := chunk.PromptFeedback; f != nil && f.BlockReason != "" {
		a.stop = agent.StopRefusal
	}
	if len(chunk.Candidates) == 0 {
		return nil
	}
	c := chunk.Candidates[0] // one answer was asked for
	if c.Content != nil {
		for _, p := range c.Content.Parts {
			deltas = append(deltas, a.part(p)...)
		}
	}
	if c.FinishReason != "" {
		a.stop = a.stopReason(c.FinishReason)
	}
	return deltas
}

// signature is the opaque part of a thought signature, which must go back in the
// part that it came in: the call or the text that follows it, or an empty text.
type signature struct {
	Call      bool   `json:"call,omitempty"`
	Text      bool   `json:"text,omitempty"`
	Signature []byte `json:"signature"`
}

func (a *answer) part(p *genai.Part) (deltas []agent.Delta) {
	if len(p.ThoughtSignature) > 0 {
		data, _ := json.Marshal(signature{p.FunctionCall != nil, p.Text != "" && !p.Thought, p.ThoughtSignature}) // bytes encode
		deltas = append(deltas, agent.Delta{Opaque: &agent.Opaque{Provider: Provider, Model: a.model, Data: data}})
	}
	switch {
	case p.FunctionCall != nil:
		a.calls++
		var args json.RawMessage // the API may leave out empty ones
		if p.FunctionCall.Args != nil {
			args, _ = json.Marshal(p.FunctionCall.Args) // decoded JSON encodes
		}
		deltas = append(deltas, agent.Delta{Call: &agent.Call{ID: p.FunctionCall.ID, Tool: a.names.Ours(p.FunctionCall.Name), Args: args}})
	case p.Text != "" && !p.Thought:
		deltas = append(deltas, agent.Delta{Text: p.Text})
	}
	return deltas
}

func (a *answer) stopReason(r genai.FinishReason) agent.StopReason {
	switch r {
	case genai.FinishReasonMaxTokens:
		return agent.StopLength
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII:
		return agent.StopRefusal
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall:
		a.garbled = r
	}
	if a.calls > 0 {
		return agent.StopCalls
	}
	return agent.StopEnd
}

// config is the request without its conversation.
func (m *Model) config(r agent.Request, names *vendor.Names) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(r.System, genai.RoleUser), MaxOutputTokens: int32(m.o.MaxTokens)}
	if m.o.Temperature != nil {
		t := float32(*m.o.Temperature)
		c.Temperature = &t
	}
	var tools []*genai.FunctionDeclaration
	for _, t := range r.Tools {
		var schema any
		_ = json.Unmarshal(vendor.Schema(t.InputSchema), &schema) // it is an object
		tools = append(tools, &genai.FunctionDeclaration{Name: names.Sent(t.Name), Description: t.Description, ParametersJsonSchema: schema})
	}
	if len(tools) > 0 {
		c.Tools = []*genai.Tool{{FunctionDeclarations: tools}}
	}
	return c
}

// contents are the conversation as the API takes it: results are in a user's
// content, right after the calls.
func contents(all []agent.Message, names *vendor.Names, model string) (out []*genai.Content) {
	for _, m := range all {
		c := &genai.Content{Role: genai.RoleUser, Parts: partsOf(m, names, model)}
		if m.Role == agent.Assistant {
			c.Role = genai.RoleModel
		}
		if !unsigned.MatchString(model) {
			sign(c.Parts)
		}
		if len(c.Parts) > 0 { // else all of it was another provider's
			out = append(out, c)
		}
	}
	return out
}

// unsigned are the models that want no signatures of calls.
var unsigned = regexp.MustCompile(`^(models/)?gemini-[12]\b`)

// noSignature is what the API takes in the place of a signature that is not there
// (ai.google.dev/gemini-api/docs/thought-signatures, "FAQs").
const noSignature = "skip_thought_signature_validator"

// sign gives the first call of a step a signature when it has none, because another
// model made it. Without one the API rejects a call of the running turn; those of
// older ones have it so that requests begin in the same way.
func sign(parts []*genai.Part) {
	for _, p := range parts {
		if p.FunctionCall == nil {
			continue
		}
		if len(p.ThoughtSignature) == 0 {
			p.ThoughtSignature = []byte(noSignature)
		}
		return
	}
}

func partsOf(m agent.Message, names *vendor.Names, model string) (parts []*genai.Part) {
	var ofText, ofCall []byte // signatures of the next text and the next call
	for _, p := range m.Parts {
		switch p := p.(type) {
		case agent.Text:
			text := string(p)
			if m.Role == agent.System {
				text = vendor.Outcome(text)
			}
			if text != "" {
				parts = append(parts, &genai.Part{Text: text, ThoughtSignature: ofText})
				ofText = nil
			}
		case agent.Opaque:
			var s signature
			if !vendor.Belongs(p, Provider, model) || json.Unmarshal(p.Data, &s) != nil {
				continue
			}
			switch {
			case s.Call:
				ofCall = s.Signature
			case s.Text:
				ofText = s.Signature
			default:
				parts = append(parts, &genai.Part{ThoughtSignature: s.Signature})
			}
		case agent.Call:
			var args map[string]any
			_ = json.Unmarshal(p.Args, &args) // what is no object was answered with an error
			parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: p.ID, Name: names.Sent(p.Tool), Args: args}, ThoughtSignature: ofCall})
			ofCall = nil
		case agent.CallResult:
			parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: p.ID, Name: names.Sent(p.Tool), Response: response(p)}})
		}
	}
	return parts
}

// response is a result under the key that the API reads it by.
func response(r agent.CallResult) map[string]any {
	key := "output"
	if r.Failed {
		key = "error"
	}
	if r.Table != "" {
		return map[string]any{key: r.Table}
	}
	return map[string]any{key: r.Answer}
}
