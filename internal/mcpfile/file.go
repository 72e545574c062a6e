package mcpfile

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Transport says how a server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // a child process: its standard input and output
	HTTP  Transport = "http"  // streamable HTTP
)

// Server is one connected server.
type Server struct {
	Name      string
	Line      int // of its name in the file
	Transport Transport

	Command string   // of a stdio server: the program, which no shell reads
	Args    []string // its arguments
	Dir     string   // its working folder; empty: the gateway's
	Env     []string // its environment, as NAME=value, beside what every one gets

	URL          string      // of an HTTP server
	Header       http.Header // sent with every request
	OAuth        *OAuth      // nil: none
	AllowPrivate bool        // private and loopback addresses are allowed; a weakening setting

	Rules Rules
}

// OAuth is how the gateway gets its own token for a server: with the client
// credentials grant.
type OAuth struct {
	Issuer       string // the authorization server, whose metadata is read; empty: the server names it
	ClientID     string
	ClientSecret string
	Scopes       []string
}

// File is the whole file.
type File struct {
	Servers  []Server // by name
	Warnings []string // keys of desktop clients that have no effect here
}

// Options of reading.
type Options struct {
	Getenv   func(string) string // values of ${NAME}
	Reserved []string            // names of our own servers, which no other may have or look like
	Timeout  time.Duration       // of a call, for servers without timeoutMs; zero: upstream's default
}

// Weakened lists the settings that weaken a check, each with what it allows.
func (f *File) Weakened() (settings []string) {
	for _, s := range f.Servers {
		if s.AllowPrivate {
			settings = append(settings, "mcp_file: "+s.Name+".allow_private: the server may be at an address of the private network or of this machine")
		}
		for _, tool := range slices.Sorted(maps.Keys(s.Rules.Tools)) {
			if s.Rules.Tools[tool].Approve == ApproveNever {
				settings = append(settings, "mcp_file: "+s.Name+".tools."+tool+".approve: never: its calls do not wait for their person")
			}
		}
	}
	return settings
}
