package upstream

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

// route leads from a tool's name to its server.
type route struct {
	peer *peer
	tool result.ToolInfo
}

// String names a tool with its server, for the log.
func (r route) String() string { return r.peer.Name + "." + r.tool.Name }

// directory is the merged list of all tools, as the servers last told them.
type directory struct {
	routes  map[string]route
	names   []string // sorted
	refused []string // what was left out, and for what; logged when it changes
}

// Tools lists what the principal may call, what they may not, and the servers
// that could not be asked. Nobody finds nothing.
func (u *Upstream) Tools(ctx context.Context) agent.Toolset {
	who, err := access.From(ctx)
	if err != nil {
		return agent.Toolset{}
	}
	down := u.refresh(ctx)
	set := agent.Toolset{Down: u.warnings(down)}
	dir := u.directory.Load()
	for _, name := range dir.names {
		r := dir.routes[name]
		switch {
		case down[r.peer.Name] != nil: // the warning tells it
		case mayCall(who, r.tool):
			set.Open = append(set.Open, agent.Tool{ToolInfo: r.tool, Server: r.peer.Name})
		default:
			set.Closed = append(set.Closed, agent.ClosedTool{Name: name, Sentence: firstSentence(r.tool.Description), Roles: r.tool.Roles, Info: r.tool})
		}
	}
	return set
}

func mayCall(who *access.Principal, t result.ToolInfo) bool {
	return slices.ContainsFunc(t.Roles, func(role string) bool { return who.HasAny(access.Role(role)) })
}

func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

func (u *Upstream) warnings(down map[string]error) []agent.Warning {
	var list []agent.Warning
	for _, p := range u.peers {
		if err := down[p.Name]; err != nil {
			f := p.fault(err)
			list = append(list, agent.Warning{Server: p.Name, Code: f.Code.Name, Message: f.Message})
		}
	}
	return list
}

// refresh makes every catalogue usable that can be, all servers at once, and
// returns those that could not be asked.
func (u *Upstream) refresh(ctx context.Context) map[string]error {
	errs := make([]error, len(u.peers))
	var asked sync.WaitGroup
	for i, p := range u.peers {
		asked.Go(func() { errs[i] = p.refresh(ctx) })
	}
	asked.Wait()
	down := make(map[string]error)
	for i, p := range u.peers {
		if errs[i] != nil {
			down[p.Name] = errs[i]
		}
	}
	return down
}

// merge rebuilds the directory after a server told its tools anew. A name that
// an earlier server has, or that looks like one, is left out.
func (u *Upstream) merge() {
	u.merging.Lock()
	defer u.merging.Unlock()
	dir := &directory{routes: make(map[string]route)}
	seen := make(map[string]route) // by skeleton
	for _, p := range u.peers {
		for _, t := range p.shelf.known() {
			own := route{p, t}
			if first, taken := seen[skeleton(t.Name)]; taken {
				dir.refused = append(dir.refused, own.String()+" for "+first.String())
				continue
			}
			seen[skeleton(t.Name)], dir.routes[t.Name] = own, own
		}
	}
	dir.names = slices.Sorted(maps.Keys(dir.routes))
	if len(dir.refused) > 0 && !slices.Equal(dir.refused, u.directory.Load().refused) {
		u.o.Log.Warn("tools left out, because their names are taken or look like others", "tools", dir.refused)
	}
	u.directory.Store(dir)
}

// skeleton maps names that a person could mistake for each other to one text.
// Only ASCII names get this far.
func skeleton(name string) string {
	return lookalikes.Replace(strings.ToLower(name))
}

var lookalikes = strings.NewReplacer("_", "", "-", "", ".", "", "0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")

// wellNamed reports whether model vendors accept a tool's name.
func wellNamed(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
