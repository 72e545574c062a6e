package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// unwrap takes the input out of a REST body: {"input": {…}, "userContext": {…}},
// or the bare input with userContext beside its fields. The body is JSON; that
// it is an object is checked here.
func unwrap(body []byte) (input, claimed json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, nil, fault.BadRequest.New("The body is not a JSON object.")
	}
	claimed, beside := fields["userContext"]
	delete(fields, "userContext")
	if inner, wrapped := fields["input"]; wrapped && len(fields) == 1 && inner[0] == '{' {
		return inner, claimed, nil
	}
	if !beside {
		return body, nil, nil
	}
	input, err = json.Marshal(fields)
	return input, claimed, err
}

// contradiction refuses a userContext that names someone other than the token
// does. It gives nobody any right: its userId and roles are not even read.
func contradiction(who *access.Principal, claimed json.RawMessage) error {
	if len(claimed) == 0 || string(claimed) == "null" {
		return nil
	}
	var c struct {
		Username *string `json:"username"`
		Email    *string `json:"email"`
	}
	if err := json.Unmarshal(claimed, &c); err != nil {
		return fault.BadRequest.New("userContext must be an object whose username and email are texts.").Because(err)
	}
	foreign := c.Username != nil && *c.Username != who.Username()
	// An unverified address identifies nobody, so it cannot agree with anything.
	foreign = foreign || c.Email != nil && (who.Email() == "" || !strings.EqualFold(*c.Email, who.Email()))
	if foreign {
		return fault.UserMismatch.New("The userContext names someone other than the token does.")
	}
	return nil
}

// respell turns the camelCase spelling of a tool's input fields into the
// schema's. Anything else is left for the schema to refuse.
func (s *Server) respell(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if !bytes.ContainsAny(input, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return input, nil
	}
	properties, err := s.properties(ctx, name)
	if err != nil || len(properties) == 0 {
		return input, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, fmt.Errorf("reading an input that was checked: %w", err)
	}
	changed := false
	for property := range properties {
		spelled := camel(property)
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
func (s *Server) properties(ctx context.Context, name string) (map[string]json.RawMessage, error) {
	infos, err := s.service.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	for _, info := range infos {
		if info.Name == name {
			if err := json.Unmarshal(info.InputSchema, &schema); err != nil {
				return nil, fmt.Errorf("reading the schema of %s: %w", name, err)
			}
		}
	}
	return schema.Properties, nil
}

// camel is how document 000 spells employee_id: employeeId.
func camel(snake string) string {
	var b strings.Builder
	up := false
	for _, c := range snake {
		switch {
		case c == '_':
			up = true
			continue
		case up:
			b.WriteString(strings.ToUpper(string(c)))
		default:
			b.WriteRune(c)
		}
		up = false
	}
	return b.String()
}
