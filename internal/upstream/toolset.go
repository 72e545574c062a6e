package upstream

import (
	"context"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Tools lists what the principal may call, what they may not, and the servers
// that could not be asked. No principal: an empty toolset.
func (u *Upstream) Tools(ctx context.Context) agent.Toolset {
	who, err := access.From(ctx)
	if err != nil {
		return agent.Toolset{}
	}
	down := u.refresh(ctx, u.registry().servers)
	now := u.registry()
	set := agent.Toolset{Down: now.warnings(down)}
	for _, name := range now.names {
		r := now.routes[name]
		switch {
		case down[r.server.Name] != nil: // the warning says so
		case mayCall(who, r.tool):
			set.Open = append(set.Open, r.offered())
		default:
			info := r.info()
			set.Closed = append(set.Closed, agent.ClosedTool{Name: name, Server: r.server.Name, Sentence: firstSentence(info.Description), Roles: info.Roles, Info: info})
		}
	}
	return set
}

func mayCall(who *access.Principal, t result.ToolInfo) bool { return hasOne(who, t.Roles) }

func hasOne(who *access.Principal, roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool { return who.HasAny(access.Role(role)) })
}

func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

func (n *snapshot) warnings(down map[string]error) []agent.Warning {
	var list []agent.Warning
	for _, s := range n.servers {
		if err := down[s.Name]; err != nil {
			f := s.fault(err)
			list = append(list, agent.Warning{Server: s.Name, Code: f.Code.Name, Message: f.Message})
		}
	}
	return list
}

// refresh makes every tool list of these servers usable that can be, all at once, and
// returns those that could not be asked.
func (u *Upstream) refresh(ctx context.Context, servers []*server) map[string]error {
	errs := make([]error, len(servers))
	var asked sync.WaitGroup
	for i, s := range servers {
		asked.Go(func() { errs[i] = s.refresh(ctx) })
	}
	asked.Wait()
	down := make(map[string]error)
	for i, s := range servers {
		if errs[i] != nil {
			down[s.Name] = errs[i]
		}
	}
	return down
}

// find fetches tool lists only when no known list has the tool, and only those of
// servers that may have it.
func (u *Upstream) find(ctx context.Context, name string) (route, error) {
	if r, ok := u.registry().routes[name]; ok {
		return r, nil
	}
	who, err := access.From(ctx)
	if err != nil {
		return route{}, err
	}
	possible := slices.DeleteFunc(slices.Clone(u.registry().servers), func(s *server) bool { return !mayHave(s, name) })
	down := u.refresh(ctx, possible)
	if r, ok := u.registry().routes[name]; ok {
		return r, nil
	}
	for _, s := range possible {
		if err := down[s.Name]; err != nil && mayServe(s, who) { // the tool may be on a server that never answered
			return route{}, s.fault(err).With("tool", name)
		}
	}
	return route{}, fault.UnknownTool.New("No tool is called %q.", name).With("tool", name)
}

// mayHave reports whether a tool may be on the server, by its offered name: those of
// foreign servers begin with the server's.
func mayHave(s *server, name string) bool {
	if !s.foreign() {
		return !strings.Contains(name, ".")
	}
	return strings.HasPrefix(name, s.Name+".")
}

// mayServe reports whether a person may call a tool of the server, whatever tools it has.
// Our own say for whom each of theirs is.
func mayServe(s *server, who *access.Principal) bool {
	if !s.foreign() || hasOne(who, s.Rules.Roles) {
		return true
	}
	for _, t := range s.Rules.Tools {
		if hasOne(who, t.Roles) {
			return true
		}
	}
	return false
}

// offered is the tool as a model gets it.
func (r route) offered() agent.Tool {
	t := agent.Tool{ToolInfo: r.info(), Server: r.server.Name}
	if r.schema != nil {
		t.Arguments = r.schema
	}
	return t
}
