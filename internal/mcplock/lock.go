package mcplock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"countersign.dev/internal/result"
)

// Of is the definition of a tool as its server lists it.
func Of(t result.ToolInfo) Definition {
	return Definition{
		Title: t.Title, Description: t.Description, Annotations: t.Annotations,
		InputSchema: sorted(t.InputSchema), OutputSchema: sorted(t.OutputSchema),
	}
}

func (d Definition) equal(other Definition) bool {
	return d.Title == other.Title && d.Description == other.Description && d.Annotations == other.Annotations &&
		bytes.Equal(sorted(d.InputSchema), sorted(other.InputSchema)) && bytes.Equal(sorted(d.OutputSchema), sorted(other.OutputSchema))
}

// content is the whole file.
type content struct {
	Version int                              `json:"version"`
	Servers map[string]map[string]Definition `json:"servers"` // by server and tool
}

const version = 1

// Lock is one lock file. It is safe for concurrent use. Other processes may
// replace the file: it is read before every use, and they take turns to change it.
type Lock struct {
	path string
	seen string // path of the list of servers that were seen

	mu sync.Mutex
}

// Open opens the lock file at path, which may be missing, and says whether it can
// be read. seen is the file that lists the servers of earlier starts; it must not
// be in the same folder, where one removal would take both.
func Open(path, seen string) (*Lock, error) {
	l := &Lock{path: path, seen: seen}
	_, _, err := l.read()
	return l, err
}

// alone keeps other goroutines and processes from changing the file until release
// is called. It locks the folder, because the file is replaced, and because a file
// beside it would be seen by version control. Where folders cannot be
// locked, processes take no turns.
func (l *Lock) alone() (release func()) {
	l.mu.Lock()
	folder, err := os.Open(filepath.Dir(l.path))
	if err == nil {
		_ = lockFile(folder)
	}
	return func() {
		_ = folder.Close() // which unlocks it
		l.mu.Unlock()
	}
}

// Path is that of the lock file.
func (l *Lock) Path() string { return l.path }

func (l *Lock) read() (c content, seen []string, err error) {
	c = content{Version: version, Servers: map[string]map[string]Definition{}}
	if err := decode(l.path, &c); err != nil {
		return c, nil, err
	}
	if c.Version != version {
		return c, nil, fmt.Errorf("%s is of version %d, which this program does not know", l.path, c.Version)
	}
	if c.Servers == nil {
		c.Servers = map[string]map[string]Definition{}
	}
	return c, seen, decode(l.seen, &seen)
}

// decode decodes a file; one that is missing leaves the value as it is.
func decode(path string, into any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s is not valid: %w. Restore it, or remove it and accept each tool again", path, err)
	}
	return nil
}

// Check returns the tools whose definitions are accepted, and the others by name,
// each with the reason. The first list of a server is accepted. A server whose entry is
// used is noted as seen, also when another installation wrote the entry.
func (l *Lock) Check(server string, tools []result.ToolInfo) (accepted []result.ToolInfo, held map[string]string) {
	defer l.alone()()
	c, seen, err := l.read()
	if err == nil && !slices.Contains(seen, server) {
		if c.Servers[server] == nil {
			err = l.first(c, seen, server, tools)
		} else {
			err = l.note(seen, server)
		}
	}
	held = map[string]string{}
	for _, t := range tools {
		if reason := c.reason(server, t, err); reason != "" {
			held[t.Name] = reason
			continue
		}
		accepted = append(accepted, t)
	}
	return accepted, held
}

// Held lists the tools that Check would hold back. It writes nothing: a server
// that was never seen holds nothing back.
func (l *Lock) Held(server string, tools []result.ToolInfo) (held []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, seen, err := l.read()
	if err != nil || c.Servers[server] == nil && !slices.Contains(seen, server) {
		return nil, err
	}
	for _, t := range tools {
		if c.reason(server, t, nil) != "" {
			held = append(held, t.Name)
		}
	}
	return held, nil
}

// reason is why a tool is held back, or empty.
func (c content) reason(server string, t result.ToolInfo, err error) string {
	pinned, known := c.Servers[server][t.Name]
	switch {
	case err != nil:
		return err.Error()
	case c.Servers[server] == nil:
		return "its server was seen before, and the lock file has nothing of it"
	case !known:
		return "it is new"
	case !pinned.equal(Of(t)):
		return "its definition has changed: " + changedParts(pinned, Of(t))
	}
	return ""
}

// first pins the first list of a server.
func (l *Lock) first(c content, seen []string, server string, tools []result.ToolInfo) error {
	c.Servers[server] = map[string]Definition{}
	for _, t := range tools {
		c.Servers[server][t.Name] = Of(t)
	}
	err := errors.Join(replace(l.path, c, shared), l.note(seen, server))
	if err != nil {
		return fmt.Errorf("its definition cannot be pinned: %w", err)
	}
	return nil
}

// note notes that a server was seen. Without the note a lost lock file would be written
// anew, so a note that cannot be written holds its tools back.
func (l *Lock) note(seen []string, server string) error {
	if slices.Contains(seen, server) {
		return nil
	}
	seen = append(seen, server)
	slices.Sort(seen)
	if err := replace(l.seen, seen, private); err != nil {
		return fmt.Errorf("it cannot be noted that its server was connected: %w. Let the program's user write in the folder of %s", err, l.seen)
	}
	return nil
}

// Accept pins the definition of a tool as it is now.
func (l *Lock) Accept(server string, tools ...result.ToolInfo) error {
	defer l.alone()()
	c, seen, err := l.read()
	if err != nil {
		return err
	}
	if c.Servers[server] == nil {
		c.Servers[server] = map[string]Definition{}
	}
	for _, t := range tools {
		c.Servers[server][t.Name] = Of(t)
	}
	return errors.Join(replace(l.path, c, shared), l.note(seen, server))
}

// Diff shows what a definition would replace: lines that begin with "-" and "+".
// It is empty when nothing changes.
func (l *Lock) Diff(server string, t result.ToolInfo) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, _, err := l.read()
	if err != nil {
		return "", err
	}
	pinned, known := c.Servers[server][t.Name]
	if known && pinned.equal(Of(t)) {
		return "", nil
	}
	var before string
	if known {
		before = pretty(pinned)
	}
	return diff(before, pretty(Of(t))), nil
}

// The modes of the files: the lock file is checked in beside mcp.json, what was seen is
// the gateway's own.
const (
	shared  fs.FileMode = 0o644
	private fs.FileMode = 0o600
)

// replace writes a file whole or not at all.
func replace(path string, value any, mode fs.FileMode) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".mcp-lock-")
	if err != nil {
		return err
	}
	_, err = draft.Write(append(text, '\n'))
	err = errors.Join(err, draft.Chmod(mode), draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		_ = os.Remove(draft.Name())
	}
	return err
}
