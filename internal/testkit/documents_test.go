package testkit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The statements of the documents about limits and adding a tool are compared
// with the code.

const repository = "../.."

// shownTool is the file of a tool that CONTRIBUTING.md shows.
var shownTool = regexp.MustCompile("(?s)`(internal/domain/[^`]+\\.go)`:\n\n```go\n(package .*?)```")

func TestShownToolCompiles(t *testing.T) {
	shown := shownTool.FindStringSubmatch(read(t, "CONTRIBUTING.md"))
	if shown == nil {
		t.Fatal("no file of a tool is shown")
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file, overlay := filepath.Join(folder, "shown.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, shown[1]): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{file: []byte(shown[2]), overlay: replace} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./"+filepath.Dir(shown[1]))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%s does not compile: %v\n%s", shown[1], err, out)
	}
}

// limitSource is the last cell of a row of docs/limits.md: a file and its text.
var limitSource = regexp.MustCompile("`((?:internal|cmd)/[^`]+\\.(?:go|txt|sql))` `([^`]+)` \\|$")

func TestLimitsAreThoseOfTheCode(t *testing.T) {
	rows := 0
	for line := range strings.SplitSeq(read(t, "docs/limits.md"), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what |") {
			continue
		}
		source := limitSource.FindStringSubmatch(line)
		if source == nil {
			t.Errorf("no source: %s", line)
			continue
		}
		rows++
		if text := squeezed(read(t, source[1])); !strings.Contains(text, squeezed(source[2])) {
			t.Errorf("%s has no %q", source[1], source[2])
		}
	}
	if rows < 30 {
		t.Errorf("the page has %d limits", rows)
	}
}

// squeezed replaces runs of white space by one space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
