package config

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// plainTransport finds addresses of other machines that would be reached without
// TLS, or without checking whose certificate it is. It looks at the final
// values, after the environment replaced some of them.
func (c *Config) plainTransport() (problems []string) {
	for _, a := range c.addresses() {
		if a.value == "" {
			continue
		}
		if instead := insteadOf(a.value, a.schemes); instead != "" {
			problems = append(problems, c.line(a.path...)+strings.Join(a.path, ".")+" "+instead+a.hint)
		}
	}
	return problems
}

// address is a setting that names another process.
type address struct {
	path    []string
	value   string
	schemes []string
	hint    string // added to a problem
}

func (c *Config) addresses() []address {
	redis := address{path: []string{"redis", "url"}, value: c.Redis.URL, schemes: []string{"rediss", "redis"}}
	if slices.Contains(c.overrides, "REDIS_HOST") {
		redis.hint = " (it was replaced by REDIS_HOST and REDIS_PORT, which know no TLS: leave them out)"
	}
	web := func(value string, path ...string) address {
		return address{path: path, value: value, schemes: []string{"https", "http"}}
	}
	all := []address{redis, web(c.PublicURL, "public_url"), web(c.Issuer.URL, "issuer", "url"),
		web(c.Gateway.URL, "gateway", "url"), web(c.Gateway.PublicURL, "gateway", "public_url"),
		web(c.CodeSearch.Embeddings.BaseURL, "codesearch", "embeddings", "base_url"), web(c.CodeSearch.Store, "codesearch", "store")}
	for i, issuer := range c.Issuer.Additional {
		all = append(all, web(issuer.URL, "issuer", "additional_issuers", strconv.Itoa(i), "url"))
	}
	for name, s := range c.Servers {
		all = append(all, web(s.URL, "servers", name, "url"), web(s.PublicURL, "servers", name, "public_url"))
	}
	for name, m := range c.Models.ByName {
		all = append(all, web(m.BaseURL, "models", name, "base_url"))
	}
	for name, d := range c.Databases {
		if d.Code != nil { // codesearch.store, or a folder
			continue
		}
		all = append(all, address{path: []string{"databases", name, "url"}, value: d.URL, schemes: stores},
			address{path: []string{"databases", name, "admin_url"}, value: d.AdminURL, schemes: stores})
	}
	return all
}

var stores = []string{"postgres", "postgresql", "mongodb", "mongodb+srv", "https", "http", "sqlite", "index"}

// listener is an address that a process listens on.
type listener struct {
	path    []string
	address string
	tls     TLS
}

func (c *Config) listeners() []listener {
	all := []listener{{[]string{"listen"}, c.Listen, c.TLS}}
	if c.Metrics.Listen != "" {
		all = append(all, listener{[]string{"metrics", "listen"}, c.Metrics.Listen, c.TLS})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if s := c.Servers[name]; s.Listen != "" { // the default is loopback
			all = append(all, listener{[]string{"servers", name, "listen"}, s.Listen, cmp.Or(s.TLS, c.TLS)})
		}
	}
	return all
}

// plainListeners finds listeners that other machines would reach without TLS.
func (c *Config) plainListeners() (problems []string) {
	for _, l := range c.listeners() {
		if !l.tls.Serves() && !l.tls.Proxy && !Loopback(l.address) {
			problems = append(problems, c.line(l.path...)+strings.Join(l.path, ".")+
				" would let other machines connect in plain text: configure tls.cert and tls.key, or say with tls.proxy: true that a proxy in front ends TLS")
		}
	}
	return problems
}

// foreignOrigins finds origins that no browser would write.
func (c *Config) foreignOrigins() (problems []string) {
	for i, origin := range c.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host || u.Scheme != "https" && !Loopback(u.Host) {
			problems = append(problems, c.line("allowed_origins", strconv.Itoa(i))+"allowed_origins must be origins such as https://app.example.com, without a path")
		}
	}
	return problems
}

// publicPaths finds public addresses of the gateway that are more than an origin: its pages
// and the callback are at the root.
func (c *Config) publicPaths() (problems []string) {
	for _, a := range []address{{path: []string{"public_url"}, value: c.PublicURL}, {path: []string{"gateway", "public_url"}, value: c.Gateway.PublicURL}} {
		u, err := url.Parse(a.value)
		if err == nil && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.User != nil) {
			problems = append(problems, c.line(a.path...)+strings.Join(a.path, ".")+" must be a scheme and a host such as https://countersign.example.com, without a path or a query: the gateway needs a host name of its own")
		}
	}
	return problems
}

// badProxies finds addresses of proxies that are none, or cover every address.
func (c *Config) badProxies() (problems []string) {
	for i, address := range c.Proxies {
		if proxy, err := proxyOf(address); err != nil || proxy.Bits() == 0 {
			problems = append(problems, c.line("proxies", strconv.Itoa(i))+"proxies must be addresses or networks such as 10.0.0.5 or 10.0.0.0/24, of proxies alone")
		}
	}
	return problems
}

// ProxyAddresses are the networks of Proxies. An address is a network of its own.
func (c *Config) ProxyAddresses() []netip.Prefix {
	var networks []netip.Prefix
	for _, address := range c.Proxies {
		if network, err := proxyOf(address); err == nil { // the others are problems of the file
			networks = append(networks, network)
		}
	}
	return networks
}

func proxyOf(address string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(address); err == nil {
		return ip.Prefix(ip.BitLen())
	}
	network, err := netip.ParsePrefix(address)
	return network.Masked(), err
}

// UnknownCallers returns a warning for operators when a proxy is in front and it is
// not known which one: all its callers count as one address. Empty: all is well.
func (c *Config) UnknownCallers() string {
	if len(c.Proxies) > 0 || !slices.ContainsFunc(c.listeners(), func(l listener) bool { return l.tls.Proxy }) {
		return ""
	}
	return "tls.proxy is set and proxies is not: requests without a proved caller are counted together, as the proxy's"
}

// insteadOf says what to write instead of an address that is not safe, or
// nothing. It never quotes the address, which may have a password.
func insteadOf(value string, schemes []string) string {
	scheme, rest, _ := strings.Cut(value, ":")
	rest, found := strings.CutPrefix(rest, "//")
	switch {
	case !slices.Contains(schemes, scheme) || !found && !onDisk(scheme):
		return "must be an address that begins with " + schemes[0] + "://"
	case onDisk(scheme):
		return ""
	}
	if strings.Contains(rest, "#") { // where the host ends differs between readers of addresses
		return "has a #, which must be written %23"
	}
	authority, after, _ := strings.Cut(strings.Replace(rest, "?", "/?", 1), "/")
	_, query, _ := strings.Cut(after, "?")
	options, err := url.ParseQuery(query)
	if err != nil {
		return "has options that cannot be read"
	}
	hosts := strings.Split(authority[strings.LastIndex(authority, "@")+1:], ",")
	switch scheme {
	case "redis", "rediss":
		return insteadOfRedis(scheme, hosts, options)
	case "postgres", "postgresql":
		return insteadOfPostgres(hosts, options)
	case "mongodb", "mongodb+srv":
		return insteadOfMongo(scheme, hosts, options)
	}
	return InsteadOfHTTP(value)
}

// InsteadOfHTTP says what to write in place of an address that would be reached without
// TLS on another machine, and is empty for one that may stay. It takes several addresses
// too, separated by commas.
func InsteadOfHTTP(value string) string {
	for one := range strings.SplitSeq(value, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" {
			return "must be an address such as https://host"
		}
		if u.Scheme != "https" && !Loopback(u.Host) {
			return "would send everything in plain text to another machine: write https://"
		}
	}
	return ""
}

func insteadOfRedis(scheme string, hosts []string, options url.Values) string {
	switch {
	case local(hosts):
		return ""
	case scheme != "rediss":
		return "would send everything in plain text to another machine: write rediss://"
	case options.Has("skip_verify"):
		return "would not check whose certificate it is: leave skip_verify out"
	}
	return ""
}

// insteadOfPostgres knows that the option host replaces the address's, and that
// a host that is a path is a socket of this machine.
func insteadOfPostgres(hosts []string, options url.Values) string {
	if named := options.Get("host"); named != "" {
		hosts = strings.Split(named, ",")
	}
	if slices.Contains(hosts, "") {
		return "must name a host: without one the environment of the process would decide"
	}
	hosts = slices.DeleteFunc(hosts, func(h string) bool { return strings.HasPrefix(h, "/") })
	if local(hosts) || slices.Equal(options["sslmode"], []string{"verify-full"}) {
		return ""
	}
	return "would trust another machine without checking its certificate: add sslmode=verify-full"
}

// insteadOfMongo reads the names of options as the driver does, in any case.
func insteadOfMongo(scheme string, hosts []string, options url.Values) string {
	if local(hosts) {
		return ""
	}
	encrypted := scheme == "mongodb+srv" // by default
	for name, values := range options {
		switch name = strings.ToLower(name); {
		case name == "tls" || name == "ssl":
			encrypted = !slices.ContainsFunc(values, func(v string) bool { return v != "true" })
			if !encrypted {
				return "would send everything in plain text to another machine: write tls=true"
			}
		case strings.Contains(name, "insecure") || strings.Contains(name, "allowinvalid"):
			return "would not check whose certificate it is: leave " + name + " out"
		}
	}
	if !encrypted {
		return "would send everything in plain text to another machine: add tls=true"
	}
	return ""
}

// local reports whether all hosts are this machine.
func local(hosts []string) bool {
	return !slices.ContainsFunc(hosts, func(h string) bool { return !Loopback(h) })
}

// onDisk reports whether the addresses of a scheme are files of this machine.
func onDisk(scheme string) bool { return scheme == "sqlite" || scheme == "index" }

// TLS is how a listener is protected: the files of its certificate and key, or a
// proxy in front of it. Empty: it speaks plain HTTP and is on loopback.
type TLS struct {
	Cert  string `yaml:"cert"`  // PEM, the chain too
	Key   string `yaml:"key"`   // PEM
	Proxy bool   `yaml:"proxy"` // a proxy ends TLS: plain HTTP beyond loopback is meant
}

// Serves reports whether the listener itself speaks TLS.
func (t TLS) Serves() bool { return t.Cert != "" }

func (t TLS) problems(key string) []string {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return []string{key + " needs both files, cert and key"}
	case t.Proxy && t.Serves():
		return []string{key + ": either the listener has a certificate, or a proxy ends TLS (proxy: true)"}
	}
	return nil
}

// Loopback reports whether a host, with or without a port, is this machine:
// localhost, 127.0.0.0/8 or ::1.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip, _ := netip.ParseAddr(host) // the zero address is no loopback
	return strings.EqualFold(host, "localhost") || ip.Unmap().IsLoopback()
}
