package mcptest

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startNode lets the suite start on Node 20.
//
//go:embed hook.mjs
var startNode []byte

// Suite is the official conformance suite of MCP.
type Suite struct{ folder string }

// Conformance returns the suite, and installs it first if it is not there. A test
// that cannot have it is skipped, or fails with CI=true.
func Conformance(t testing.TB) Suite {
	t.Helper()
	return Suite{Servers(t).folder}
}

// suiteTimeout bounds one run; one takes about 5 s.
const suiteTimeout = 3 * time.Minute

// Run runs the suite with arguments of its command line and returns what it prints.
// The error says that a scored scenario failed.
func (s Suite) Run(t testing.TB, args ...string) (said string, err error) {
	t.Helper()
	hook := filepath.Join(t.TempDir(), "hook.mjs")
	if err := os.WriteFile(hook, startNode, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), suiteTimeout)
	defer cancel()
	main := filepath.Join(s.folder, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	printed, err := exec.CommandContext(ctx, "node", append([]string{"--import", hook, main}, args...)...).CombinedOutput()
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return string(printed), err
}
