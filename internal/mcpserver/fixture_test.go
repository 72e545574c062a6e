package mcpserver

//lint:file-ignore SA1019 the suite's scenarios of handshake versions use what is deprecated since

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/strictjson"
)

// The fixture has the tools, prompts and resources that the official conformance
// suite asks for by name. They are the SDK's own; what the suite tests here is the
// edge in front of them: the gate, the choice of the version's handler, the checks
// of messages and what is rewritten in answers.

// unasked is a toolbox that is never asked.
type unasked struct{}

func (unasked) Tools(context.Context) ([]result.ToolInfo, error)                 { return nil, nil }
func (unasked) Call(context.Context, string, json.RawMessage) (o result.Outcome) { return o }
func (unasked) Encode(result.Outcome) json.RawMessage                            { return nil }
func knownCaller(context.Context, string) (*access.Principal, error) {
	return access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: "suite", Username: "suite", Roles: []string{"employee"}}), nil
}

func fixture(t *testing.T) *Server {
	t.Helper()
	s, err := New(unasked{}, Options{Name: "fixture", Version: "1", Verify: knownCaller, Lane: LaneOff})
	if err != nil {
		t.Fatal(err)
	}
	s.features = true
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"one"}, Total: 1}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		SetCacheable:       func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = cacheable() },
	})
	for name, run := range contentTools() {
		addTool(s.mcp, name, `{"type":"object"}`, run)
	}
	for name, run := range askingTools() {
		addTool(s.mcp, name, `{"type":"object"}`, run)
	}
	addSpecialTools(s.mcp)
	addResources(s.mcp)
	addPrompts(s.mcp)
	return s
}

func addTool(s *mcp.Server, name, schema string, run mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(schema)}, run)
}

func says(text string) *mcp.CallToolResult { return shows(&mcp.TextContent{Text: text}) }

func shows(content ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: content} }

func always(r *mcp.CallToolResult) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, nil }
}

var (
	picture = &mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	sound   = &mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF\x24\x00\x00\x00WAVE")}
)

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}

// contentTools answer at once, report, or log.
func contentTools() map[string]mcp.ToolHandler {
	failed := says("this tool always fails")
	failed.IsError = true
	return map[string]mcp.ToolHandler{
		"test_simple_text":            always(says("This is a simple text response for testing.")),
		"test_image_content":          always(shows(picture)),
		"test_audio_content":          always(shows(sound)),
		"test_embedded_resource":      always(shows(embedded("test://embedded-resource"))),
		"test_multiple_content_types": always(shows(&mcp.TextContent{Text: "text"}, picture, embedded("test://embedded-in-multiple"))),
		"test_error_handling":         always(failed),
		"test_streaming_elicitation":  always(says("done")),
		"test_tool_with_progress": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			token := req.Params.GetProgressToken()
			for _, done := range []float64{0, 50, 100} {
				if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
					return nil, err
				}
			}
			return says(fmt.Sprint(token)), nil
		},
		"test_tool_with_logging": logging("started", "working", "done"),
		"test_logging_tool":      logging("done"),
	}
}

func logging(lines ...string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range lines {
			if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				return nil, err
			}
		}
		return says("logged"), nil
	}
}

// form is the question for one field.
func form(field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Please give your " + field + ".", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

// given returns a field of an accepted answer.
func given(answers mcp.InputResponseMap, question, field string) (value any, ok bool) {
	answer, ok := answers[question].(*mcp.ElicitResult)
	if !ok || answer.Action != "accept" {
		return nil, false
	}
	value, ok = answer.Content[field]
	return value, ok
}

func asks(state string, questions mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: questions, RequestState: state}
}

func sampled() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 50, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is the capital of France?"}}}}
}

// askingTools ask their client by multi-round-trip requests.
func askingTools() map[string]mcp.ToolHandler {
	tampered := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not one of ours"}
	stateful := func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, answered := given(req.Params.InputResponses, "confirm", "ok")
		switch {
		case req.Params.RequestState != "" && req.Params.RequestState != "sealed":
			return nil, tampered
		case answered:
			return says("state-ok"), nil
		}
		return asks("sealed", mcp.InputRequestMap{"confirm": form("ok", "boolean")}), nil
	}
	// once asks, and answers with what came back for every question.
	once := func(questions mcp.InputRequestMap) mcp.ToolHandler {
		return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for name := range questions {
				answer, ok := req.Params.InputResponses[name]
				if elicited, is := answer.(*mcp.ElicitResult); !ok || is && (elicited.Action != "accept" || elicited.Content["name"] == nil) {
					return asks("sealed", questions), nil
				}
			}
			encoded, err := json.Marshal(req.Params.InputResponses)
			return says(string(encoded)), err
		}
	}
	return map[string]mcp.ToolHandler{
		"test_input_required_result_elicitation":     once(mcp.InputRequestMap{"user_name": form("name", "string")}),
		"test_input_required_result_sampling":        once(mcp.InputRequestMap{"capital_question": sampled()}),
		"test_input_required_result_list_roots":      once(mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}),
		"test_input_required_result_multiple_inputs": once(mcp.InputRequestMap{"user_name": form("name", "string"), "greeting": sampled(), "client_roots": &mcp.ListRootsParams{}}),
		"test_input_required_result_request_state":   stateful,
		"test_input_required_result_tampered_state":  stateful,
		"test_input_required_result_capabilities":    askWhatItCan,
		"test_input_required_result_multi_round":     askTwice,
	}
}

func askTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	switch req.Params.RequestState {
	case "":
		return asks("round 1", mcp.InputRequestMap{"step1": form("name", "string")}), nil
	case "round 1":
		return asks("round 2", mcp.InputRequestMap{"step2": form("color", "string")}), nil
	}
	color, _ := given(req.Params.InputResponses, "step2", "color")
	return says(fmt.Sprint("complete: ", color)), nil
}

// askWhatItCan asks only what the client has declared that it can answer.
func askWhatItCan(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	can, questions := req.ClientCapabilities(), mcp.InputRequestMap{}
	if can != nil && can.Elicitation != nil {
		questions["user_name"] = form("name", "string")
	}
	if can != nil && can.Sampling != nil {
		questions["greeting"] = sampled()
	}
	if can != nil && can.RootsV2 != nil {
		questions["client_roots"] = &mcp.ListRootsParams{}
	}
	if len(questions) == 0 || len(req.Params.InputResponses) > 0 {
		return says("nothing to ask"), nil
	}
	return asks("", questions), nil
}

// addSpecialTools adds tools with a schema of their own, and those that ask in the
// middle of a call, as handshake versions allow.
func addSpecialTools(s *mcp.Server) {
	addTool(s, "json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`, always(says("called")))
	addTool(s, "test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`, always(says("called")))
	addTool(s, "test_missing_capability", `{"type":"object"}`, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if can := req.ClientCapabilities(); can != nil && can.Sampling != nil {
			return says("can sample"), nil
		}
		missing, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: missing}
	})
	addTool(s, "test_trigger_tool_change", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addTool(s, "passing", `{"type":"object"}`, always(says("")))
		return says("changed"), nil
	})
	addTool(s, "test_trigger_prompt_change", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addPrompt(s, "passing", nil, "")
		return says("changed"), nil
	})
	addTool(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}}}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := req.Session.CreateMessage(ctx, sampled())
		if err != nil {
			return nil, err
		}
		text, _ := answer.Content.(*mcp.TextContent)
		return shows(text), nil
	})
	elicit := func(question *mcp.ElicitParams) mcp.ToolHandler {
		return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := req.Session.Elicit(ctx, question)
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("action=%s content=%v", answer.Action, answer.Content)), nil
		}
	}
	addTool(s, "test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}}}`, elicit(form("username", "string")))
	addTool(s, "test_elicitation_sep1034_defaults", `{"type":"object"}`, elicit(&mcp.ElicitParams{Message: "Defaults", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)}))
	addTool(s, "test_elicitation_sep1330_enums", `{"type":"object"}`, elicit(&mcp.ElicitParams{Message: "Choices", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]}}}}`)}))
}

func addResources(s *mcp.Server) {
	add := func(uri, kind string, contents mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{Name: strings.TrimPrefix(uri, "test://"), URI: uri, MIMEType: kind}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			read := contents
			read.URI, read.MIMEType = req.Params.URI, kind
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&read}}, nil
		})
	}
	add("test://static-text", "text/plain", mcp.ResourceContents{Text: "This is the content of the static text resource."})
	add("test://static-binary", "image/png", mcp.ResourceContents{Blob: picture.Data})
	add("test://watched-resource", "text/plain", mcp.ResourceContents{Text: "watched"})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)}}}, nil
		})
}

// addPrompt adds a prompt that repeats its arguments after its text.
func addPrompt(s *mcp.Server, name string, arguments []string, text string, more ...mcp.Content) {
	p := &mcp.Prompt{Name: name, Description: "Is " + name + "."}
	for _, a := range arguments {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		said := text
		for _, a := range arguments {
			said += " " + a + "=" + req.Params.Arguments[a]
		}
		r := &mcp.GetPromptResult{}
		for _, content := range slices.Concat(more, []mcp.Content{&mcp.TextContent{Text: said}}) {
			if e, ok := content.(*mcp.EmbeddedResource); ok {
				content = embedded(req.Params.Arguments["resourceUri"])
				content.(*mcp.EmbeddedResource).Resource.MIMEType = e.Resource.MIMEType
			}
			r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: content})
		}
		return r, nil
	})
}

func addPrompts(s *mcp.Server) {
	addPrompt(s, "test_simple_prompt", nil, "This is a simple prompt for testing.")
	addPrompt(s, "test_prompt_with_arguments", []string{"arg1", "arg2"}, "Arguments:")
	addPrompt(s, "test_prompt_with_embedded_resource", []string{"resourceUri"}, "See the resource:", embedded(""))
	addPrompt(s, "test_prompt_with_image", nil, "See the picture.", picture)
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for its context first."}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		about, answered := given(req.Params.InputResponses, "user_context", "context")
		if !answered {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": form("context", "string")}}, nil
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint("Context: ", about)}}}}, nil
	})
}

// watched tells the subscribers of a resource of a change until the test ends.
func watched(t *testing.T, s *Server) {
	tick := time.NewTicker(200 * time.Millisecond)
	done := make(chan struct{})
	t.Cleanup(func() { tick.Stop(); close(done) })
	go func() {
		for {
			select {
			case <-tick.C:
				_ = s.mcp.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: "test://watched-resource"})
			case <-done:
				return
			}
		}
	}()
}

// ReadFrame reads a body as the endpoint does, up to its frame: the code of the error that
// it gets, or 0, and what later steps believe of it.
func ReadFrame(body []byte) (code int64, id json.RawMessage, method string) {
	if strictjson.Check(body) != nil {
		return jsonrpc.CodeParseError, nil, ""
	}
	m, err := readMessage(bytes.TrimLeft(body, " \t\r\n"))
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		code = refused.Code
	}
	return code, m.id, m.method
}
