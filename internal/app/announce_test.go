package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/llm/discovery"
)

// The first line of a demo says which model answers, and why that one.
func TestDemoSaysWhichModelAnswersFirst(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"":                  "Answers come from rehearsal, a small deterministic planner and not an AI model, as was asked.",
		"ANTHROPIC_API_KEY": "Answers come from claude-sonnet-5-5, by ANTHROPIC_API_KEY.",
		"GEMINI_API_KEY":    "Answers come from gemini-2.5-flash, by GEMINI_API_KEY.",
	} {
		named := map[bool]string{true: "rehearsal"}[key == ""] // else none is named
		m, err := discovery.Find(t.Context(), named, func(name string) string { return map[bool]string{true: "secret-1234"}[name == key] })
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		d := demonstration{DemoOptions: DemoOptions{Out: &out}, model: m, ports: map[string]string{"gateway": "http://localhost:3100"}}
		if err := d.announce(); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != want {
			t.Errorf("the first line is %q, want %q", first, want)
		}
		if strings.Contains(out.String(), "secret-1234") {
			t.Error("the key is printed")
		}
	}
}

// A demo says that it indexes the folder that it was started in, which it does for a
// repository alone.
func TestDemoSaysThatItIndexes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	said := func() string {
		var out strings.Builder
		d := demonstration{DemoOptions: DemoOptions{Out: &out, Folder: folder}, ports: map[string]string{}}
		must(t, d.announce())
		return out.String()
	}
	if strings.Contains(said(), "indexed") {
		t.Error("a folder that is no repository")
	}
	must(t, os.Mkdir(filepath.Join(folder, ".git"), 0o700))
	if want := "The code in " + folder + " is being indexed: ask"; !strings.Contains(said(), want) {
		t.Errorf("it does not say %q", want)
	}
}
