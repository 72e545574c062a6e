package connected

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/mcplock"
	"countersign.dev/internal/supervise"
	"countersign.dev/internal/upstream"
	"countersign.dev/internal/upstream/foreign"
)

// Options of a set of connected servers. All are required.
type Options struct {
	File   string // path of the file
	Lock   string // path of mcp.lock.json
	Seen   string // path of the list of servers that this installation has seen
	Read   mcpfile.Options
	Log    *slog.Logger
	Getenv func(string) string // of this process: child processes get a few of its variables
}

// Set is the connected servers of one file.
type Set struct {
	o    Options
	lock *mcplock.Lock

	mu   sync.Mutex
	file *mcpfile.File
}

// Open reads the file and the lock. Nothing is started.
func Open(o Options) (*Set, error) {
	file, err := read(o)
	if err != nil {
		return nil, err
	}
	lock, err := mcplock.Open(o.Lock, o.Seen)
	if err != nil {
		return nil, err
	}
	return &Set{o: o, file: file, lock: lock}, nil
}

func read(o Options) (*mcpfile.File, error) {
	text, err := os.ReadFile(o.File)
	if err != nil {
		return nil, fmt.Errorf("the file of connected servers cannot be read: %w", err)
	}
	file, err := mcpfile.Read(text, o.Read)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid:\n  %w", o.File, err)
	}
	return file, nil
}

func (s *Set) current() *mcpfile.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

// Lock holds back tools whose definitions are not accepted.
func (s *Set) Lock() *mcplock.Lock { return s.lock }

// Servers are the servers as package upstream connects to them.
func (s *Set) Servers() []upstream.Server {
	var list []upstream.Server
	for _, one := range s.current().Servers {
		list = append(list, s.server(one))
	}
	return list
}

// Weakened lists the file's settings that weaken a check.
func (s *Set) Weakened() []string { return s.current().Weakened() }

// Warn logs what has no effect in the file, and the settings that weaken a check.
func (s *Set) Warn() {
	for _, warning := range s.current().Warnings {
		s.o.Log.Warn("a key of the file of connected servers has no effect", "file", s.o.File, "detail", warning)
	}
	for _, setting := range s.Weakened() {
		s.o.Log.Warn("a setting weakens a check", "setting", setting)
	}
}

func (s *Set) server(one mcpfile.Server) upstream.Server {
	return upstream.Server{
		Name: one.Name, Key: keyOf(one), Timeout: one.Rules.Timeout, WriteTimeout: one.Rules.Timeout, Rules: one.Rules, Transport: string(one.Transport),
		Foreign: func(changed func()) upstream.Adapter {
			return foreign.New(foreign.Options{Name: one.Name, Connection: s.connection(one), Changed: changed, Log: s.o.Log})
		},
	}
}

// keyOf changes when the server is reached in another manner.
func keyOf(one mcpfile.Server) string {
	one.Rules, one.Line = mcpfile.Rules{}, 0
	text, err := json.Marshal(one)
	if err != nil { // of texts only
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (s *Set) connection(one mcpfile.Server) foreign.Connection {
	if one.Transport == mcpfile.HTTP {
		return overHTTP(one)
	}
	env := environment(s.o.Getenv, one.Env)
	return foreign.Stdio{Command: supervise.Command{
		Path: find(one.Command, env), Args: one.Args, Dir: one.Dir, Env: env, Said: newChildLog(s.o.Log, one.Name, nil).line,
	}}
}
