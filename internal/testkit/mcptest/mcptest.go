// Package mcptest has MCP servers that others wrote, of pinned versions: three from
// npm and one from PyPI, fetched once for a checkout by the script install in this
// folder. Only tests import it. Start at [Servers].
package mcptest

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/cached"
)

// What is installed: the script and its pins.
var (
	//go:embed install
	script []byte
	//go:embed package.json
	npm []byte
	//go:embed package-lock.json
	npmLock []byte
	//go:embed requirements.txt
	pypi []byte
)

// Installed is where the servers are.
type Installed struct{ folder string }

// Servers returns the servers, and installs them first if they are not there. A
// test that cannot have them is skipped, or fails with CI=true.
func Servers(t testing.TB) Installed {
	t.Helper()
	for _, program := range []string{"node", "npm", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			testkit.Missing(t, program+", for MCP servers of npm and PyPI (nodejs, npm, python3-venv)")
		}
	}
	folder, err := cached.Keep("mcp-servers", "pins", pins(), install)
	if err != nil {
		testkit.Missing(t, fmt.Sprintf("the MCP servers of npm and PyPI: %v", err))
	}
	testkit.Ran("MCP servers of npm and PyPI")
	return Installed{folder}
}

func pins() []byte { return slices.Concat(script, npm, npmLock, pypi) }

func install(folder string) (err error) {
	for name, text := range map[string][]byte{"install": script, "package.json": npm, "package-lock.json": npmLock, "requirements.txt": pypi} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o755); err != nil {
			return err
		}
	}
	command := exec.Command("bash", filepath.Join(folder, "install"), folder)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return os.WriteFile(filepath.Join(folder, "pins"), pins(), 0o644)
}

// Node returns the command and first argument of an npm server: everything,
// filesystem or memory.
func (i Installed) Node(server string) (command, script string) {
	return "node", filepath.Join(i.folder, "node_modules", "@modelcontextprotocol", "server-"+server, "dist", "index.js")
}

// Python returns the command and arguments of the server that tells the time.
func (i Installed) Python() (command string, args []string) {
	return filepath.Join(i.folder, "python", "bin", "python"), []string{"-m", "mcp_server_time", "--local-timezone", "UTC"}
}
