package testkit_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

var (
	attackRow  = regexp.MustCompile(`^\| (\d+) \| .+ \| (.+) \| (.*)\|$`)
	attackTest = regexp.MustCompile("`(\\S+) ((?:Test|Fuzz|Benchmark)\\w+)`")
)

// TestAttacksNameTheirTests compares the table of docs/security.md with the
// tree: the attacks are numbered without a gap, each names tests that exist, or
// says to which missing part of the product it would apply.
func TestAttacksNameTheirTests(t *testing.T) {
	rows := 0
	for line := range strings.SplitSeq(read(t, "docs/security.md"), "\n") {
		row := attackRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		rows++
		if row[1] != strconv.Itoa(rows) {
			t.Errorf("attack %s is in the place of %d", row[1], rows)
		}
		tests := attackTest.FindAllStringSubmatch(row[3], -1)
		if len(tests) == 0 && !strings.HasPrefix(row[2], "Does not apply: ") {
			t.Errorf("attack %s names no test", row[1])
		}
		for _, test := range tests {
			if !declares(t, test[1], test[2]) {
				t.Errorf("attack %s names %s, which %s does not declare", row[1], test[2], test[1])
			}
		}
	}
	if rows != 35 {
		t.Errorf("the table has %d attacks, want 35", rows)
	}
}

// TestOperationsNameTheirTests proves that what docs/operations.md says is
// tested is tested.
func TestOperationsNameTheirTests(t *testing.T) {
	tests := attackTest.FindAllStringSubmatch(read(t, "docs/operations.md"), -1)
	for _, test := range tests {
		if !declares(t, test[1], test[2]) {
			t.Errorf("the page names %s, which %s does not declare", test[2], test[1])
		}
	}
	if len(tests) < 8 {
		t.Errorf("the page names %d tests", len(tests))
	}
}

var subtaskRow = regexp.MustCompile(`^\| (\d)\.(\d+) \| .+ \| (.+) \|$`)

// TestSubtasksNameTheirTests compares the table of docs/codesearch.md with the tree:
// document 004's subtasks are all there, in order, and the test of each exists.
func TestSubtasksNameTheirTests(t *testing.T) {
	var listed, want []string
	for line := range strings.SplitSeq(read(t, "docs/codesearch.md"), "\n") {
		row := subtaskRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		listed = append(listed, row[1]+"."+row[2])
		test := attackTest.FindStringSubmatch(row[3])
		if test == nil || !declares(t, test[1], test[2]) {
			t.Errorf("subtask %s.%s names no test that exists: %s", row[1], row[2], row[3])
		}
	}
	for task, n := range []int{5, 8, 6, 6, 7, 13, 6, 6} {
		for i := range n {
			want = append(want, fmt.Sprintf("%d.%d", task+1, i+1))
		}
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the table has the subtasks %v, not %v", listed, want)
	}
}

// TestEvalShowsWhatWasMeasured compares the table of docs/eval.md with the golden
// file of the test that measures it.
func TestEvalShowsWhatWasMeasured(t *testing.T) {
	table, _, _ := strings.Cut(read(t, "cmd/countersign/testdata/rehearsal.txt"), "\n\n")
	if !strings.Contains(read(t, "docs/eval.md"), "\n\n"+table+"\n\n") {
		t.Errorf("the page does not show the table that was measured (TestRehearsalAnswersAsItsGolden -update writes it):\n%s", table)
	}
}

// declares reports whether a room's tests declare the function.
func declares(t *testing.T, room, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, room, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+function+"(") {
			return true
		}
	}
	return false
}

// fuzzTarget is a fuzz target's declaration.
var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// TestFuzzTargetsOfCIExist: CI finds all targets by their declarations. Those
// that it runs at length exist, and have a corpus beside them.
func TestFuzzTargetsOfCIExist(t *testing.T) {
	targets := map[string]bool{}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range fuzzTarget.FindAllStringSubmatch(string(text), -1) {
			room := filepath.Dir(path)
			corpus, _ := os.ReadDir(filepath.Join(room, "testdata", "fuzz", found[1]))
			targets[strings.TrimPrefix(room, repository+"/internal/")+"/"+found[1]] = len(corpus) > 0
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(read(t, ".ci/run"), `at_length="`)
	list, _, _ = strings.Cut(list, `"`)
	if len(strings.Fields(list)) < 7 {
		t.Errorf("CI runs %d targets at length, want at least 7", len(strings.Fields(list)))
	}
	for _, target := range strings.Fields(list) {
		if corpus, exists := targets[target]; !exists || !corpus {
			t.Errorf("CI runs %s at length: it exists %v, and has a corpus in testdata/fuzz %v", target, exists, corpus)
		}
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
