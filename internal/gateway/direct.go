package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// serverView is how a server is doing.
type serverView struct {
	Name      string  `json:"name"`
	Healthy   bool    `json:"healthy"`
	Calls     int64   `json:"calls"`
	Failures  int64   `json:"failures"`
	AverageMS float64 `json:"averageMs"`
}

func (g *Gateway) servers() []serverView {
	list := []serverView{}
	g.o.Servers.EachServer(func(name string, healthy bool, calls, failures int64, average time.Duration) {
		list = append(list, serverView{name, healthy, calls, failures, float64(average.Microseconds()) / 1000})
	})
	return list
}

func (g *Gateway) showUser(w http.ResponseWriter, _ *http.Request, p *access.Principal) error {
	roles := p.Roles()
	if roles == nil {
		roles = []string{}
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{
		"userId": p.Subject(), "username": p.Username(), "email": p.Email(), "name": p.Name(), "roles": roles,
	})
}

// listTools lists what the person may call, after which the servers know
// whether they answer, and names who would call it for them.
func (g *Gateway) listTools(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	tools := g.o.Servers.Tools(r.Context()).Open
	if tools == nil {
		tools = []agent.Tool{}
	}
	model, err := g.o.Models.Choose("")
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"tools": tools, "servers": g.servers(), "model": model.Name()})
}

// callDirectly runs one tool with the body as its input, bare or as {"input": …}.
func (g *Gateway) callDirectly(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if _, err := g.toolAt(r); err != nil {
		return answer(w, result.Failed(err))
	}
	body, err := httpx.ReadObject(w, r, g.o.Limits.Body)
	if err != nil {
		return err
	}
	input, err := inputIn(p, body)
	if err != nil {
		return err
	}
	return answer(w, g.o.Servers.Call(r.Context(), r.PathValue("tool"), input))
}

// readDirectly runs a tool that changes nothing, with the query as its input.
func (g *Gateway) readDirectly(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	tool, err := g.toolAt(r)
	if err != nil {
		return answer(w, result.Failed(err))
	}
	if tool != nil && tool.Kind != result.Read && tool.Kind != result.List {
		w.Header().Set("Allow", "POST")
		return fault.MethodNotAllowed.New("%s is no read-only tool.", tool.Name)
	}
	var schema json.RawMessage
	if tool != nil {
		schema = tool.InputSchema
	}
	input, err := inputOf(r.URL.Query(), schema)
	if err != nil {
		return err
	}
	return answer(w, g.o.Servers.Call(r.Context(), r.PathValue("tool"), input))
}

// answer writes what a call came to, with the status that its code has on the
// REST face of every server.
func answer(w http.ResponseWriter, o result.Outcome) error {
	status := http.StatusOK
	if o.Fault() != nil {
		status = o.Fault().Code.Status
	}
	httpx.Raw(w, status, result.EncodeEnvelope(o))
	return nil
}

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// toolAt finds the tool that the path names. nil means that the person may not
// call it: its server says so in its own words, and puts it on record.
func (g *Gateway) toolAt(r *http.Request) (*agent.Tool, error) {
	server, name := r.PathValue("server"), r.PathValue("tool")
	names := g.serverNames()
	if !slices.Contains(names, server) {
		return nil, fault.ServerNotFound.New("No server is called %q.", server).Suggest("Use one of: %s.", strings.Join(names, ", "))
	}
	if !toolName.MatchString(name) {
		return nil, fault.BadRequest.New("A tool's name is a letter and up to 63 letters, digits, _ or -.")
	}
	set := g.o.Servers.Tools(r.Context())
	for i := range set.Open {
		if set.Open[i].Name == name && set.Open[i].Server == server {
			return &set.Open[i], nil
		}
	}
	for _, closed := range set.Closed {
		if closed.Name == name {
			return nil, nil
		}
	}
	for _, down := range set.Down {
		if down.Server == server {
			return nil, fault.ServiceDown.New("The %s service cannot be reached at the moment.", server)
		}
	}
	return nil, fault.UnknownTool.New("The server %s has no tool called %q.", server, name)
}

func (g *Gateway) serverNames() []string {
	var names []string
	for _, s := range g.servers() {
		names = append(names, s.Name)
	}
	return names
}

// inputIn takes the input out of a body. A userContext in it gives no right.
func inputIn(p *access.Principal, body json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fault.BadRequest.New("The body is not a JSON object.").Because(err)
	}
	if err := checkUserContext(p, fields["userContext"]); err != nil {
		return nil, err
	}
	delete(fields, "userContext")
	if input, ok := fields["input"]; ok && len(fields) == 1 {
		return input, nil
	}
	return json.Marshal(fields)
}

var paramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,99}$`)

// inputOf makes an input of query parameters. A value takes the type that the
// tool's schema gives its field; where that says nothing, digits are a number
// and repeated names are a list.
func inputOf(query url.Values, schema json.RawMessage) (json.RawMessage, error) {
	var s struct {
		Properties map[string]struct{ Type any }
	}
	_ = json.Unmarshal(schema, &s) // without one, values speak for themselves
	input := make(map[string]any, len(query))
	for name, values := range query {
		if !paramName.MatchString(name) {
			return nil, fault.BadRequest.New("A parameter's name is a letter and up to 99 letters, digits, _, . or -.")
		}
		kind, _ := s.Properties[name].Type.(string)
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = typed(v, kind)
		}
		input[name] = list
		if len(list) == 1 && kind != "array" {
			input[name] = list[0]
		}
	}
	return json.Marshal(input)
}

// safeInteger is the greatest integer that every JSON reader keeps exactly.
const safeInteger = 1<<53 - 1

func typed(text, kind string) any {
	switch kind {
	case "string":
		return text
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
			return b
		}
	case "number":
		if f, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
			return f
		}
	default:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= safeInteger && text[0] != '+' {
			return n
		}
	}
	return text
}
