package mcpfile

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// entry is one server while it is read.
type entry struct {
	*reader
	s        Server
	id       string
	kind     string // type
	via      string // transport
	disabled bool
	plain    []int // lines of addresses without TLS
}

func (e *entry) read(m member) {
	e.object(m.value, "server "+m.name, e.fields(), serverKeys)
	if m.value.kind != '{' {
		return
	}
	if e.id != "" && e.id != e.s.Name {
		e.report(m.line, "the id of server %s is %q: it must be its name, or be left out", e.s.Name, e.id)
	}
	e.transport(m)
	e.checkRules(m.line)
	if e.disabled {
		e.warn(m.line, m.name, "is disabled and not connected")
	}
}

func (e *entry) fields() fields {
	s := &e.s
	return fields{
		"id":            func(n *node) { e.id = e.text(n, "id") },
		"type":          func(n *node) { e.kind = e.text(n, "type") },
		"transport":     func(n *node) { e.via = e.text(n, "transport") },
		"command":       func(n *node) { s.Command = e.text(n, "command") },
		"args":          func(n *node) { s.Args = e.texts(n, "args") },
		"cwd":           func(n *node) { s.Dir = e.text(n, "cwd") },
		"env":           e.env,
		"url":           func(n *node) { s.URL = e.text(n, "url") },
		"headers":       e.headers,
		"oauth":         e.oauth,
		"allow_private": func(n *node) { s.AllowPrivate = e.flag(n, "allow_private") },
		"disabled":      func(n *node) { e.disabled = e.flag(n, "disabled") },
		"roles":         func(n *node) { s.Rules.Roles = e.names(n, "roles") },
		"allow":         func(n *node) { s.Rules.Allow = e.names(n, "allow") },
		"deny":          func(n *node) { s.Rules.Deny = e.names(n, "deny") },
		"rename":        e.rename,
		"timeoutMs":     func(n *node) { s.Rules.Timeout = e.timeout(n, "timeoutMs") },
		"tools":         e.tools,
	}
}

// transport settles how the server is reached: what type and transport say must
// agree with the other keys.
func (e *entry) transport(m member) {
	s := &e.s
	byKey := Transport("")
	switch {
	case s.Command != "" && s.URL != "":
		e.report(m.line, "server %s has a command and a url: use one", m.name)
		return
	case s.Command != "":
		byKey = Stdio
	case s.URL != "":
		byKey = HTTP
	}
	named := e.namedTransport(m)
	switch {
	case byKey == "" && named == Stdio:
		e.report(m.line, "server %s needs a command", m.name)
	case byKey == "" && named == HTTP:
		e.report(m.line, "server %s needs a url", m.name)
	case byKey == "":
		e.report(m.line, "server %s needs a command (stdio) or a url (http)", m.name)
	case named != "" && named != byKey:
		e.report(m.line, "server %s is of transport %s, which does not fit its other keys", m.name, named)
	}
	s.Transport = byKey
	e.checkTransport(m)
}

// namedTransport is what type and transport say, or empty. A server of type local
// or remote has the transport that the key transport names.
func (e *entry) namedTransport(m member) Transport {
	of := map[string]Transport{"": "", "stdio": Stdio, "http": HTTP, "streamable-http": HTTP, "local": "", "remote": ""}
	named, known := of[e.kind]
	via, knownVia := map[string]Transport{"": "", "stdio": Stdio, "http": HTTP}[e.via]
	switch {
	case e.kind == "sse":
		e.report(m.line, "server %s is of type sse, which the protocol has given up: use its streamable HTTP address, with type http", m.name)
	case !known:
		e.report(m.line, "type must be stdio, http, local or remote, and not %q", e.kind)
	case !knownVia:
		e.report(m.line, "transport must be stdio or http, and not %q", e.via)
	case named != "" && via != "" && named != via:
		e.report(m.line, "server %s is of type %s and of transport %s: they contradict each other", m.name, e.kind, e.via)
	case e.kind == "remote" && via == Stdio:
		e.report(m.line, "server %s is remote and of transport stdio: they contradict each other", m.name)
	}
	if named == "" {
		named = via
	}
	if named == "" && e.kind == "remote" {
		named = HTTP
	}
	return named
}

// checkTransport rejects keys that have no effect on the transport.
func (e *entry) checkTransport(m member) {
	only := map[Transport][]string{Stdio: {"url", "headers", "oauth", "allow_private"}, HTTP: {"command", "args", "env", "cwd"}}
	for _, key := range m.value.members {
		if slices.Contains(only[e.s.Transport], key.name) {
			e.report(key.line, "%s has no effect on a server over %s", key.name, e.s.Transport)
		}
	}
	if e.s.Transport == HTTP {
		e.checkURL(m.line)
	}
}

func (e *entry) checkURL(line int) {
	u, err := url.Parse(e.s.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		e.report(line, "the url of server %s must be an address that begins with https:// or http://", e.s.Name)
	case u.User != nil || u.Fragment != "":
		e.report(line, "the url of server %s must have no name, password or fragment: use headers or oauth", e.s.Name)
	case u.Scheme == "http" && !e.s.AllowPrivate:
		e.report(line, "the url of server %s must begin with https://; http:// needs allow_private, and is for private networks only", e.s.Name)
	}
	for _, at := range e.plain {
		if !e.s.AllowPrivate {
			e.report(at, "oauth.issuer must begin with https://; http:// needs allow_private")
		}
	}
	if e.s.OAuth != nil && e.s.Header.Get("Authorization") != "" {
		e.report(line, "server %s has oauth and a header Authorization: use one", e.s.Name)
	}
}

func (e *entry) env(n *node) {
	e.pairs(n, "env", func(line int, name, value string) {
		if !variableName.MatchString(name) || strings.ContainsRune(value, 0) {
			e.report(line, "env: %q is no name of an environment variable, or its value cannot be one", name)
			return
		}
		e.s.Env = append(e.s.Env, name+"="+value)
	})
}

// A header's name and value as they may be on the wire (RFC 9110, 5.1 and 5.5).
var (
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	headerValue = regexp.MustCompile(`^[\t\x20-\x7e\x80-\xff]*$`)
)

// ownHeaders are set by the protocol.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Accept", "Transfer-Encoding", "Connection", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

func (e *entry) headers(n *node) {
	e.s.Header = http.Header{}
	e.pairs(n, "headers", func(line int, name, value string) {
		switch {
		case !headerName.MatchString(name) || !headerValue.MatchString(value):
			e.report(line, "headers: %q is no name of a header, or its value cannot be one", name)
		case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
			e.report(line, "headers: %s is set by the protocol", name)
		case e.s.Header.Get(name) != "":
			e.report(line, "headers: %s is repeated", name)
		default:
			e.s.Header.Set(name, value)
		}
	})
}

func (e *entry) oauth(n *node) {
	o := &OAuth{}
	e.object(n, "oauth", fields{
		"issuer":        func(n *node) { o.Issuer = e.text(n, "oauth.issuer") },
		"client_id":     func(n *node) { o.ClientID = e.text(n, "oauth.client_id") },
		"client_secret": func(n *node) { o.ClientSecret = e.text(n, "oauth.client_secret") },
		"scopes":        func(n *node) { o.Scopes = e.names(n, "oauth.scopes") },
	}, nil)
	if n.kind == '{' && (o.Issuer == "" || o.ClientID == "" || o.ClientSecret == "") {
		e.report(n.line, "oauth needs issuer, client_id and client_secret: the secret is sent to no other issuer")
	}
	if u, err := url.Parse(o.Issuer); o.Issuer != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		e.report(n.line, "oauth.issuer must be an address that begins with https:// or http://")
	}
	if strings.HasPrefix(o.Issuer, "http://") {
		e.plain = append(e.plain, n.line)
	}
	e.s.OAuth = o
}

func (e *entry) rename(n *node) {
	e.s.Rules.Rename = map[string]string{}
	e.pairs(n, "rename", func(line int, name, value string) {
		if !toolName.MatchString(value) {
			e.report(line, "rename: %q must be 1 to 60 letters, digits, _ or -", value)
		}
		e.s.Rules.Rename[name] = value
	})
}

func (e *entry) tools(n *node) {
	if n.kind != '{' {
		e.report(n.line, "tools must be an object: each tool under its name")
		return
	}
	e.s.Rules.Tools = map[string]ToolRules{}
	for _, m := range n.members {
		if _, repeated := e.s.Rules.Tools[m.name]; repeated {
			e.report(m.line, "%q is repeated", m.name)
		}
		t, key := ToolRules{}, "tools."+m.name
		e.object(m.value, key, fields{
			"roles":     func(n *node) { t.Roles = e.names(n, key+".roles") },
			"approve":   func(n *node) { t.Approve = e.approval(n, key+".approve") },
			"timeoutMs": func(n *node) { t.Timeout = e.timeout(n, key+".timeoutMs") },
		}, nil)
		e.s.Rules.Tools[m.name] = t
	}
}

func (e *entry) approval(n *node, key string) Approval {
	a := Approval(e.text(n, key))
	if a != ApproveAlways && a != ApproveNever {
		e.report(n.line, "%s must be always or never", key)
	}
	return a
}

// checkRules rejects rules that contradict each other.
func (e *entry) checkRules(line int) {
	r := e.s.Rules
	for _, tool := range r.Deny {
		if slices.Contains(r.Allow, tool) {
			e.report(line, "server %s both allows and denies %s", e.s.Name, tool)
		}
	}
	offered := map[string]string{}
	for _, tool := range slices.Sorted(maps.Keys(r.Rename)) {
		if other, taken := offered[r.Rename[tool]]; taken {
			e.report(line, "server %s renames %s and %s to %s", e.s.Name, other, tool, r.Rename[tool])
		}
		offered[r.Rename[tool]] = tool
	}
	for _, tool := range slices.Sorted(maps.Keys(r.Tools)) {
		if _, ok := r.Offered(tool); !ok {
			e.report(line, "server %s has rules for %s, which it does not offer", e.s.Name, tool)
		}
	}
	if e.s.Dir != "" && !filepath.IsAbs(e.s.Dir) {
		e.report(line, "cwd of server %s must be an absolute path", e.s.Name)
	}
}

// String names the server and how it is reached, for messages.
func (s Server) String() string { return fmt.Sprintf("%s (%s)", s.Name, s.Transport) }
