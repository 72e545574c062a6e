package upstream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/envelope"
	"countersign.dev/internal/upstream/breaker"
)

// String names a tool with its server, for the log.
func (r route) String() string { return r.server.Name + "." + r.tool.Name }

// ownName is the offered name without the server's.
func (r route) ownName() string {
	if r.server.foreign() {
		return r.offeredAs
	}
	return r.tool.Name
}

// name is the tool's name as the host offers it: bare for our own servers,
// server.tool for foreign ones.
func (r route) name() string {
	if r.server.foreign() {
		return r.server.Name + "." + r.offeredAs
	}
	return r.tool.Name
}

// info describes the tool under its offered name.
func (r route) info() result.ToolInfo {
	info := r.tool
	info.Name = r.name()
	return info
}

// Fetched tool lists are used for this long.
const (
	listFresh = time.Minute
	listUsed  = 10 * time.Minute // at most, while a fresher one is fetched in the background
	listRetry = 2 * time.Second  // after a failed fetch
)

// need says whether a list must be fetched before use, may be fetched in the
// background, or has failed too recently to be fetched again.
func (l toolList) need(now time.Time) (fetch, background bool, failed error) {
	switch age := now.Sub(l.fetched); {
	case now.Before(l.retry):
		return false, false, l.failed
	case l.fetched.IsZero() || age > listUsed:
		return true, false, nil
	default:
		return age > listFresh, age > listFresh, nil
	}
}

// registry is the current snapshot, and the only place that replaces it.
func (u *Upstream) registry() *snapshot { return u.current.Load() }

// update publishes a snapshot that change made of the current one. change may
// replace fields, and entries of lists; what else the old snapshot refers to is
// shared and stays as it is.
func (u *Upstream) update(change func(*snapshot)) {
	u.updating.Lock()
	defer u.updating.Unlock()
	old := u.current.Load()
	next := *old
	next.lists = maps.Clone(old.lists)
	change(&next)
	u.current.Store(&next)
	if len(next.refused) > 0 && !slices.Equal(next.refused, old.refused) {
		u.o.Log.Warn("tools left out, because their names are not valid, are taken or look like others", "tools", next.refused)
	}
}

// keep stores the result of a fetch that began at the given version.
func (u *Upstream) keep(s *server, version int, tools []result.ToolInfo, err error) {
	var held map[string]string
	if s.foreign() && err == nil && u.o.Pins != nil {
		tools, held = u.o.Pins.Check(s.Name, tools)
	}
	now, shown := u.o.Now(), tools
	schemas, unchecked := schemasOf(s, tools)
	var repeats map[string]bool
	var envelopes map[string]*envelope.Foreign
	if s.foreign() {
		repeats, shown = repeatable(tools), supervised(tools)
		envelopes = envelopesOf(s.Name, shown)
	}
	u.update(func(next *snapshot) {
		if now, err := next.serverNamed(s.Name); err != nil || now.adapter != s.adapter { // replaced meanwhile
			return
		}
		l := next.lists[s.Name]
		l.failed = err
		if err != nil {
			l.fetched, l.retry = time.Time{}, now.Add(listRetry)
			next.lists[s.Name] = l
			return
		}
		if len(held) > 0 && !maps.Equal(held, l.held) {
			u.o.Log.Warn("tools are held back until their definitions are accepted", "server", s.Name, "tools", held)
		}
		for tool, why := range unchecked {
			if l.unchecked[tool] != why {
				u.o.Log.Warn("arguments of a tool are left to its server", "server", s.Name, "tool", tool, "error", why)
			}
		}
		l.unchecked = unchecked
		l.tools, l.schemas, l.repeats, l.envelopes, l.held, l.retry = shown, schemas, repeats, envelopes, held, time.Time{}
		if l.version == version {
			l.fetched = now
		}
		next.lists[s.Name] = l
		next.route()
	})
}

// invalidate makes the next reader fetch the server's tool list.
func (u *Upstream) invalidate(s *server) {
	u.update(func(next *snapshot) {
		l := next.lists[s.Name]
		l.fetched, l.version = time.Time{}, l.version+1
		next.lists[s.Name] = l
	})
}

// routeOf makes the route of one tool. A foreign one has the operator's rules,
// and may not be offered at all.
func (n *snapshot) routeOf(s *server, t result.ToolInfo) (route, bool) {
	r := route{server: s, tool: t, schema: n.lists[s.Name].schemas[t.Name], breaker: s.breaker}
	if !s.foreign() {
		return r, true
	}
	name, offered := s.Rules.Offered(t.Name)
	r.offeredAs, r.rules = name, s.Rules.Of(t.Name)
	r.tool.Roles, r.repeats = r.rules.Roles, n.lists[s.Name].repeats[t.Name]
	if r.rules.Approve == mcpfile.ApproveAlways { // whatever its server says
		r.tool.Kind, r.tool.Annotations.ReadOnly, r.tool.Annotations.Idempotent = result.Write, false, false
	}
	r.envelope = n.lists[s.Name].envelopes[t.Name]
	r.tool.OutputSchema = r.envelope.Of(r.tool.Kind)
	return r, offered
}

// serverNamed returns the server of a name, or SERVER_NOT_FOUND.
func (n *snapshot) serverNamed(name string) (*server, error) {
	for _, s := range n.servers {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fault.ServerNotFound.New("No server is called %q.", name).With("server", name)
}

// route rebuilds the routes from the lists. A name that is not valid, that an
// earlier server has, or that looks like one is left out. Breakers of tools
// that stay keep their state.
func (n *snapshot) route() {
	old, seen := n.routes, make(map[string]route) // seen by skeleton
	n.routes, n.refused = make(map[string]route), nil
	for _, s := range n.servers {
		for _, t := range n.lists[s.Name].tools {
			r, offered := n.routeOf(s, t)
			if !offered {
				continue
			}
			if !wellNamed(r.ownName()) || !wellNamed(forVendor(r.name())) {
				n.refused = append(n.refused, r.String())
				continue
			}
			if first, taken := seen[mcpfile.Skeleton(r.name())]; taken {
				n.refused = append(n.refused, r.String()+" for "+first.String())
				continue
			}
			if s.foreign() {
				r.breaker = cmp.Or(old[r.name()].breaker, breaker.New(breaker.Foreign))
			}
			r.meter = cmp.Or(old[r.name()].meter, &meter{})
			seen[mcpfile.Skeleton(r.name())], n.routes[r.name()] = r, r
		}
	}
	n.names = slices.Sorted(maps.Keys(n.routes))
}

// forVendor is an offered name without its dot, which model vendors refuse. Two offered
// names never become the same: such look-alikes are left out.
func forVendor(name string) string { return strings.Replace(name, ".", "_", 1) }

// wellNamed reports whether model vendors accept a tool's name.
func wellNamed(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// repeatable are the tools that their server marks as read-only or idempotent: a
// second call has no further effect.
func repeatable(tools []result.ToolInfo) map[string]bool {
	all := make(map[string]bool)
	for _, t := range tools {
		if t.Annotations.ReadOnly || t.Annotations.Idempotent {
			all[t.Name] = true
		}
	}
	return all
}

// supervised is the host's view of a foreign server's tools, whatever the server
// says: one that is not marked read-only is a write, and no text of its results
// is trusted. Its other hints are not passed on: a write only asks its person here,
// as one of our own does, and everything leads out of this system. Models and people
// read the same definition: characters that only a model would see are written as code points.
// Clients do not repeat arguments in headers: those of a call are not compared with them.
func supervised(tools []result.ToolInfo) []result.ToolInfo {
	list := slices.Clone(tools)
	for i := range list {
		t := &list[i]
		t.Untrusted, t.Fields, t.Kind = []string{result.Everything}, nil, result.Write
		if t.Annotations.ReadOnly {
			t.Kind = result.Read
		}
		t.Annotations = result.Annotations{ReadOnly: t.Annotations.ReadOnly, Idempotent: t.Annotations.ReadOnly, OpenWorld: true}
		t.Title, t.Description = plaintext.Escape(t.Title, false), plaintext.Escape(t.Description, true)
		t.InputSchema, t.OutputSchema = visible(withoutHeaders(t.InputSchema)), visible(t.OutputSchema)
	}
	return list
}

// headerMark is the member of a schema that has clients repeat an argument in a header.
const headerMark = "x-mcp-header"

// withoutHeaders is a schema that marks no argument for a header. One that does not already
// stays as it is.
func withoutHeaders(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(headerMark)) {
		return schema
	}
	unmarked, err := json.Marshal(unmark(schema, false))
	if err != nil {
		return schema
	}
	return unmarked
}

// unmark takes the marks out of a schema and those in it. The members of one that is a map
// of schemas are names of arguments, which may be anything.
func unmark(schema json.RawMessage, ofNames bool) any {
	var list []json.RawMessage
	if json.Unmarshal(schema, &list) == nil && list != nil {
		all := make([]any, len(list))
		for i, one := range list {
			all[i] = unmark(one, false)
		}
		return all
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || members == nil {
		return schema
	}
	all := make(map[string]any, len(members))
	for name, one := range members {
		switch {
		case ofNames:
			all[name] = unmark(one, false)
		case name == headerMark:
		case slices.Contains(valued, name):
			all[name] = one
		default:
			all[name] = unmark(one, slices.Contains(schemaMaps, name))
		}
	}
	return all
}

// valued are the members of a schema that have values, not schemas.
var valued = []string{"default", "const", "enum", "examples"}

// schemaMaps are the members of a schema that have schemas by names.
var schemaMaps = []string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}

// visible is a schema that shows all that it holds. One that does already stays as it is.
func visible(schema json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(schema, &value) != nil || plaintext.CheckValue("schema", value, true) == nil {
		return schema
	}
	shown, err := json.Marshal(plaintext.EscapeValue(value, true))
	if err != nil {
		return schema
	}
	return shown
}

// SchemaOf compiles the input schema of a tool of our own servers, with the words
// that the server itself would use.
func SchemaOf(t result.ToolInfo) (*schema.Schema, error) {
	words := map[string]schema.Words{}
	if t.Fields != nil {
		for name, f := range t.Fields.Input {
			words[name] = schema.Words{Suggest: f.Suggest, Tell: f.Tell}
		}
	}
	return schema.Compile(t.InputSchema, schema.Options{Formats: true, Words: words})
}

// foreignSchema compiles a schema of a foreign server, which alone knows what its
// formats mean and how long its texts may be. One that can be made to take long
// is an error, and its arguments are left to the server.
func foreignSchema(t result.ToolInfo) (*schema.Schema, error) {
	return schema.Compile(t.InputSchema, schema.Options{Bounded: true, LongTexts: true})
}

// schemasOf compiles the schemas of a list of tools, once for each fetch. What
// does not compile, and patterns that we do not read, are left to its server; unchecked
// says why.
func schemasOf(s *server, tools []result.ToolInfo) (compiled map[string]*schema.Schema, unchecked map[string]string) {
	compile := SchemaOf
	if s.foreign() {
		compile = foreignSchema
	}
	compiled, unchecked = make(map[string]*schema.Schema, len(tools)), make(map[string]string)
	for _, t := range tools {
		one, err := compile(t)
		if err != nil {
			unchecked[t.Name] = fault.Clip(err.Error(), maxWhy)
			continue
		}
		compiled[t.Name] = one
		if left := one.Left(); len(left) > 0 {
			unchecked[t.Name] = fault.Clip(fmt.Sprintf("patterns alone: %q", left), maxWhy)
		}
	}
	return compiled, unchecked
}

// maxWhy bounds the bytes of the reason why a schema does not compile, which quotes it.
const maxWhy = 500

// envelopesOf describes the answers of a foreign server's tools, once for each fetch. Of a tool
// that is missing nothing can be said.
func envelopesOf(server string, tools []result.ToolInfo) map[string]*envelope.Foreign {
	all := make(map[string]*envelope.Foreign)
	for _, t := range tools {
		if len(t.OutputSchema) == 0 {
			continue
		}
		if one, err := envelope.Around(server, t.Name, t.OutputSchema); err == nil {
			all[t.Name] = one
		}
	}
	return all
}
