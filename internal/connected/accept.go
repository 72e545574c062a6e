package connected

import (
	"context"
	"fmt"
	"io"
	"strings"

	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream"
)

// All is the name of every tool of a server.
const All = "*"

// Accept asks a server for its tools, prints how the definition of the named tool
// ("server.tool", as the server names it, or "server.*") differs from the accepted
// one, and accepts it.
func (s *Set) Accept(ctx context.Context, name string, out io.Writer) error {
	server, tool, _ := strings.Cut(name, ".")
	one, err := s.named(server)
	if err != nil {
		return err
	}
	listed, err := s.list(ctx, one)
	if err != nil {
		return err
	}
	accepted := 0
	for _, t := range listed {
		offered, _ := one.Rules.Offered(t.Name)
		if tool != All && tool != t.Name && tool != offered {
			continue
		}
		accepted++
		if err := s.accept(server, t, out); err != nil {
			return err
		}
	}
	if accepted == 0 {
		return fmt.Errorf("the server %s has no tool %q", server, tool)
	}
	return nil
}

func (s *Set) named(server string) (mcpfile.Server, error) {
	var names []string
	for _, one := range s.current().Servers {
		if one.Name == server {
			return one, nil
		}
		names = append(names, one.Name)
	}
	return mcpfile.Server{}, fmt.Errorf("the file has no server %q; it has %s", server, strings.Join(names, ", "))
}

// list asks one server for its tools.
func (s *Set) list(ctx context.Context, one mcpfile.Server) ([]result.ToolInfo, error) {
	adapter := s.server(one).Foreign(func() {})
	defer adapter.Close()
	tools, err := adapter.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("the server %s does not list its tools: %s", one.Name, shown(err.Error())) // it may have words of the server's choice
	}
	return tools, nil
}

func (s *Set) accept(server string, t result.ToolInfo, out io.Writer) error {
	diff, err := s.lock.Diff(server, t)
	if err != nil {
		return err
	}
	if diff == "" {
		fmt.Fprintf(out, "%s.%s is accepted as it is\n", server, shown(t.Name))
		return nil
	}
	if err := s.lock.Accept(server, t); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s%s.%s was accepted: %s\n", plaintext.Escape(diff, true), server, shown(t.Name), s.lock.Path())
	return nil
}

// shown is a name of a server's choice as a terminal may print it.
func shown(name string) string { return plaintext.Escape(name, false) }

// Check connects to one server and says what it has, and what is held back. It
// writes nothing.
func (s *Set) Check(ctx context.Context, server string) (string, error) {
	one, err := s.named(server)
	if err != nil {
		return "", err
	}
	tools, err := s.list(ctx, one)
	if err != nil {
		return "", err
	}
	offered, callable := 0, 0
	for _, t := range tools {
		if _, ok := one.Rules.Offered(t.Name); ok {
			offered++
			if len(one.Rules.Of(t.Name).Roles) > 0 {
				callable++
			}
		}
	}
	said := fmt.Sprintf("answers; tools: %d, offered: %d, with a role that may call them: %d", len(tools), offered, callable)
	held, err := s.lock.Held(server, tools)
	if err != nil {
		return "", err
	}
	if len(held) > 0 {
		for i := range held {
			held[i] = shown(held[i])
		}
		said += `; held back until "countersign tools --accept" accepts them: ` + strings.Join(held, ", ")
	}
	return said, nil
}

// Names are the names of the servers.
func (s *Set) Names() (names []string) {
	for _, one := range s.current().Servers {
		names = append(names, one.Name)
	}
	return names
}

var _ Host = upstream.Foreign{}
