package mcpfile

import (
	"fmt"
	"slices"
	"strings"
)

// root reads the whole file.
func (r *reader) root(n *node) {
	found := 0
	servers := func(n *node) { found++; r.servers(n) }
	r.object(n, "the file", fields{"servers": servers, "mcpServers": servers}, clientKeys)
	switch {
	case n.kind == '{' && found == 0:
		r.report(n.line, "it has neither servers nor mcpServers")
	case found > 1:
		r.report(n.line, "it has both servers and mcpServers: use one")
	}
}

func (r *reader) servers(n *node) {
	if n.kind != '{' {
		r.report(n.line, "servers must be an object: each server under its name")
		return
	}
	names := newNames(r.o.Reserved)
	for _, m := range n.members {
		if fault := names.take(m.name, m.line); fault != "" {
			r.report(m.line, "%s", fault)
		}
		e := entry{reader: r, s: Server{Name: m.name, Line: m.line, Rules: Rules{Timeout: r.o.Timeout}}}
		e.read(m)
		if !e.disabled {
			r.file.Servers = append(r.file.Servers, e.s)
		}
	}
}

// ---- values

// Read reads the text of the file. The error lists every problem with its line.
func Read(text []byte, o Options) (*File, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := reader{o: o, file: &File{}}
	r.root(root)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b problem) int { return a.line - b.line })
		lines := make([]string, len(r.problems))
		for i, p := range r.problems {
			lines[i] = fmt.Sprintf("line %d: %s", p.line, p.text)
		}
		return nil, fmt.Errorf("%s", strings.Join(lines, "\n  "))
	}
	slices.SortFunc(r.file.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return r.file, nil
}
