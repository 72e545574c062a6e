package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Toolbox is what a REST face needs of a service. The principal is in the
// context.
type Toolbox interface {
	// Tools lists the tools that the principal may call, sorted by name; a
	// catalogue token sees all.
	Tools(ctx context.Context) ([]result.ToolInfo, error)
	// Call runs one tool. An unknown tool, a missing right and a wrong input
	// are faults of the outcome.
	Call(ctx context.Context, name string, args json.RawMessage) result.Outcome
	// Encode writes an outcome in the server's dialect.
	Encode(o result.Outcome) json.RawMessage
}

// Face calls tools over plain HTTP, for scripts. Servers and the gateway mount
// it under different paths.
type Face struct {
	gate  *gate.Gate
	tools Toolbox
}

// NewFace makes a face of the tools behind a gate.
func NewFace(g *gate.Gate, tools Toolbox) *Face { return &Face{g, tools} }

// Resolve finds the tool that a request's path names.
type Resolve func(r *http.Request) (tool string, err error)

// Post calls a tool with the body as its input: {"input": {…}, "userContext":
// {…}} or the bare input.
func (f *Face) Post(resolve Resolve) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, body, err := f.gate.ReadFor(w, r, gate.Calling)
		if err != nil {
			return err
		}
		tool, err := resolve(r)
		if err != nil {
			return f.respond(w, result.Failed(err))
		}
		input, userContext, err := unwrap(body)
		if err != nil {
			return err
		}
		if err := f.gate.CheckUserContext(r.Context(), userContext); err != nil {
			return err
		}
		if input, err = f.respell(r.Context(), tool, input); err != nil {
			return err
		}
		return f.respond(w, f.tools.Call(r.Context(), tool, input))
	}
}

// Get calls a tool that changes nothing, with the query as its input. A tool
// that the caller may not call is called all the same: its server refuses, and
// records that.
func (f *Face) Get(resolve Resolve) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, err := f.gate.Enter(w, r)
		if err != nil {
			return err
		}
		tool, err := resolve(r)
		if err != nil {
			return f.respond(w, result.Failed(err))
		}
		info, known, err := f.find(r.Context(), tool)
		if err != nil {
			return err
		}
		if known && info.Kind != result.Read && info.Kind != result.List {
			w.Header().Set("Allow", http.MethodPost)
			return fault.MethodNotAllowed.New("%s is not a read-only tool.", tool)
		}
		input, err := inputOf(r.URL.Query(), info.InputSchema)
		if err != nil {
			return err
		}
		if input, err = f.respell(r.Context(), tool, input); err != nil {
			return err
		}
		return f.respond(w, f.tools.Call(r.Context(), tool, input))
	}
}

// find returns a tool that the principal may call.
func (f *Face) find(ctx context.Context, name string) (info result.ToolInfo, known bool, err error) {
	infos, err := f.tools.Tools(ctx)
	for _, info := range infos {
		if info.Name == name {
			return info, true, err
		}
	}
	return result.ToolInfo{}, false, err
}

// respond writes an outcome in the dialect, with the status of its code.
func (f *Face) respond(w http.ResponseWriter, o result.Outcome) error {
	status := http.StatusOK
	if failed := o.Fault(); failed != nil {
		status = Status(failed)
		f.gate.ChallengeScope(w, failed)
		httpx.RetryAfter(w, failed)
	}
	httpx.Raw(w, status, f.tools.Encode(o))
	return nil
}

// Status is the HTTP status of a fault's code; a code of another server may have none.
func Status(f *fault.Error) int {
	if f.Code.Status == 0 {
		return http.StatusOK
	}
	return f.Code.Status
}

// respell turns the camelCase spelling of a tool's input fields into the
// schema's. Anything else is left for the schema to refuse.
func (f *Face) respell(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if !bytes.ContainsAny(input, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return input, nil
	}
	properties, err := f.properties(ctx, name)
	if err != nil || len(properties) == 0 {
		return input, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, fmt.Errorf("reading an input that was checked: %w", err)
	}
	changed := false
	for property := range properties {
		spelled := result.Camel(property)
		value, given := fields[spelled]
		_, both := fields[property]
		_, declared := properties[spelled]
		if !given || both || declared {
			continue
		}
		delete(fields, spelled)
		fields[property], changed = value, true
	}
	if !changed {
		return input, nil
	}
	return json.Marshal(fields)
}

// properties are the input fields of a tool that the principal may call. Of
// others the schema does not matter: the call will be refused.
func (f *Face) properties(ctx context.Context, name string) (map[string]json.RawMessage, error) {
	info, known, err := f.find(ctx, name)
	if err != nil || !known {
		return nil, err
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(info.InputSchema, &schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", name, err)
	}
	return schema.Properties, nil
}
