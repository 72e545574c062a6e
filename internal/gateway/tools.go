package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/approval"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Servers is what the gateway needs of the servers behind it. Package upstream
// has it.
type Servers interface {
	agent.Toolbox
	// EachServer reports the state of each server.
	EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration))
	// EachTool reports how reliable each tool is.
	EachTool(report func(result.Reliability))
}

// WithApproval gives the servers of conversations an approval page: a pending change
// names it.
func WithApproval(s Servers, page approval.Page) Servers { return approvable{s, page} }

type approvable struct {
	Servers
	page approval.Page
}

// Call runs one tool.
func (a approvable) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return a.page.Outcome(a.Servers.Call(ctx, name, args))
}

// Models are the models that conversations can choose from. Package llm has them.
type Models interface {
	// Choose returns the model of that name, or the default when it is empty.
	Choose(name string) (agent.Choice, error)
	List() []agent.Choice
}

// catalogue is the servers' tools, for lists and for the REST face.
type catalogue struct {
	Servers
	models Models
}

// serverView is the state of a server.
type serverView struct {
	Name      string  `json:"name"`
	Healthy   bool    `json:"healthy"`
	Calls     int64   `json:"calls"`
	Failures  int64   `json:"failures"`
	AverageMS float64 `json:"averageMs"`
}

func (c catalogue) states() []serverView {
	list := []serverView{}
	c.EachServer(func(name string, healthy bool, calls, failures int64, average time.Duration) {
		list = append(list, serverView{name, healthy, calls, failures, float64(average.Microseconds()) / 1000})
	})
	return list
}

// toolView is a tool with how reliable it is.
type toolView struct {
	agent.Tool

	Transport string  `json:"transport"`
	Calls     int64   `json:"calls"`
	Failures  int64   `json:"failures"`
	AverageMS float64 `json:"averageMs"`
	LastUsed  int64   `json:"lastUsed,omitempty"` // Unix milliseconds
	Breaker   string  `json:"breaker"`
}

func (c catalogue) views(tools []agent.Tool) []toolView {
	known := make(map[string]result.Reliability, len(tools))
	c.EachTool(func(r result.Reliability) { known[r.Tool] = r })
	list := make([]toolView, len(tools))
	for i, t := range tools {
		r := known[t.Name]
		list[i] = toolView{t, r.Transport, r.Calls, r.Failures, float64(r.Average.Microseconds()) / 1000, 0, r.Breaker}
		if !r.LastUsed.IsZero() {
			list[i].LastUsed = r.LastUsed.UnixMilli()
		}
	}
	return list
}

// list lists the tools that the person may call and the default model. It
// asks the servers first, so that their state is current.
func (c catalogue) list(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	tools := c.views(c.Servers.Tools(r.Context()).Open)
	model, err := c.models.Choose("")
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"tools": tools, "servers": c.states(), "model": model.Name()})
}

// at finds the tool that the path of a direct call names: by its own name, or
// by the name server.tool that one of a connected server is offered under. One
// that the person may not call is found, too: the call is rejected and recorded.
func (c catalogue) at(r *http.Request) (string, error) {
	server, name := r.PathValue("server"), r.PathValue("tool")
	names := c.servers()
	if !slices.Contains(names, server) {
		return "", fault.ServerNotFound.New("No server is called %q.", server).With("server", server).Suggest("Use one of: %s.", strings.Join(names, ", "))
	}
	name = strings.TrimPrefix(name, server+".")
	if !toolName.MatchString(name) {
		return "", fault.BadRequest.New("A tool's name is a letter and up to 63 letters, digits, _ or -.")
	}
	set := c.Servers.Tools(r.Context())
	for _, offered := range []string{server + "." + name, name} {
		if serverOf(set, offered) == server {
			return offered, nil
		}
	}
	if slices.ContainsFunc(set.Down, func(w agent.Warning) bool { return w.Server == server }) {
		return "", fault.ServiceDown.New("The %s service cannot be reached at the moment.", server).With("server", server)
	}
	return "", noTool(set, server, name)
}

// options says how a tool is called: by GET only if it reads. It needs no caller, as OPTIONS
// of other paths.
func (c catalogue) options(w http.ResponseWriter, r *http.Request) error {
	methods := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	server, name := r.PathValue("server"), strings.TrimPrefix(r.PathValue("tool"), r.PathValue("server")+".")
	c.EachTool(func(t result.Reliability) {
		if t.Server == server && strings.TrimPrefix(t.Tool, server+".") == name && (t.Kind == result.Write || t.Kind == result.Edit) {
			methods = []string{http.MethodPost}
		}
	})
	httpx.Options(w, r, methods...)
	return nil
}

// noTool says that a server has no such tool, and what is known of the others:
// while one of them is down, the tool may be its own.
func noTool(set agent.Toolset, server, name string) error {
	owner := serverOf(set, name)
	switch {
	case owner != "":
		return fault.UnknownTool.New("The tool %s is not one of the server %s.", name, server).With("tool", name).Instruct("Call it on the server %s.", owner)
	case len(set.Down) > 0:
		return fault.UnknownTool.New("The server %s has no tool called %q.", server, name).With("tool", name)
	}
	return fault.UnknownTool.New("There is no tool called %q.", name).With("tool", name)
}

// serverOf is the server of a tool, whether or not the person may call it; empty without
// such a tool.
func serverOf(set agent.Toolset, name string) string {
	if at := slices.IndexFunc(set.Open, func(t agent.Tool) bool { return t.Name == name }); at >= 0 {
		return set.Open[at].Server
	}
	if at := slices.IndexFunc(set.Closed, func(t agent.ClosedTool) bool { return t.Name == name }); at >= 0 {
		return set.Closed[at].Server
	}
	return ""
}

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// servers are the names of all servers.
func (c catalogue) servers() []string {
	var names []string
	for _, s := range c.states() {
		names = append(names, s.Name)
	}
	return names
}

// Tools lists what the principal in the context may call.
func (c catalogue) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	var infos []result.ToolInfo
	for _, t := range c.Servers.Tools(ctx).Open {
		infos = append(infos, t.ToolInfo)
	}
	return infos, nil
}

// Encode writes the envelope.
func (catalogue) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }
